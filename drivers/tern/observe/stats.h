/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Counters of a device, read by `rdma statistic show link`. One row for each:
 * identifier, name that users see, event that increments it.
 */
#ifndef TERN_STATS_H
#define TERN_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#define TERN_STATS(X)							\
	X(TX_FPDU, "tx_fpdu", "FPDU handed to TCP")			\
	X(TX_BYTES, "tx_bytes", "byte of FPDUs handed to TCP")		\
	X(TX_BURST, "tx_burst", "burst handed to TCP, mostly by one sendmsg call") \
	X(TX_FULL, "tx_full", "send engine found the socket full before a burst") \
	X(TX_TERMINATE, "tx_terminate", "Terminate sent")		\
	X(RX_FPDU, "rx_fpdu", "FPDU received and found valid")		\
	X(RX_BYTES, "rx_bytes", "byte of valid FPDUs")			\
	X(RX_CRC_ERR, "rx_crc_err", "FPDU with a bad CRC")		\
	X(RX_MARKER_ERR, "rx_marker_err", "FPDU with a bad marker or length") \
	X(RX_DDP_ERR, "rx_ddp_err", "segment refused by DDP rules")	\
	X(RX_RDMAP_ERR, "rx_rdmap_err", "message refused by RDMAP rules") \
	X(RX_NO_BUFFER, "rx_no_buffer", "Send that found no receive entry") \
	X(RX_TERMINATE, "rx_terminate", "Terminate received")		\
	X(RX_URGENT, "rx_urgent", "urgent data (TCP's URG) received")	\
	X(RX_UNREADABLE, "rx_unreadable", "data that cannot be read in place")	\
	X(RX_MORE, "rx_more", "run of the receive engine that left data for another one") \
	X(RX_LATE, "rx_late", "byte discarded after an error or close")	\
	X(SQ_BAD_ENTRY, "sq_bad_entry", "malformed send queue entry")	\
	X(RQ_BAD_ENTRY, "rq_bad_entry", "malformed receive queue entry") \
	X(CQ_OVERFLOW, "cq_overflow", "completion lost to a full CQ")	\
	X(FLUSH_MORE, "flush_more", "flush of a deep queue that continues in another turn") \
	X(COMPLETE_MORE, "complete_more", "series of completions that another turn continues") \
	X(MW_BIND, "mw_bind", "memory window bound or unbound")	\
	X(DOORBELL, "doorbell", "doorbell system call")			\
	X(DOORBELL_LATER, "doorbell_later", "doorbell or post left for later while batching") \
	X(DOORBELL_MISSED, "doorbell_missed", "run of posts sent late, by a timer") \
	X(GRACE_EXPEDITED, "grace_expedited", "grace period of RCU that interrupted other CPUs") \
	X(GRACE_WAITED, "grace_waited", "grace period of RCU at its own pace") \
	X(CM_CONNECT, "cm_connect", "connection attempt started")	\
	X(CM_ACCEPT, "cm_accept", "connection request accepted")	\
	X(CM_REJECT_TX, "cm_reject_tx", "connection request rejected")	\
	X(CM_REJECT_RX, "cm_reject_rx", "reject received")		\
	X(CM_ESTABLISHED, "cm_established", "connection established")	\
	X(CM_TIMEOUT, "cm_timeout", "startup or close timer expired")	\
	X(CM_BAD_FRAME, "cm_bad_frame", "malformed MPA Request or Reply") \
	X(CM_FALLBACK, "cm_fallback", "retry with MPA revision 1")	\
	X(CM_DENIED, "cm_denied", "connection with another's QP, netns or device") \
	X(CM_HALF_OPEN, "cm_half_open", "connection without a QP dropped or rejected: too many") \
	X(CM_PD_TOO_LONG, "cm_pd_too_long", "private data over what rdma_cm can carry") \
	X(CM_ABORT, "cm_abort", "connection aborted by RST, either way") \
	X(CM_CLOSE_LOST, "cm_close_lost", "close cut off with data that was not acknowledged") \
	X(CM_CLOSE_SLOW, "cm_close_slow", "close cut off after 150 times close-ms, with progress") \
	X(TERM_WITHHELD, "term_withheld", "error found where no Terminate may be sent")

/* Terminates to be sent, by code: TERN_TERM_*, tail of the counter's name */
#define TERN_TERM_STATS(X)		\
	X(LOCAL, "local")		\
	X(RP_INV_STAG, "rp_inv_stag")	\
	X(RP_BOUNDS, "rp_bounds")	\
	X(RP_ACCESS, "rp_access")	\
	X(RP_NOT_ASSOC, "rp_not_assoc")	\
	X(RP_WRAP, "rp_wrap")		\
	X(RP_CANT_INV, "rp_cant_inv")	\
	X(RO_VERSION, "ro_version")	\
	X(RO_OPCODE, "ro_opcode")	\
	X(RO_STREAM, "ro_stream")	\
	X(DT_INV_STAG, "dt_inv_stag")	\
	X(DT_BOUNDS, "dt_bounds")	\
	X(DT_NOT_ASSOC, "dt_not_assoc")	\
	X(DT_WRAP, "dt_wrap")		\
	X(DT_VERSION, "dt_version")	\
	X(DU_QN, "du_qn")		\
	X(DU_NO_BUFFER, "du_no_buffer")	\
	X(DU_MSN_RANGE, "du_msn_range")	\
	X(DU_MO, "du_mo")		\
	X(DU_TOO_LONG, "du_too_long")	\
	X(DU_VERSION, "du_version")	\
	X(MPA_CRC, "mpa_crc")		\
	X(MPA_MARKER, "mpa_marker")	\
	X(MPA_LOCAL, "mpa_local")	\
	X(MPA_IRD, "mpa_ird")		\
	X(MPA_RTR, "mpa_rtr")

enum tern_stat {
#define X(id, name, event) TERN_STAT_##id,
	TERN_STATS(X)
#undef X
#define X(id, tail) TERN_STAT_TERM_SENT_##id,
	TERN_TERM_STATS(X)
#undef X
	TERN_STAT_COUNT
};

struct tern_stats {
	u64 v[TERN_STAT_COUNT];
};

#define tern_stat_add(stats, id, n)	this_cpu_add((stats)->v[TERN_STAT_##id], n)
#define tern_stat_inc(stats, id)	tern_stat_add(stats, id, 1)

/* the names of the counters, by enum tern_stat */
extern const struct rdma_stat_desc tern_stat_descs[TERN_STAT_COUNT];

/* count a Terminate to be sent, with the triplet @code; Context: any */
void tern_stat_term(struct tern_stats __percpu *stats, int code);

/* the sum of a counter over all CPUs; Context: any */
u64 tern_stat_sum(const struct tern_stats __percpu *stats, enum tern_stat id);

#endif /* TERN_STATS_H */
