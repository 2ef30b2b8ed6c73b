/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Tracepoints: FPDUs both ways, payload that is placed, completions, the states
 * of QPs and endpoints, and the Terminates, which say why a stream ends.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tern

#if !defined(TERN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TERN_TRACE_H

#include <linux/tracepoint.h>

#include "core/term.h"

DECLARE_EVENT_CLASS(tern_fpdu,
	TP_PROTO(u32 qpn, u8 opcode, u32 ulpdu_len, bool last),
	TP_ARGS(qpn, opcode, ulpdu_len, last),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, ulpdu_len)
		__field(u8, opcode)
		__field(bool, last)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->ulpdu_len = ulpdu_len;
		__entry->opcode = opcode;
		__entry->last = last;
	),
	TP_printk("qpn=%u opcode=%u ulpdu_len=%u last=%u", __entry->qpn,
		  __entry->opcode, __entry->ulpdu_len, __entry->last)
);

/* an FPDU was built, to be handed to TCP with its burst */
DEFINE_EVENT(tern_fpdu, tern_fpdu_tx,
	TP_PROTO(u32 qpn, u8 opcode, u32 ulpdu_len, bool last),
	TP_ARGS(qpn, opcode, ulpdu_len, last)
);

/* an FPDU is whole, and its CRC, markers and headers are good */
DEFINE_EVENT(tern_fpdu, tern_fpdu_rx,
	TP_PROTO(u32 qpn, u8 opcode, u32 ulpdu_len, bool last),
	TP_ARGS(qpn, opcode, ulpdu_len, last)
);

/*
 * payload of a segment was placed, or refused; stag is 0 for the scatter list
 * of a receive entry (to is the MO) or of a Read
 */
TRACE_EVENT(tern_place,
	TP_PROTO(u32 qpn, u32 stag, u64 to, u32 len),
	TP_ARGS(qpn, stag, to, len),
	TP_STRUCT__entry(
		__field(u64, to)
		__field(u32, qpn)
		__field(u32, stag)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->to = to;
		__entry->qpn = qpn;
		__entry->stag = stag;
		__entry->len = len;
	),
	TP_printk("qpn=%u stag=0x%08x to=0x%llx len=%u", __entry->qpn,
		  __entry->stag, __entry->to, __entry->len)
);

/* a completion was written */
TRACE_EVENT(tern_cqe,
	TP_PROTO(u32 cqn, u32 qpn, u8 opcode, u8 status, u32 byte_len),
	TP_ARGS(cqn, qpn, opcode, status, byte_len),
	TP_STRUCT__entry(
		__field(u32, cqn)
		__field(u32, qpn)
		__field(u32, byte_len)
		__field(u8, opcode)
		__field(u8, status)
	),
	TP_fast_assign(
		__entry->cqn = cqn;
		__entry->qpn = qpn;
		__entry->byte_len = byte_len;
		__entry->opcode = opcode;
		__entry->status = status;
	),
	TP_printk("cqn=%u qpn=%u opcode=%u status=%u byte_len=%u",
		  __entry->cqn, __entry->qpn, __entry->opcode, __entry->status,
		  __entry->byte_len)
);

DECLARE_EVENT_CLASS(tern_state,
	TP_PROTO(u32 id, const char *from, const char *to, const char *event),
	TP_ARGS(id, from, to, event),
	TP_STRUCT__entry(
		__field(u32, id)
		__string(from, from)
		__string(to, to)
		__string(event, event)
	),
	TP_fast_assign(
		__entry->id = id;
		__assign_str(from);
		__assign_str(to);
		__assign_str(event);
	),
	TP_printk("id=%u %s -> %s by %s", __entry->id, __get_str(from),
		  __get_str(to), __get_str(event))
);

/* a QP was stepped to a state, maybe the same; id is the QP number */
DEFINE_EVENT(tern_state, tern_qp_state,
	TP_PROTO(u32 id, const char *from, const char *to, const char *event),
	TP_ARGS(id, from, to, event)
);

/* a connection endpoint was stepped to a state; id is the endpoint's number */
DEFINE_EVENT(tern_state, tern_cm_state,
	TP_PROTO(u32 id, const char *from, const char *to, const char *event),
	TP_ARGS(id, from, to, event)
);

DECLARE_EVENT_CLASS(tern_term,
	TP_PROTO(u32 qpn, int term, const char *name),
	TP_ARGS(qpn, term, name),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(int, term)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->term = term;
		__assign_str(name);
	),
	TP_printk("qpn=%u term=%u/%u/%02x %s", __entry->qpn,
		  TERN_TERM_LAYER(__entry->term),
		  TERN_TERM_ETYPE(__entry->term),
		  TERN_TERM_ECODE(__entry->term), __get_str(name))
);

/* a Terminate was built, to be sent */
DEFINE_EVENT(tern_term, tern_term_tx,
	TP_PROTO(u32 qpn, int term, const char *name),
	TP_ARGS(qpn, term, name)
);

/* a Terminate was received */
DEFINE_EVENT(tern_term, tern_term_rx,
	TP_PROTO(u32 qpn, int term, const char *name),
	TP_ARGS(qpn, term, name)
);

#endif /* TERN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH observe
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
