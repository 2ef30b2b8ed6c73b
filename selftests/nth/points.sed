# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Applied to a copy of drivers/tern: each call that the environment may refuse becomes a
# point, which points.h describes.
/^ \*/b
/^#define/b
s/\b(kzalloc_obj|kmalloc|kmemdup|kvcalloc|kvmalloc_array|__vmalloc|alloc_pages?|alloc_percpu|alloc_workqueue)\(/NTH_\1(/g
s/\b(ib_alloc_device_with_net|ib_register_device|ib_register_client|ib_device_set_netdev|rdma_alloc_hw_stats_struct)\(/NTH_\1(/g
s/\b(ib_umem_get_va|rdma_user_mmap_entry_insert|ib_copy_to_udata|vm_insert_page)\(/NTH_\1(/g
s/\b(uverbs_copy_(from|to_struct)_or_zero)\(/NTH_\1(/g
s/\b(xa_alloc|xa_alloc_cyclic|xa_insert|xa_store|rhashtable_init|rhashtable_lookup_insert_fast)\(/NTH_\1(/g
s/\b(sock_create_kern|kernel_(bind|listen|accept|connect|sendmsg|getsockname|getpeername))\(/NTH_\1(/g
s/\b(tcp_sendmsg_locked|ip_setsockopt|sock_bindtoindex|shrinker_alloc)\(/NTH_\1(/g
s/\b(genlmsg_(new|put|reply|multicast_netns))\(/NTH_\1(/g
s/\b(register_(pernet_subsys|netdevice_notifier)|genl_register_family)\(/NTH_\1(/g
s/\b(dma_buf_attach|dma_buf_vmap_unlocked|dma_buf_begin_cpu_access)\(/NTH_\1(/g
# those with private data, which iw_cm copies; others have a work item that waits for them
s/(rc = )(id->event_handler)\(/\1NTH_upcall(\2, /
s/(if \()(cep->id->event_handler)\(/\1NTH_upcall(\2, /
