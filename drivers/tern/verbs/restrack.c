// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Driver details of `rdma resource show -dd`. Most values are read without their
 * locks: each is right by itself, but they may not fit together. The core of
 * 6.12 destroys a QP, CQ or SRQ before it waits for its readers, so their rings
 * are read under the lock.
 *
 * Every user may ask, so no value is an address, of a program or of the kernel.
 */
#include "restrack.h"

#include <linux/string_choices.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "mem/umem.h"
#include "queue/cq.h"
#include "queue/srq.h"
#include "stream/state.h"
#include "mr.h"
#include "qp.h"

/**
 * struct detail - one line of the details
 * @name: what users see
 * @value: a number, unless there is @text
 * @text: a word, or NULL
 */
struct detail {
	const char *name;
	u64 value;
	const char *text;
};

static int put_one(struct sk_buff *msg, const struct detail *d)
{
	if (d->text)
		return rdma_nl_put_driver_string(msg, d->name, d->text);
	return rdma_nl_put_driver_u64(msg, d->name, d->value);
}

static int put_details(struct sk_buff *msg, const struct detail *d, size_t n)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	for (; n; n--, d++) {
		if (put_one(msg, d)) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

static u32 level_of(struct tern_recvq *rq)
{
	unsigned long flags;
	u32 level;

	spin_lock_irqsave(&rq->lock, flags);
	level = tern_recvq_level(rq);
	spin_unlock_irqrestore(&rq->lock, flags);
	return level;
}

int tern_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct tern_stream *s = tern_stream_of(ibqp);
	enum tern_qp_state state = READ_ONCE(s->state);
	struct tern_mpa_params params = tern_stream_params(s);
	const struct detail details[] = {
		{ "stream", .text = tern_qp_state_name(state) },
		{ "sq_size", s->sq.max_wr },
		/* of a moment */
		{ "sq_open", data_race(s->sq.head - s->sq.tail) },
		{ "rq_size", s->rq.own.max_wr },
		{ "rq_level", s->rq.srq ? 0 : level_of(&s->rq.own) },
		{ "ddp_version", params.version },
		{ "mpa_crc", .text = str_on_off(params.crc) },
		{ "tx_markers", .text = str_on_off(params.tx_markers) },
		{ "rx_markers", .text = str_on_off(params.rx_markers) },
		{ "ord", params.ord },
		{ "ird", params.ird },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

/* under the lock, since the ring may be replaced or destroyed */
static u32 cq_words(struct tern_cq *cq, u32 *armed, u32 *size)
{
	const struct tern_ring_hdr *hdr;
	unsigned long flags;
	u32 level = 0;

	spin_lock_irqsave(&cq->lock, flags);
	hdr = cq->q.hdr;
	*armed = hdr ? READ_ONCE(hdr->flags) : 0;
	*size = cq->q.size;
	if (hdr)
		level = min(cq->prod - READ_ONCE(hdr->cons), cq->q.size);
	spin_unlock_irqrestore(&cq->lock, flags);
	return level;
}

int tern_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct tern_cq *cq = to_tern_cq(ibcq);
	u32 armed, size, level = cq_words(cq, &armed, &size);
	const struct detail details[] = {
		{ "cqn_trace", cq->cqn },
		{ "size", size },
		{ "level", level },
		{ "armed", armed },
		/* of a moment */
		{ "overflow", data_race(cq->overflow) },
		{ "hold_count", READ_ONCE(cq->hold_count) },
		{ "hold_us", READ_ONCE(cq->hold_us) },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

int tern_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct tern_mr *mr = to_tern_mr(ibmr);
	const struct tern_mem *mem = &mr->mem;
	const struct detail details[] = {
		{ "kind", .text = mem->kind == TERN_MEM_DMA ? "dma" :
				  mem->kind == TERN_MEM_FAST ? "fast" :
				  mr->umem->buf ? "dma-buf" :
						  "user" },
		{ "valid", READ_ONCE(mem->map.valid) },
		/* each of its own moment */
		{ "access", data_race(mem->map.access) },
		/* likewise */
		{ "windows", data_race(mem->windows) },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}

int tern_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct tern_srq *srq = to_tern_srq(ibsrq);
	const struct detail details[] = {
		{ "size", srq->rq.max_wr },
		{ "level", level_of(&srq->rq) },
		{ "limit", READ_ONCE(srq->limit) },
	};

	return put_details(msg, details, ARRAY_SIZE(details));
}
