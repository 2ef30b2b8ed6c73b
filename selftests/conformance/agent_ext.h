/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Work requests of RFC 7306 and RDMAP version 2. Verbs have immediate data of 4 bytes
 * and atomics without masks; 8 bytes and masks need tern's library (terndv.h), which is
 * loaded at run time if it is there and the device is tern's.
 */
#ifndef AGENT_EXT_H
#define AGENT_EXT_H

#include "agent_call.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define EXT_IMM_LEN	8

int cmd_post_imm(struct call *c);
int cmd_atomic(struct call *c);

/**
 * struct ext_wc - a completion
 * @wc: as verbs have it
 * @invalidated: with IBV_WC_WITH_INV; a struct ibv_wc has no room for it beside an
 *	immediate
 * @imm: with IBV_WC_WITH_IMM
 * @imm_len: bytes of @imm that are known: 0, 4 or 8
 */
struct ext_wc {
	struct ibv_wc wc;
	uint32_t invalidated;
	uint8_t imm[EXT_IMM_LEN];
	size_t imm_len;
};

/* take a completion; Return: 1, 0 when there is none, or below 0 */
int ext_poll(struct ext_wc *wc);

/* a CQ that ext_poll() reads with tern's library; NULL without the library */
struct ibv_cq_ex *ext_create_cq(int depth);
/* rdma_create_qp(), with the library for a QP that its calls can use */
int ext_create_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr *attr);

#endif /* AGENT_EXT_H */
