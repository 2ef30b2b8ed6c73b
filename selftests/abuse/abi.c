// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The ABI that programs reach tern by: uverbs, rdma_cm, tern's netlink family, rings and
 * doorbell. A new command, method or attribute is a row here. Fields that no row names
 * are zero in a good call, and anything in a bad one.
 */
#include "abi.h"

#include <linux/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "tern-abi.h"
#include "tern-nl.h"

#define AT(s, field)	offsetof(struct s, field), sizeof(((struct s *)0)->field)
#define OF(s, field, thing)	{ AT(s, field), HANDLE, thing, 0 }
#define NUM(s, field, most)	{ AT(s, field), NUMBER, 0, most }
#define BITS(s, field, bits)	{ AT(s, field), FLAGS, 0, bits }
#define IS(s, field, value)	{ AT(s, field), FIXED, 0, value }
#define MEM(s, field)		{ AT(s, field), MEMORY, 0, 0 }
/* the same address again, as iova */
#define MEM_AND(s, field, also)	{ AT(s, field), MEMORY, 0, offsetof(struct s, also) }
#define TO(s, field)		{ AT(s, field), ADDRESS, 0, 0 }

/* a uverbs command whose answer's address comes first, or that has none */
#define ANSWERED(cmd, weight, s, makes, ...) \
	{ #cmd, WRITE, weight, IB_USER_VERBS_CMD_##cmd, sizeof(struct s), 0, 0, makes, \
	  { __VA_ARGS__ } }
#define SILENT(cmd, weight, s, ...) \
	{ #cmd, WRITE, weight, IB_USER_VERBS_CMD_##cmd, sizeof(struct s), NOWHERE, 0, 0, \
	  { __VA_ARGS__ } }
#define EXTENDED(cmd, weight, s, makes, ...) \
	{ "EX_" #cmd, WRITE_EX, weight, IB_USER_VERBS_EX_CMD_##cmd, sizeof(struct s), 0, 0, \
	  makes, { __VA_ARGS__ } }
#define WITH_TAIL(cmd, weight, s, bytes, ...) \
	{ #cmd, WRITE, weight, IB_USER_VERBS_CMD_##cmd, sizeof(struct s), 0, bytes, 0, \
	  { __VA_ARGS__ } }

#define METHOD(name, weight, object, method, ...) \
	{ name, IOCTL, weight, (object) << 16 | (method), 0, NOWHERE, 0, 0, { __VA_ARGS__ } }
#define DROP(name, object, method, attr, thing) \
	METHOD(name, 2, object, method, { attr, 0, HANDLE, thing, 0 })
#define DROP_AND(name, object, method, attr, thing, out, len) \
	METHOD(name, 2, object, method, { attr, 0, HANDLE, thing, 0 }, { out, len, OUTPUT, 0, 0 })

#define CM_ASKS(cmd, weight, s, makes, ...) \
	{ "CM_" #cmd, CM, weight, RDMA_USER_CM_CMD_##cmd, sizeof(struct s), \
	  offsetof(struct s, response), 0, makes, { __VA_ARGS__ } }
#define CM_TELLS(cmd, weight, s, ...) \
	{ "CM_" #cmd, CM, weight, RDMA_USER_CM_CMD_##cmd, sizeof(struct s), NOWHERE, 0, 0, \
	  { __VA_ARGS__ } }
#define LINK(cmd, weight, ...) \
	{ "NL_" #cmd, NETLINK, weight, TERN_CMD_##cmd, 0, NOWHERE, 0, 0, { __VA_ARGS__ } }
#define DOES(what, weight) \
	{ #what, OTHER, weight, what, 0, NOWHERE, 0, 0, {} }

#define ACCESS		0x1f		/* local write .. bind */
#define MOST_WR		64
#define QP_FIELDS(s) \
	OF(s, pd_handle, PD), OF(s, send_cq_handle, CQ), OF(s, recv_cq_handle, CQ), \
	NUM(s, max_send_wr, MOST_WR), NUM(s, max_recv_wr, MOST_WR), NUM(s, max_send_sge, 4), \
	NUM(s, max_recv_sge, 4), NUM(s, max_inline_data, 64), IS(s, qp_type, 2)
/* struct ib_uverbs_ex_modify_qp begins with this one */
#define MODIFY_FIELDS(s) \
	OF(s, qp_handle, QP), BITS(s, attr_mask, 9), NUM(s, qp_state, 6), IS(s, port_num, 1), \
	BITS(s, qp_access_flags, ACCESS)
#define SRQ_FIELDS(s) \
	OF(s, pd_handle, PD), NUM(s, max_wr, MOST_WR), NUM(s, max_sge, 4)
#define PARAM(s) \
	IS(s, conn_param.valid, 1), OF(s, conn_param.qp_num, QPN), \
	NUM(s, conn_param.private_data_len, 200), NUM(s, conn_param.responder_resources, 16), \
	NUM(s, conn_param.initiator_depth, 16)

#define MS		3000

const struct op ops[] = {
	/* ---- uverbs, by write() ---- */
	ANSWERED(GET_CONTEXT, 1, ib_uverbs_get_context, 0, {}),
	ANSWERED(QUERY_DEVICE, 1, ib_uverbs_query_device, 0, {}),
	ANSWERED(QUERY_PORT, 1, ib_uverbs_query_port, 0, IS(ib_uverbs_query_port, port_num, 1)),
	ANSWERED(ALLOC_PD, 3, ib_uverbs_alloc_pd, PD, {}),
	SILENT(DEALLOC_PD, 2, ib_uverbs_dealloc_pd, OF(ib_uverbs_dealloc_pd, pd_handle, PD)),
	ANSWERED(CREATE_AH, 1, ib_uverbs_create_ah, AH, OF(ib_uverbs_create_ah, pd_handle, PD)),
	SILENT(DESTROY_AH, 1, ib_uverbs_destroy_ah, OF(ib_uverbs_destroy_ah, ah_handle, AH)),
	ANSWERED(REG_MR, 8, ib_uverbs_reg_mr, MR,
		 OF(ib_uverbs_reg_mr, pd_handle, PD), MEM_AND(ib_uverbs_reg_mr, start, hca_va),
		 NUM(ib_uverbs_reg_mr, length, ARENA),
		 BITS(ib_uverbs_reg_mr, access_flags, ACCESS)),
	ANSWERED(REREG_MR, 5, ib_uverbs_rereg_mr, 0,
		 OF(ib_uverbs_rereg_mr, mr_handle, MR), BITS(ib_uverbs_rereg_mr, flags, 7),
		 MEM_AND(ib_uverbs_rereg_mr, start, hca_va), NUM(ib_uverbs_rereg_mr, length, 30000),
		 OF(ib_uverbs_rereg_mr, pd_handle, PD),
		 BITS(ib_uverbs_rereg_mr, access_flags, ACCESS)),
	SILENT(DEREG_MR, 3, ib_uverbs_dereg_mr, OF(ib_uverbs_dereg_mr, mr_handle, MR)),
	ANSWERED(ALLOC_MW, 3, ib_uverbs_alloc_mw, MW,
		 OF(ib_uverbs_alloc_mw, pd_handle, PD), NUM(ib_uverbs_alloc_mw, mw_type, 2)),
	/* of type 1, which both ends of the opening's connection may use */
	{ "ALLOC_MW type 1", WRITE, 2, IB_USER_VERBS_CMD_ALLOC_MW,
	  sizeof(struct ib_uverbs_alloc_mw), 0, 0, MW,
	  { OF(ib_uverbs_alloc_mw, pd_handle, PD), IS(ib_uverbs_alloc_mw, mw_type, 1) } },
	SILENT(DEALLOC_MW, 2, ib_uverbs_dealloc_mw, OF(ib_uverbs_dealloc_mw, mw_handle, MW)),
	ANSWERED(CREATE_COMP_CHANNEL, 2, ib_uverbs_create_comp_channel, CHANNEL, {}),
	ANSWERED(CREATE_CQ, 5, ib_uverbs_create_cq, CQ,
		 NUM(ib_uverbs_create_cq, cqe, 256),
		 OF(ib_uverbs_create_cq, comp_channel, CHANNEL)),
	ANSWERED(RESIZE_CQ, 6, ib_uverbs_resize_cq, 0,
		 OF(ib_uverbs_resize_cq, cq_handle, CQ), NUM(ib_uverbs_resize_cq, cqe, 512)),
	ANSWERED(DESTROY_CQ, 2, ib_uverbs_destroy_cq, 0,
		 OF(ib_uverbs_destroy_cq, cq_handle, CQ)),
	ANSWERED(POLL_CQ, 2, ib_uverbs_poll_cq, 0,
		 OF(ib_uverbs_poll_cq, cq_handle, CQ), NUM(ib_uverbs_poll_cq, ne, 4)),
	SILENT(REQ_NOTIFY_CQ, 5, ib_uverbs_req_notify_cq,
	       OF(ib_uverbs_req_notify_cq, cq_handle, CQ),
	       BITS(ib_uverbs_req_notify_cq, solicited_only, 1)),
	ANSWERED(CREATE_QP, 6, ib_uverbs_create_qp, QP, QP_FIELDS(ib_uverbs_create_qp)),
	{ "CREATE_QP with SRQ", WRITE, 3, IB_USER_VERBS_CMD_CREATE_QP,
	  sizeof(struct ib_uverbs_create_qp), 0, 0, QP,
	  { QP_FIELDS(ib_uverbs_create_qp), OF(ib_uverbs_create_qp, srq_handle, SRQ),
	    IS(ib_uverbs_create_qp, is_srq, 1) } },
	ANSWERED(QUERY_QP, 3, ib_uverbs_query_qp, 0,
		 OF(ib_uverbs_query_qp, qp_handle, QP),
		 BITS(ib_uverbs_query_qp, attr_mask, 0x1fffff)),
	SILENT(MODIFY_QP, 6, ib_uverbs_modify_qp, MODIFY_FIELDS(ib_uverbs_modify_qp)),
	/* IB_QP_ACCESS_FLAGS alone: without it the opening's QPs have no right for a peer */
	{ "QP_RIGHTS", WRITE, 2, IB_USER_VERBS_CMD_MODIFY_QP, sizeof(struct ib_uverbs_modify_qp),
	  NOWHERE, 0, 0, { OF(ib_uverbs_modify_qp, qp_handle, QP),
			   IS(ib_uverbs_modify_qp, attr_mask, 8),
			   BITS(ib_uverbs_modify_qp, qp_access_flags, ACCESS) } },
	ANSWERED(DESTROY_QP, 3, ib_uverbs_destroy_qp, 0,
		 OF(ib_uverbs_destroy_qp, qp_handle, QP)),
	WITH_TAIL(POST_SEND, 2, ib_uverbs_post_send, 400, OF(ib_uverbs_post_send, qp_handle, QP),
		  IS(ib_uverbs_post_send, wr_count, 1),
		  IS(ib_uverbs_post_send, wqe_size, sizeof(struct ib_uverbs_send_wr))),
	WITH_TAIL(POST_RECV, 2, ib_uverbs_post_recv, 200, OF(ib_uverbs_post_recv, qp_handle, QP),
		  IS(ib_uverbs_post_recv, wr_count, 1),
		  IS(ib_uverbs_post_recv, wqe_size, sizeof(struct ib_uverbs_recv_wr))),
	WITH_TAIL(POST_SRQ_RECV, 2, ib_uverbs_post_srq_recv, 200,
		  OF(ib_uverbs_post_srq_recv, srq_handle, SRQ),
		  IS(ib_uverbs_post_srq_recv, wr_count, 1),
		  IS(ib_uverbs_post_srq_recv, wqe_size, sizeof(struct ib_uverbs_recv_wr))),
	SILENT(ATTACH_MCAST, 1, ib_uverbs_attach_mcast, OF(ib_uverbs_attach_mcast, qp_handle, QP)),
	ANSWERED(CREATE_SRQ, 4, ib_uverbs_create_srq, SRQ, SRQ_FIELDS(ib_uverbs_create_srq)),
	ANSWERED(CREATE_XSRQ, 1, ib_uverbs_create_xsrq, SRQ, SRQ_FIELDS(ib_uverbs_create_xsrq)),
	SILENT(MODIFY_SRQ, 3, ib_uverbs_modify_srq, OF(ib_uverbs_modify_srq, srq_handle, SRQ),
	       BITS(ib_uverbs_modify_srq, attr_mask, 2), NUM(ib_uverbs_modify_srq, srq_limit, 64)),
	ANSWERED(QUERY_SRQ, 2, ib_uverbs_query_srq, 0, OF(ib_uverbs_query_srq, srq_handle, SRQ)),
	ANSWERED(DESTROY_SRQ, 2, ib_uverbs_destroy_srq, 0,
		 OF(ib_uverbs_destroy_srq, srq_handle, SRQ)),
	EXTENDED(QUERY_DEVICE, 1, ib_uverbs_ex_query_device, 0, {}),
	EXTENDED(CREATE_CQ, 3, ib_uverbs_ex_create_cq, CQ, NUM(ib_uverbs_ex_create_cq, cqe, 256),
		 OF(ib_uverbs_ex_create_cq, comp_channel, CHANNEL),
		 BITS(ib_uverbs_ex_create_cq, flags, 3)),
	EXTENDED(CREATE_QP, 2, ib_uverbs_ex_create_qp, QP, QP_FIELDS(ib_uverbs_ex_create_qp)),
	EXTENDED(MODIFY_QP, 2, ib_uverbs_ex_modify_qp, 0,
		 MODIFY_FIELDS(ib_uverbs_modify_qp)),
	EXTENDED(MODIFY_CQ, 3, ib_uverbs_ex_modify_cq, 0, OF(ib_uverbs_ex_modify_cq, cq_handle, CQ),
		 BITS(ib_uverbs_ex_modify_cq, attr_mask, 1),
		 NUM(ib_uverbs_ex_modify_cq, attr.cq_count, 16),
		 NUM(ib_uverbs_ex_modify_cq, attr.cq_period, 100)),

	/* ---- uverbs, by ioctl() ---- */
	METHOD("DOORBELL_ALLOC", 2, TERN_OBJECT_DOORBELL, TERN_METHOD_DOORBELL_ALLOC,
	       { TERN_ATTR_DOORBELL_ALLOC_FD, 0, NEW, DOORBELL, 0 }),
	METHOD("DV_DEVICE", 2, TERN_OBJECT_DV, TERN_METHOD_DV_DEVICE,
	       { TERN_ATTR_DV_DEVICE_OUT, sizeof(struct tern_dv_device), OUTPUT, 0, 0 }),
	METHOD("DV_SET_OPTIONS", 5, TERN_OBJECT_DV, TERN_METHOD_DV_SET_OPTIONS,
	       { TERN_ATTR_DV_OPTIONS_QP, 0, HANDLE, QP, 0 },
	       { TERN_ATTR_DV_OPTIONS_IN, sizeof(struct tern_qp_options), INPUT, 0, 0 }),
	METHOD("DV_REPORT", 4, TERN_OBJECT_DV, TERN_METHOD_DV_REPORT,
	       { TERN_ATTR_DV_REPORT_QP, 0, HANDLE, QP, 0 },
	       { TERN_ATTR_DV_REPORT_OUT, sizeof(struct tern_qp_report), OUTPUT, 0, 0 }),
	METHOD("QUERY_MR", 2, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR,
	       { UVERBS_ATTR_QUERY_MR_HANDLE, 0, HANDLE, MR, 0 },
	       { UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, OUTPUT, 0, 0 },
	       { UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, OUTPUT, 0, 0 },
	       { UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, OUTPUT, 0, 0 },
	       { UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, OUTPUT, 0, 0 }),
	/* without the right to atomics, which no dma-buf has */
	METHOD("REG_DMABUF_MR", 4, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR,
	       { UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, NEW, MR, 0 },
	       { UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, HANDLE, PD, 0 },
	       { UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, FIXED, 0, 0 },
	       { UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, NUMBER, 0, ARENA },
	       { UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, FIXED, 0, ARENA_AT },
	       { UVERBS_ATTR_REG_DMABUF_MR_FD, 4, HANDLE, DMABUF, 0 },
	       { UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, FLAGS, 0, ACCESS & ~8 },
	       { UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, OUTPUT, LKEY, 0 },
	       { UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, OUTPUT, RKEY, 0 }),
	METHOD("CQ_CREATE", 2, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
	       { UVERBS_ATTR_CREATE_CQ_HANDLE, 0, NEW, CQ, 0 },
	       { UVERBS_ATTR_CREATE_CQ_CQE, 4, NUMBER, 0, 256 },
	       { UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, FIXED, 0, 1 },
	       { UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, FIXED, 0, 0 },
	       { UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, OUTPUT, 0, 0 },
	       { UVERBS_ATTR_UHW_OUT, sizeof(struct tern_uresp_create_cq), OUTPUT, 0, 0 }),
	/*
	 * Not UVERBS_METHOD_GET_CONTEXT: when it fails, the core leaks a reference to the task
	 * (Documentation/reliability.rst), and kmemleak would report nothing else.
	 */
	METHOD("ASYNC_EVENT_ALLOC", 1, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
	       { UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, NEW, ASYNC, 0 }),
	DROP("PD_DESTROY", UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
	     UVERBS_ATTR_DESTROY_PD_HANDLE, PD),
	DROP("MR_DESTROY", UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
	     UVERBS_ATTR_DESTROY_MR_HANDLE, MR),
	DROP("MW_DESTROY", UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY,
	     UVERBS_ATTR_DESTROY_MW_HANDLE, MW),
	DROP_AND("CQ_DESTROY", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
		 UVERBS_ATTR_DESTROY_CQ_HANDLE, CQ, UVERBS_ATTR_DESTROY_CQ_RESP, 8),
	DROP_AND("QP_DESTROY", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,
		 UVERBS_ATTR_DESTROY_QP_HANDLE, QP, UVERBS_ATTR_DESTROY_QP_RESP, 4),
	DROP_AND("SRQ_DESTROY", UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY,
		 UVERBS_ATTR_DESTROY_SRQ_HANDLE, SRQ, UVERBS_ATTR_DESTROY_SRQ_RESP, 4),

	/* ---- rdma_cm ---- */
	/* an id without a uid gets no events */
	CM_ASKS(CREATE_ID, 4, rdma_ucm_create_id, ID, IS(rdma_ucm_create_id, ps, RDMA_PS_TCP),
		IS(rdma_ucm_create_id, qp_type, 2), IS(rdma_ucm_create_id, uid, 1)),
	CM_ASKS(DESTROY_ID, 2, rdma_ucm_destroy_id, 0, OF(rdma_ucm_destroy_id, id, ID)),
	CM_TELLS(BIND_IP, 2, rdma_ucm_bind_ip, OF(rdma_ucm_bind_ip, id, ID),
		 TO(rdma_ucm_bind_ip, addr)),
	CM_TELLS(LISTEN, 2, rdma_ucm_listen, OF(rdma_ucm_listen, id, ID),
		 NUM(rdma_ucm_listen, backlog, 8)),
	CM_TELLS(RESOLVE_IP, 4, rdma_ucm_resolve_ip, OF(rdma_ucm_resolve_ip, id, ID),
		 TO(rdma_ucm_resolve_ip, dst_addr), IS(rdma_ucm_resolve_ip, timeout_ms, MS)),
	CM_TELLS(RESOLVE_ROUTE, 4, rdma_ucm_resolve_route, OF(rdma_ucm_resolve_route, id, ID),
		 IS(rdma_ucm_resolve_route, timeout_ms, MS)),
	CM_ASKS(QUERY_ROUTE, 1, rdma_ucm_query, 0, OF(rdma_ucm_query, id, ID)),
	CM_ASKS(QUERY, 1, rdma_ucm_query, 0, OF(rdma_ucm_query, id, ID),
		BITS(rdma_ucm_query, option, 3)),
	CM_TELLS(CONNECT, 6, rdma_ucm_connect, OF(rdma_ucm_connect, id, ID),
		 PARAM(rdma_ucm_connect)),
	CM_TELLS(ACCEPT, 6, rdma_ucm_accept, OF(rdma_ucm_accept, id, ID), PARAM(rdma_ucm_accept),
		 IS(rdma_ucm_accept, uid, 1)),
	CM_TELLS(REJECT, 1, rdma_ucm_reject, OF(rdma_ucm_reject, id, ID),
		 NUM(rdma_ucm_reject, private_data_len, 200)),
	CM_TELLS(DISCONNECT, 2, rdma_ucm_disconnect, OF(rdma_ucm_disconnect, id, ID)),
	CM_ASKS(INIT_QP_ATTR, 2, rdma_ucm_init_qp_attr, 0, OF(rdma_ucm_init_qp_attr, id, ID),
		NUM(rdma_ucm_init_qp_attr, qp_state, 3)),
	CM_TELLS(SET_OPTION, 2, rdma_ucm_set_option, OF(rdma_ucm_set_option, id, ID),
		 MEM(rdma_ucm_set_option, optval), NUM(rdma_ucm_set_option, optname, 4),
		 IS(rdma_ucm_set_option, optlen, 4)),
	CM_TELLS(NOTIFY, 1, rdma_ucm_notify, OF(rdma_ucm_notify, id, ID),
		 NUM(rdma_ucm_notify, event, 8)),
	CM_TELLS(BIND, 1, rdma_ucm_bind, OF(rdma_ucm_bind, id, ID), TO(rdma_ucm_bind, addr),
		 IS(rdma_ucm_bind, addr_size, sizeof(struct sockaddr_in))),

	/* ---- tern's netlink family ---- */
	LINK(DEV_GET, 2, { TERN_A_DEV_NAME, 0, INPUT, 0, 0 }),
	LINK(DEV_SET, 3, { TERN_A_DEV_NAME, 0, INPUT, 0, 0 },
	     { TERN_A_DEV_SETTINGS, 0, OUTPUT, 0, TERN_A_SETTINGS_MAX }),
	LINK(CONN_GET, 3, { TERN_A_CONN_DEVICE, 0, INPUT, 0, 0 }),

	/* ---- the rest ---- */
	DOES(RING_DOORBELL, 10),
	DOES(MAP_RING, 8),
	DOES(UNMAP_RING, 2),
	DOES(SPOIL_RING, 10),
	DOES(POST, 20),
	DOES(POST_BIND, 5),
	DOES(MAKE_DMABUF, 2),
	DOES(POST_RECEIVE, 10),
	DOES(CLOSE_FD, 1),
	DOES(REOPEN, 1),
	DOES(FORK, 2),
	DOES(KILL_ITSELF, 1),
	DOES(WAIT_EVENT, 6),
	DOES(SHIFT_MEMORY, 2),
};

const unsigned int n_ops = sizeof(ops) / sizeof(ops[0]);

const struct option qp_options[] = {
	{ AT(tern_qp_options, markers), TERN_OPTION_MARKERS, 0, 1, true },
	{ AT(tern_qp_options, crc), TERN_OPTION_CRC, 0, 1, true },
	{ AT(tern_qp_options, version), TERN_OPTION_VERSION, 0, 1, false },
	{ AT(tern_qp_options, mpa_rev), TERN_OPTION_MPA_REV, 1, 2, false },
	{ AT(tern_qp_options, enhanced), TERN_OPTION_ENHANCED, 0, 1, false },
	{ AT(tern_qp_options, p2p), TERN_OPTION_P2P, 0, 1, false },
	{ offsetof(struct tern_qp_options, rtr), 1, TERN_OPTION_RTR, 1, 3, true },
	{ AT(tern_qp_options, rtr_ms), TERN_OPTION_RTR_MS, 1, MS, false },
	{ AT(tern_qp_options, extensions), TERN_OPTION_EXTENSIONS, 0, 2, true },
	{ AT(tern_qp_options, features), TERN_OPTION_FEATURES, 0, 7, true },
	{ AT(tern_qp_options, max_fpdu), TERN_OPTION_MAX_FPDU, TERN_OPTION_FPDU_MIN,
	  TERN_OPTION_FPDU_MAX, true },
};

const unsigned int n_qp_options = sizeof(qp_options) / sizeof(qp_options[0]);

/*
 * Two QPs of one process, each with options of its own, connected with one another; a SRQ, a window
 * and a dma-buf beside them
 */
const char *const opening[] = {
	"GET_CONTEXT", "DOORBELL_ALLOC", "ALLOC_PD", "REG_MR", "CREATE_COMP_CHANNEL",
	"CREATE_CQ", "CREATE_SRQ", "CREATE_QP", "QP_RIGHTS", "DV_SET_OPTIONS",
	"CREATE_QP", "QP_RIGHTS", "DV_SET_OPTIONS", "ALLOC_MW type 1", "MAKE_DMABUF",
	"MAP_RING", "MAP_RING", "MAP_RING", "MAP_RING", "MAP_RING", "MAP_RING",
	"CM_CREATE_ID", "CM_BIND_IP", "CM_LISTEN",
	"CM_CREATE_ID", "CM_RESOLVE_IP", "WAIT_EVENT", "CM_RESOLVE_ROUTE", "WAIT_EVENT",
	"CM_CONNECT", "WAIT_EVENT", "CM_ACCEPT", "WAIT_EVENT", "WAIT_EVENT", "POST_RECEIVE",
	"POST_RECEIVE", "POST_RECEIVE", "POST_RECEIVE", "POST_RECEIVE", "POST_RECEIVE", "POST_BIND",
	"POST", "POST", "POST", "POST", "POST", "POST", "POST", "POST",
};

const unsigned int n_opening = sizeof(opening) / sizeof(opening[0]);
