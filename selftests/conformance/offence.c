// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Bring a device to a Terminate by a row of a table, and check it: see offence.h. */
#include <stdio.h>
#include <string.h>

#include "offence.h"

#define SINK_TO		0x123456789abcull
#define SRC_TO		0x1000

struct session offence_session;
uint8_t offence_data[RECV_LEN + 1];

uint32_t offence_good_send(struct peer *p, uint8_t *out)
{
	return seg_send(p, OP_SEND, 0, 0, offence_data, 4, true, out);
}

uint32_t offence_write(struct peer *p, const struct agent_mr *mr, int64_t at,
		       uint8_t *out)
{
	return seg_write(p, mr->rkey, mr->va + at, offence_data, 8, true, out);
}

uint32_t offence_good_write(struct peer *p, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lw");

	return offence_write(p, &mr, 0, out);
}

uint32_t offence_good_read(struct peer *p, uint8_t *out)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lr");

	return seg_read_req(p, WILD_STAG, SINK_TO, 8, mr.rkey, mr.va, out);
}

struct open_read offence_open_read(struct peer *p)
{
	struct agent_mr mr = agent_mr(MR_LEN, "lw");

	agent_post(offence_session.conn, 2, AG_READ, AG_SIGNALED, &mr, 0, 32, WILD_STAG,
		   SRC_TO);
	return must_get_read_request(p);
}

/* start a session and commit the offence; Return: bytes of the offending segment at
 * @out */
static uint32_t offend(const struct offence *o, uint8_t *out)
{
	struct agent_mr mr;
	uint32_t len;

	pattern(offence_data, sizeof(offence_data), 3);
	offence_session = session_default();
	mr = agent_mr(RECV_LEN, "l");
	agent_recv(offence_session.conn, 1, &mr, 0, RECV_LEN);
	len = o->commit(offence_session.p, o->arg, out);
	if (o->triplet != LOCAL_ERROR)
		peer_send_fpdu(offence_session.p, out, len);
	return len;
}

static void offend_and_end(const struct offence *o)
{
	uint8_t ulpdu[MR_LEN];
	uint32_t len = offend(o, ulpdu);

	must_get_terminate_for(offence_session.p, o->triplet, o->alt,
			       o->triplet == LOCAL_ERROR ? NULL : ulpdu, len);
	must_close_silently(offence_session.p);
}

void offence_terminates(const struct offence *table)
{
	offend_and_end(ROW_OF_TEST(table));
}

void offence_counted(const struct offence *table, const struct offence_counter *codes)
{
	const struct offence *o;
	char name[64];
	uint64_t was;

	for (; codes->name; codes++) {
		snprintf(name, sizeof(name), "term_sent_%s", codes->name);
		was = agent_counter(name);
		for (o = table; o->triplet != codes->triplet; o++)
			;
		offend_and_end(o);
		must_eq(agent_counter(name), was + 1, "%s", name);
		agent_reset();
	}
}
