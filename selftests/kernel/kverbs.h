/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * tern_kverbs: tests of the verbs that only kernel users have, on two connected QPs.
 *
 * Each case has a pair of its own, connected through rdma_cm: end a, the client, and
 * end b, the server. main.c creates and destroys it. Nothing here depends on tern: the
 * tests run on any iWARP device.
 */
#ifndef KVERBS_H
#define KVERBS_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define KV_MAX_SGE	16
#define KV_EVENTS	32

/*
 * enum kv_poll - how an end polls its CQs
 * @KV_SOFTIRQ, @KV_DIRECT, @KV_WORKQUEUE, @KV_UNBOUND: ib_alloc_cq()
 * @KV_RAW: ib_create_cq(): the case itself arms and polls
 * @KV_POOL: ib_cq_pool_get()
 */
enum kv_poll {
	KV_SOFTIRQ,
	KV_DIRECT,
	KV_WORKQUEUE,
	KV_UNBOUND,
	KV_RAW,
	KV_POOL,
};

/*
 * struct kv_opts - options of a case's pair; zero means the default
 * @poll: both ends' CQs
 * @srq: end b receives from a shared receive queue
 * @srq_pd: that queue is of a PD of its own
 * @sig_all: each send is signalled
 * @bystander: create a second pair, which has to work after the case
 * @same_pd: the second pair's ends share the PDs of the first pair
 * @depth: entries of each queue, 128
 * @cqe: entries of each CQ, twice @depth and some
 * @ord: Reads in flight, 16
 * @rw: contexts of the rdma_rw API, 0
 */
struct kv_opts {
	enum kv_poll poll;
	bool srq;
	bool srq_pd;
	bool sig_all;
	bool bystander;
	bool same_pd;
	u32 depth;
	u32 cqe;
	u32 ord;
	u32 rw;
};

struct kv_pair;
struct kv_test;

/*
 * struct kv_end - one end of a pair
 * @cm: completed when a connection event arrived: @cm_event, @cm_status
 * @srq_pd: the PD of @srq, if it is another
 * @gone: DISCONNECTED or DEVICE_REMOVAL arrived
 * @removed: DEVICE_REMOVAL arrived
 * @comp_events: KV_RAW: calls of the receive CQ's handler
 * @events: async events by number, of QP, SRQ and CQs
 */
struct kv_end {
	struct kv_pair *pair;
	const char *name;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_pd *srq_pd;
	struct ib_cq *scq;
	struct ib_cq *rcq;
	struct ib_qp *qp;
	struct ib_srq *srq;
	struct completion cm;
	int cm_event;
	int cm_status;
	struct completion gone;
	struct completion removed;
	atomic_t comp_events;
	atomic_t events[KV_EVENTS];
};

struct kv_pair {
	struct kv_test *t;
	const struct kv_opts *opts;
	struct kv_end l;
	struct kv_end a;
	struct kv_end b;
	bool open;
};

/*
 * struct kv_op - a work request and its completion
 * @done: the completion was polled
 * @wc: the completion
 * @order: its place in the order of all completions of the test
 * @hits: number of completions: more than one is an error
 */
struct kv_op {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
	int order;
	atomic_t hits;
	struct kv_test *t;
	void (*then)(struct kv_op *op);
	void *arg;
};

/*
 * struct kv_mem - contiguous buffer, mapped for a device
 */
struct kv_mem {
	struct list_head list;
	struct ib_device *dev;
	void *va;
	u64 dma;
	size_t size;
};

/*
 * struct kv_mr - fast-registration MR over scattered pages
 * @off: where the payload begins in the first page
 * @len: bytes of payload
 */
struct kv_mr {
	struct list_head list;
	struct ib_device *dev;
	struct ib_mr *mr;
	struct scatterlist *sg;
	u32 pages;
	u32 mapped;
	u32 off;
	u32 len;
};

struct kv_test {
	const char *name;
	struct kv_pair pair;
	struct kv_pair by;
	struct list_head mems;
	struct list_head mrs;
	struct list_head ops;
	atomic_t order;
};

struct kv_case {
	const char *name;
	int (*run)(struct kv_test *t);
	struct kv_opts opts;
};

extern const struct kv_case kv_send_cases[];
extern const struct kv_case kv_rdma_cases[];
extern const struct kv_case kv_reg_cases[];
extern const struct kv_case kv_poll_cases[];
extern const struct kv_case kv_cq_cases[];
extern const struct kv_case kv_post_cases[];
extern const struct kv_case kv_drain_cases[];
extern const struct kv_case kv_srq_cases[];
extern const struct kv_case kv_fault_cases[];
extern const struct kv_case kv_window_cases[];
extern const struct kv_case kv_inside_cases[];
extern const struct kv_case kv_abort_cases[];
extern const struct kv_case kv_ulp_cases[];
extern const struct kv_case kv_extension_cases[];
/* cases that wait for the removal of a device */
extern const struct kv_case kv_hold_cases[];

/* main.c: why a case fails, where a program says must(); returns @ret */
__printf(2, 3) int kv_fail(int ret, const char *fmt, ...);
unsigned long kv_timeout(void);
/* wait until kverbs.sh writes to go; Return: 0 or -ETIMEDOUT */
int kv_wait_go(void);
struct net *kv_net(const struct kv_end *e);
const struct sockaddr_storage *kv_addr(const struct kv_end *e);

/* pair.c */
int kv_pair_open(struct kv_test *t, struct kv_pair *p,
		 const struct kv_opts *opts);
void kv_pair_disconnect(struct kv_pair *p);
/* destroy QPs and CQs; kv_pair_close() frees the rest */
void kv_pair_destroy(struct kv_pair *p);
void kv_pair_close(struct kv_pair *p);
/* the same for one end */
void kv_end_destroy(struct kv_end *e);
void kv_end_close(struct kv_end *e);
int kv_wait_event(struct kv_end *e, enum ib_event_type event);
int kv_wait_gone(struct kv_end *e);
int kv_qp_state(struct kv_end *e);
/* post receives until the queue refuses one, and consume all by messages from @peer */
int kv_fill_recvs(struct kv_end *e, struct kv_end *peer);
/* one message each way, verified */
int kv_pair_works(struct kv_pair *p);

/* window_cases.c: the connection below an end's QP, with a reference */
struct sock *kv_sock(const struct kv_end *e);
/* wait until TCP has a segment for @sk, whose lock we hold */
int kv_wait_backlog(struct sock *sk);

/* mem.c; everything is freed at the end of the test */
struct kv_mem *kv_mem(struct kv_end *e, size_t size);
struct kv_mr *kv_mr(struct kv_end *e, u32 off, u32 len, u32 max_pages);
/* free those of a device; NULL: of all devices */
void kv_mem_release(struct kv_test *t, const struct ib_device *dev);
void kv_mr_release(struct kv_test *t, const struct ib_device *dev);
void kv_fill(void *p, size_t len, u32 seed, size_t at);
int kv_check(const void *p, size_t len, u32 seed, size_t at);
int kv_check_zero(const void *p, size_t len);
void kv_mr_fill(struct kv_mr *m, u32 seed);
int kv_mr_check(struct kv_mr *m, u32 seed);
struct ib_sge kv_sge(struct kv_mem *m, size_t off, u32 len);

/* op.c */
struct kv_op *kv_ops(struct kv_test *t, u32 n);
void kv_op_release(struct kv_test *t);
void kv_op_init(struct kv_op *op, struct kv_test *t);
int kv_post_send(struct kv_end *e, struct kv_op *op, enum ib_wr_opcode opcode,
		 int flags, struct ib_sge *sge, int n, u32 inv);
int kv_post_rdma(struct kv_end *e, struct kv_op *op, enum ib_wr_opcode opcode,
		 int flags, struct ib_sge *sge, int n, u64 addr, u32 rkey);
int kv_post_reg(struct kv_end *e, struct kv_op *op, int flags, struct kv_mr *m,
		u32 key, int access);
int kv_post_inv(struct kv_end *e, struct kv_op *op, int flags, u32 key);
int kv_post_recv(struct kv_end *e, struct kv_op *op, struct ib_sge *sge, int n);
int kv_wait(struct kv_end *e, struct kv_op *op);
/* wait for the completion, which must have this status */
int kv_want(struct kv_end *e, struct kv_op *op, enum ib_wc_status status);
int kv_ok(struct kv_end *e, struct kv_op *op);
/* post REG_MR with a new key, and wait for its completion */
int kv_reg(struct kv_end *e, struct kv_mr *m, int access);
int kv_poll_raw(struct ib_cq *cq);

#endif /* KVERBS_H */
