/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Included before each file of a tern whose calls points.sed changed: a call to f() is one
 * to NTH_f(), which asks tern_nth.ko whether to refuse it.
 */
#ifndef NTH_POINTS_H
#define NTH_POINTS_H

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/types.h>

/**
 * tern_nth - a call is about to be made
 * @id: of the point, its own; 0 at first
 * @file: path of its source
 * @line: line in there
 * @what: name of the function that is called
 *
 * Context: any. Return: whether the call must fail instead.
 */
bool tern_nth(int *id, const char *file, int line, const char *what);

/*
 * For calls.sh: no point makes its call, and the compiler does not know what came of it. What
 * such a module still imports is called beside the points.
 */
#ifdef NTH_NO_CALLS
#define NTH(what, failure, call) ({					\
	typeof(call) nth_unknown;					\
									\
	asm volatile("" : "=r" (nth_unknown));				\
	nth_unknown;							\
})
#else
#define NTH(what, failure, call) ({					\
	static int nth_id;						\
									\
	tern_nth(&nth_id, __FILE__, __LINE__, what) ?			\
		(typeof(call))(failure) : (call);			\
})
#endif

#define NTH_NULL(f, ...)	NTH(#f, 0, f(__VA_ARGS__))
#define NTH_PTR(f, ...)		NTH(#f, ERR_PTR(-ENOMEM), f(__VA_ARGS__))
#define NTH_INT(f, err, ...)	NTH(#f, err, f(__VA_ARGS__))

#define NTH_kzalloc_obj(...)		NTH_NULL(kzalloc_obj, __VA_ARGS__)
#define NTH_kmalloc(...)		NTH_NULL(kmalloc, __VA_ARGS__)
#define NTH_kmemdup(...)		NTH_NULL(kmemdup, __VA_ARGS__)
#define NTH_kvcalloc(...)		NTH_NULL(kvcalloc, __VA_ARGS__)
#define NTH_kvmalloc_array(...)		NTH_NULL(kvmalloc_array, __VA_ARGS__)
#define NTH___vmalloc(...)		NTH_NULL(__vmalloc, __VA_ARGS__)
#define NTH_alloc_page(...)		NTH_NULL(alloc_page, __VA_ARGS__)
#define NTH_alloc_pages(...)		NTH_NULL(alloc_pages, __VA_ARGS__)
#define NTH_alloc_percpu(...)		NTH_NULL(alloc_percpu, __VA_ARGS__)
#define NTH_alloc_workqueue(...)	NTH_NULL(alloc_workqueue, __VA_ARGS__)
#define NTH_ib_alloc_device_with_net(...) NTH_NULL(ib_alloc_device_with_net, __VA_ARGS__)
#define NTH_rdma_alloc_hw_stats_struct(...) NTH_NULL(rdma_alloc_hw_stats_struct, __VA_ARGS__)
#define NTH_genlmsg_new(...)		NTH_NULL(genlmsg_new, __VA_ARGS__)
#define NTH_genlmsg_put(...)		NTH_NULL(genlmsg_put, __VA_ARGS__)
#define NTH_shrinker_alloc(...)		NTH_NULL(shrinker_alloc, __VA_ARGS__)

#define NTH_ib_umem_get_va(...)		NTH_PTR(ib_umem_get_va, __VA_ARGS__)
#define NTH_dma_buf_attach(...)		NTH_PTR(dma_buf_attach, __VA_ARGS__)
#define NTH_xa_store(...)		NTH("xa_store", XA_ERROR(-ENOMEM), xa_store(__VA_ARGS__))

#define NTH_ib_register_device(...)	NTH_INT(ib_register_device, -ENOMEM, __VA_ARGS__)
#define NTH_ib_device_set_netdev(...)	NTH_INT(ib_device_set_netdev, -ENOMEM, __VA_ARGS__)
#define NTH_ib_register_client(...)	NTH_INT(ib_register_client, -ENOMEM, __VA_ARGS__)
#define NTH_rdma_user_mmap_entry_insert(...) \
	NTH_INT(rdma_user_mmap_entry_insert, -ENOMEM, __VA_ARGS__)
#define NTH_ib_copy_to_udata(...)	NTH_INT(ib_copy_to_udata, -EFAULT, __VA_ARGS__)
#define NTH_uverbs_copy_from_or_zero(...) \
	NTH_INT(uverbs_copy_from_or_zero, -EFAULT, __VA_ARGS__)
#define NTH_uverbs_copy_to_struct_or_zero(...) \
	NTH_INT(uverbs_copy_to_struct_or_zero, -EFAULT, __VA_ARGS__)
#define NTH_vm_insert_page(...)		NTH_INT(vm_insert_page, -ENOMEM, __VA_ARGS__)
#define NTH_xa_alloc(...)		NTH_INT(xa_alloc, -ENOMEM, __VA_ARGS__)
#define NTH_xa_alloc_cyclic(...)	NTH_INT(xa_alloc_cyclic, -ENOMEM, __VA_ARGS__)
#define NTH_xa_insert(...)		NTH_INT(xa_insert, -ENOMEM, __VA_ARGS__)
#define NTH_rhashtable_init(...)	NTH_INT(rhashtable_init, -ENOMEM, __VA_ARGS__)
#define NTH_rhashtable_lookup_insert_fast(...) \
	NTH_INT(rhashtable_lookup_insert_fast, -ENOMEM, __VA_ARGS__)
#define NTH_sock_create_kern(...)	NTH_INT(sock_create_kern, -ENOBUFS, __VA_ARGS__)
#define NTH_kernel_bind(...)		NTH_INT(kernel_bind, -ENOBUFS, __VA_ARGS__)
#define NTH_kernel_listen(...)		NTH_INT(kernel_listen, -ENOMEM, __VA_ARGS__)
#define NTH_kernel_accept(...)		NTH_INT(kernel_accept, -ENFILE, __VA_ARGS__)
#define NTH_kernel_connect(...)		NTH_INT(kernel_connect, -ENOBUFS, __VA_ARGS__)
#define NTH_kernel_sendmsg(...)		NTH_INT(kernel_sendmsg, -EAGAIN, __VA_ARGS__)
#define NTH_kernel_getsockname(...)	NTH_INT(kernel_getsockname, -ENOTCONN, __VA_ARGS__)
#define NTH_kernel_getpeername(...)	NTH_INT(kernel_getpeername, -ENOTCONN, __VA_ARGS__)
#define NTH_tcp_sendmsg_locked(...)	NTH_INT(tcp_sendmsg_locked, -EAGAIN, __VA_ARGS__)
#define NTH_ip_setsockopt(...)		NTH_INT(ip_setsockopt, -ENOMEM, __VA_ARGS__)
#define NTH_sock_bindtoindex(...)	NTH_INT(sock_bindtoindex, -ENODEV, __VA_ARGS__)
#define NTH_register_pernet_subsys(...)	NTH_INT(register_pernet_subsys, -ENOMEM, __VA_ARGS__)
#define NTH_register_netdevice_notifier(...) \
	NTH_INT(register_netdevice_notifier, -ENOMEM, __VA_ARGS__)
#define NTH_genl_register_family(...)	NTH_INT(genl_register_family, -ENOMEM, __VA_ARGS__)
#define NTH_dma_buf_vmap_unlocked(...)	NTH_INT(dma_buf_vmap_unlocked, -ENOMEM, __VA_ARGS__)
#define NTH_dma_buf_begin_cpu_access(...) \
	NTH_INT(dma_buf_begin_cpu_access, -ENOMEM, __VA_ARGS__)

/* These free the message, whether they send it or not. */
#define NTH_genlmsg_reply(skb, info)					\
	NTH("genlmsg_reply", (kfree_skb(skb), -ENOBUFS), genlmsg_reply(skb, info))
#define NTH_genlmsg_multicast_netns(family, net, skb, ...)		\
	NTH("genlmsg_multicast_netns", (kfree_skb(skb), -ENOBUFS),	\
	    genlmsg_multicast_netns(family, net, skb, __VA_ARGS__))

/* iw_cm copies private data: without memory for it, it refuses the event. */
#define NTH_upcall(f, ...)		NTH("upcall", -ENOMEM, (f)(__VA_ARGS__))

#endif
