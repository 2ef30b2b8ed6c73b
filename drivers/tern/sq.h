/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The send queue ring: fetching entries, and kernel users' posts. */
#ifndef TERN_SQ_H
#define TERN_SQ_H

#include <linux/types.h>

struct ib_send_wr;
struct tern_qp;
struct tern_wqe;

/**
 * tern_sq_fetch() - copy the next entry out of the ring, once, and judge it
 * @qp: queue pair
 * @wqe: private copy
 *
 * The entry stays at sq.head until tern_sq_started(). Context: the stream lock
 * is ours. Return: 0; -ENOENT when there is none; -EINVAL when it is malformed
 * (@wqe->wr_id, @opcode and @index are valid); -EOVERFLOW when the program's
 * index is out of range.
 */
int tern_sq_fetch(struct tern_qp *qp, struct tern_wqe *wqe);

/* is there an entry that was not started? -EOVERFLOW as above */
int tern_sq_pending(const struct tern_qp *qp);

/**
 * tern_sq_post() - kernel users' post_send, up to the doorbell
 *
 * Context: any, interrupts on or off. Return: 0; -ENOMEM when full, -EINVAL or
 * -EOPNOTSUPP for a bad request, with *@bad_wr set; earlier ones stay posted.
 */
int tern_sq_post(struct tern_qp *qp, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad_wr);

#endif /* TERN_SQ_H */
