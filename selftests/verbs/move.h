/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Moves of bytes between the buffers of a and b, and a model of both: after each batch of
 * moves every byte of both buffers is compared with the model, so one that went astray is
 * found as well as one that did not arrive.
 */
#ifndef VERBS_MOVE_H
#define VERBS_MOVE_H

#include "pair.h"

#define MOVE_LIST	16	/* elements of a list */
#define MOVE_BATCH	32	/* moves between two comparisons, at most */

struct piece {
	uint32_t off;		/* in the buffer */
	uint32_t len;
};

/**
 * struct move - one Send, Write or Read, which a posts
 * @op: which of them
 * @from: what is read: of b's buffer by a Read, else of a's; one piece by a Read
 * @to: where it goes: in a's buffer by a Read, else in b's; one piece by a Write. A Send
 *	may be shorter than these
 * @froms: pieces in @from
 * @tos: pieces in @to
 */
struct move {
	enum ibv_wr_opcode op;
	struct piece from[MOVE_LIST];
	struct piece to[MOVE_LIST];
	int froms;
	int tos;
};

/*
 * Connect a and b, with buffers of @len bytes. The first @source bytes of both are what
 * moves read, all different; the moves write after them.
 */
void moves_up(size_t len, size_t source);
void moves_down(void);

/* post @move and do it in the model; moves_check() after MOVE_BATCH of them */
void move_post(const struct move *move);

/* wait for the moves that were posted, and compare; else the test ends */
void moves_check(void);

#endif /* VERBS_MOVE_H */
