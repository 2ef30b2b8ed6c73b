/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The ABI between tern.ko and its rdma-core provider.
 *
 * Every queue is one mapping: a struct tern_ring_hdr, then @entries entries of @stride
 * bytes from TERN_RING_DATA on. @entries is a power of two; the indices run freely over
 * 32 bits and are masked at the access, so (producer - consumer) is the fill level,
 * 0..@entries. All integers are in host byte order unless their type says otherwise.
 * Shared memory never holds a pointer, and the kernel copies an entry once, into its own
 * memory, before it reads any field.
 *
 * Publishing: the writer fills the entries, then stores the producer index with release
 * semantics; the reader loads it with acquire semantics. The consumer index likewise.
 */
#ifndef _UAPI_TERN_ABI_H
#define _UAPI_TERN_ABI_H

#include <linux/types.h>

#define TERN_ABI_VERSION	1

/* "tern": private to this driver, never one of enum rdma_driver_id */
#define TERN_DRIVER_ID		0x7465726e

#define TERN_MAX_SGE		16	/* per work request, send and receive */
#define TERN_MAX_INLINE		256	/* bytes */
#define TERN_CACHELINE		64
#define TERN_RING_DATA		256	/* offset of the first entry in a mapping */

/**
 * struct tern_ring_hdr - the control words of one shared queue
 * @prod: index of the next entry to publish; written by the producer
 * @cons: index of the next entry to consume; written by the consumer
 * @silent: SQ and RQ: entries that ended without a completion: not signalled, or lost
 *	by a full CQ; written by the kernel, if it has @counts_silent
 * @flags: SQ and RQ: enum tern_ring_flags, written by the kernel.
 *	CQ: enum tern_cq_arm, set by the program, taken (exchanged with
 *	TERN_CQ_ARM_NONE) by the kernel when it raises the event
 * @event: CQ: @prod when the kernel raised the last event; written by the kernel
 * @pad0: zero
 * @pad1: zero
 * @pad2: zero
 * @pad3: zero
 *
 * For SQ, RQ and SRQ the program is the producer, for a CQ the kernel is. The program's
 * side is never trusted: an index out of range moves the QP to ERROR, or makes the CQ
 * overflow. Entries in use are, of an SQ or RQ, @prod - @silent - completions that the
 * program polled; of an SRQ, @prod - @cons.
 */
struct tern_ring_hdr {
	__u32 prod;
	__u8 pad0[TERN_CACHELINE - 4];
	__u32 cons;
	__u32 silent;
	__u8 pad1[TERN_CACHELINE - 8];
	__u32 flags;
	__u8 pad2[TERN_CACHELINE - 4];
	__u32 event;
	__u8 pad3[TERN_CACHELINE - 4];
};

/**
 * enum tern_ring_flags - what the kernel tells the producer of an SQ or RQ
 * @TERN_RING_BUSY: SQ: no doorbell: a drain runs and reads @prod again before it ends
 * @TERN_RING_KICK: RQ: the QP is flushed; ring the doorbell after each post
 * @TERN_RING_LAZY: SQ: one doorbell may serve several posts, before the program waits for
 *	any; a timer covers programs that stop. Only after one with TERN_DOORBELL_MORE
 *
 * The producer stores @prod, executes a full barrier, then reads @flags; the
 * kernel stores @flags, executes a full barrier, then reads @prod.
 */
enum tern_ring_flags {
	TERN_RING_BUSY = 1 << 0,
	TERN_RING_KICK = 1 << 1,
	TERN_RING_LAZY = 1 << 2,
};

/**
 * enum tern_cq_arm - the completion event a CQ waits for
 * @TERN_CQ_ARM_NONE: none
 * @TERN_CQ_ARM_SOLICITED: the next solicited or failed completion
 * @TERN_CQ_ARM_NEXT: the next completion of any kind
 *
 * The program only raises the word (NEXT stays NEXT when it asks for SOLICITED), executes
 * a full barrier, and polls once more. If the ring holds completions for which no event
 * was raised (@prod is neither its own index nor @event), it also calls REQ_NOTIFY_CQ, which
 * raises the event at once. Programs that arm late and then wait, like perftest, need it.
 */
enum tern_cq_arm {
	TERN_CQ_ARM_NONE = 0,
	TERN_CQ_ARM_SOLICITED = 1,
	TERN_CQ_ARM_NEXT = 2,
};

/**
 * enum tern_wr_opcode - work request opcodes, also in completions
 * @TERN_WR_SEND: Send
 * @TERN_WR_SEND_WITH_INV: Send with Invalidate
 * @TERN_WR_RDMA_WRITE: RDMA Write
 * @TERN_WR_RDMA_READ: RDMA Read
 * @TERN_WR_LOCAL_INV: make an STag of our own invalid
 * @TERN_WR_BIND_MW: bind a memory window
 * @TERN_WR_REG_MR: make a fast-registration MR valid
 * @TERN_WR_READ_WITH_INV: RDMA Read, then make the STag of its sink invalid
 * @TERN_WR_SEND_WITH_IMM: Send with Immediate (RDMAP version 2)
 * @TERN_WR_SEND_WITH_INV_IMM: Send with Invalidate and Immediate (likewise)
 * @TERN_WR_WRITE_WITH_IMM: Write, then Immediate Data (RFC 7306 6): one completion
 * @TERN_WR_FETCH_ADD: atomic FetchAdd (RFC 7306 5.1.1); its result is 8 bytes
 * @TERN_WR_CMP_SWAP: atomic CmpSwap (RFC 7306 5.1.2); likewise, in host byte order
 * @TERN_WR_RECV: completions only: an entry of an RQ or SRQ
 * @TERN_WR_RECV_IMM: completions only: such an entry, taken by Immediate Data
 *
 * Only kernel users can post REG_MR and READ_WITH_INV, only programs BIND_MW, SEND_WITH_INV_IMM.
 */
enum tern_wr_opcode {
	TERN_WR_SEND = 1,
	TERN_WR_SEND_WITH_INV = 2,
	TERN_WR_RDMA_WRITE = 3,
	TERN_WR_RDMA_READ = 4,
	TERN_WR_LOCAL_INV = 5,
	TERN_WR_BIND_MW = 6,
	TERN_WR_REG_MR = 7,
	TERN_WR_READ_WITH_INV = 8,
	TERN_WR_SEND_WITH_IMM = 9,
	TERN_WR_SEND_WITH_INV_IMM = 10,
	TERN_WR_WRITE_WITH_IMM = 11,
	TERN_WR_FETCH_ADD = 12,
	TERN_WR_CMP_SWAP = 13,
	TERN_WR_RECV = 32,
	TERN_WR_RECV_IMM = 33,
};

/**
 * enum tern_wr_flags - flags of a send queue entry
 * @TERN_WR_SIGNALED: write a completion on success too
 * @TERN_WR_SOLICITED: Send types, WRITE_WITH_IMM: ask for a solicited event
 * @TERN_WR_FENCE: start after all earlier Reads and atomics have completed
 * @TERN_WR_INLINE: the payload is in the entry itself
 */
enum tern_wr_flags {
	TERN_WR_SIGNALED = 1 << 0,
	TERN_WR_SOLICITED = 1 << 1,
	TERN_WR_FENCE = 1 << 2,
	TERN_WR_INLINE = 1 << 3,
};

/**
 * struct tern_sge - one local buffer
 * @addr: address (iova) of the first byte
 * @length: bytes, 0..2^32-1
 * @lkey: local key (STag) that covers it
 */
struct tern_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct tern_atomic_args - operands of an atomic, after its one element of @sge
 * @data: FETCH_ADD: addend. CMP_SWAP: the new value
 * @compare: CMP_SWAP: the value to compare with; FETCH_ADD: zero
 * @data_mask: CMP_SWAP: bits to replace. FETCH_ADD: the highest bit of each field,
 *	whose carry is dropped; 0: one field of 64 bits
 * @compare_mask: CMP_SWAP: bits to compare; FETCH_ADD: all ones
 */
struct tern_atomic_args {
	__aligned_u64 data;
	__aligned_u64 compare;
	__aligned_u64 data_mask;
	__aligned_u64 compare_mask;
};

/**
 * struct tern_sqe - one send queue entry
 * @opcode: enum tern_wr_opcode
 * @num_sge: elements of @sge in use, 0..TERN_MAX_SGE; 0 with TERN_WR_INLINE
 * @reserved0: zero
 * @flags: enum tern_wr_flags
 * @wr_id: returned in the completion
 * @remote_addr: RDMA Write and Read, atomics: tagged offset at the peer, of an
 *	atomic a multiple of 8. REG_MR: the new iova. BIND_MW: first byte of the
 *	window, in the region's addresses
 * @rkey: RDMA Write and Read, atomics: STag at the peer. REG_MR: the new key.
 *	BIND_MW: the new key; its upper 24 bits name the window
 * @ex: SEND_WITH_INV, SEND_WITH_INV_IMM: the STag to invalidate at the peer.
 *	LOCAL_INV and REG_MR: the key of the object. BIND_MW: the key of the region
 * @imm: SEND_WITH_IMM, SEND_WITH_INV_IMM, WRITE_WITH_IMM: 8 bytes, in wire order
 * @length: BIND_MW: bytes of the window; 0 unbinds one of type 1
 * @inline_len: payload bytes in the entry, with TERN_WR_INLINE
 * @access: REG_MR, BIND_MW: enum ib_access_flags
 * @sge: scatter/gather list; with TERN_WR_INLINE the payload starts here
 *
 * The stride of an SQ is a multiple of 64, at least
 * offsetof(sge) + max(max_send_sge * 16, max_inline_data, 48), for an atomic.
 */
struct tern_sqe {
	__u8 opcode;
	__u8 num_sge;
	__u16 reserved0;
	__u32 flags;
	__aligned_u64 wr_id;
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 ex;
	union {
		__u8 imm[8];
		__aligned_u64 length;
	};
	__u32 inline_len;
	__u32 access;
	struct tern_sge sge[];
};

/**
 * struct tern_rqe - one entry of an RQ or SRQ
 * @wr_id: returned in the completion
 * @num_sge: elements of @sge in use, 0..TERN_MAX_SGE
 * @reserved: zero
 * @sge: scatter list
 *
 * The stride is a multiple of 64, at least 16 + max_sge * 16.
 */
struct tern_rqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
	struct tern_sge sge[];
};

/**
 * enum tern_cqe_flags - which optional fields of a completion are valid
 * @TERN_CQE_WITH_INV: @inv_stag
 * @TERN_CQE_WITH_IMM: @imm
 * @TERN_CQE_SOLICITED: the peer asked for a solicited event
 */
enum tern_cqe_flags {
	TERN_CQE_WITH_INV = 1 << 0,
	TERN_CQE_WITH_IMM = 1 << 1,
	TERN_CQE_SOLICITED = 1 << 2,
};

/**
 * struct tern_cqe - one completion, 64 bytes
 * @wr_id: of the work request
 * @opcode: enum tern_wr_opcode
 * @status: enum ib_wc_status (the numbers are those of enum ibv_wc_status)
 * @flags: enum tern_cqe_flags
 * @qpn: QP number
 * @byte_len: bytes received or read
 * @vendor_err: Terminate of the failure, layer << 12 | etype << 8 | code, or 0
 * @imm: 8 bytes of immediate data in wire order
 * @inv_stag: STag that the peer's Send invalidated
 * @reserved0: zero
 * @timestamp: CLOCK_MONOTONIC in nanoseconds, or 0
 * @reserved1: zero
 */
struct tern_cqe {
	__aligned_u64 wr_id;
	__u8 opcode;
	__u8 status;
	__u16 flags;
	__u32 qpn;
	__u32 byte_len;
	__u32 vendor_err;
	__u8 imm[8];
	__u32 inv_stag;
	__u32 reserved0;
	__aligned_u64 timestamp;
	__aligned_u64 reserved1[2];
};

/* ---- command payloads (udata) ------------------------------------------ */

/**
 * struct tern_uresp_ucontext - answer to ALLOC_UCONTEXT
 * @abi_version: TERN_ABI_VERSION of the module
 * @max_inline: largest inline payload of a send, in bytes
 * @features: enum tern_feature that the kernel knows; 0 of a kernel without this field
 * @doorbell: TERN_DOORBELL_MORE if the kernel knows it; 0 likewise
 * @counts_silent: 1 if the kernel counts @silent of struct tern_ring_hdr; 0 likewise
 * @reserved: zero
 */
struct tern_uresp_ucontext {
	__u32 abi_version;
	__u32 max_inline;
	__u32 features;
	__u32 doorbell;
	__u32 counts_silent;
	__u32 reserved;
};

/**
 * struct tern_uring - location and layout of a queue
 * @key: offset for mmap() on the command file
 * @size: bytes to map, a multiple of the page size
 * @entries: power of two
 * @stride: bytes from one entry to the next, a multiple of 64
 */
struct tern_uring {
	__aligned_u64 key;
	__aligned_u64 size;
	__u32 entries;
	__u32 stride;
};

/**
 * struct tern_uresp_create_cq - answer to CREATE_CQ and RESIZE_CQ
 * @ring: of RESIZE_CQ: a new ring, in use once the call has succeeded. The
 *	kernel copies @prod, @cons, @flags and @event, and the entries between
 *	the two indices, from the old ring and stops using it. The program must
 *	not poll or arm during the call
 * @cqn: CQ number, for traces
 * @reserved: zero
 */
struct tern_uresp_create_cq {
	struct tern_uring ring;
	__u32 cqn;
	__u32 reserved;
};

/**
 * struct tern_uresp_create_srq - answer to CREATE_SRQ
 * @ring: where to map its ring
 * @srqn: SRQ number
 * @reserved: zero
 */
struct tern_uresp_create_srq {
	struct tern_uring ring;
	__u32 srqn;
	__u32 reserved;
};

/**
 * struct tern_uresp_create_qp - answer to CREATE_QP
 * @sq: the send queue
 * @rq: the receive queue; all zero when the QP uses an SRQ
 * @qpn: QP number, the argument of TERN_IOC_DOORBELL
 * @max_inline: bytes of inline payload that an entry of @sq holds
 */
struct tern_uresp_create_qp {
	struct tern_uring sq;
	struct tern_uring rq;
	__u32 qpn;
	__u32 max_inline;
};

/* ---- the doorbell ------------------------------------------------------- */

/*
 * A file descriptor per context, created by a driver method of the uverbs ioctl()
 * interface. ioctl(fd, TERN_IOC_DOORBELL, qpn) makes the kernel process the queues of that QP.
 * Errors: EINVAL unknown command, ENOENT the QP is not of this context, EIO no device.
 */
#define TERN_IOC_DOORBELL	0x7401

/* Added to the QP number: it posts on, and polls its CQs. The answer may be TERN_RING_LAZY. */
#define TERN_DOORBELL_MORE	0x80000000U

/* ---- options of a QP, and what it got (methods of TERN_OBJECT_DV) ------- */

/*
 * Structs here may grow at their end and never shrink: a shorter one is refused
 * (EINVAL). In a longer one from the caller, the fields that the kernel does
 * not know must be zero (EOPNOTSUPP). A struct for the caller is cut or filled
 * up with zeros to the caller's size.
 */

/**
 * enum tern_abi_rtr - Ready-to-receive types, RFC 6581 9.2
 * @TERN_ABI_RTR_NONE: ends a list
 * @TERN_ABI_RTR_WRITE: zero-length RDMA Write
 * @TERN_ABI_RTR_READ: zero-length RDMA Read
 * @TERN_ABI_RTR_SEND: zero-length Send
 */
enum tern_abi_rtr {
	TERN_ABI_RTR_NONE = 0,
	TERN_ABI_RTR_WRITE = 1,
	TERN_ABI_RTR_READ = 2,
	TERN_ABI_RTR_SEND = 3,
};

/**
 * enum tern_feature - what two ends may agree on by hello (Documentation/wire.rst)
 * @TERN_FEATURE_7306: RFC 7306: atomics and Immediate Data
 * @TERN_FEATURE_V2: RDMAP version 2; only with RFC 7306
 * @TERN_FEATURE_LONG_FPDU: FPDUs longer than the MSS
 */
enum tern_feature {
	TERN_FEATURE_7306 = 1 << 0,
	TERN_FEATURE_V2 = 1 << 1,
	TERN_FEATURE_LONG_FPDU = 1 << 2,
};

/**
 * enum tern_extensions - how a connection gets extensions
 * @TERN_EXTENSIONS_OFF: it has none: no hello, and none is taken
 * @TERN_EXTENSIONS_NEGOTIATE: what both ends agree on by hello is sent. RFC 7306 is
 *	taken from any peer
 * @TERN_EXTENSIONS_ASSUME_7306: likewise, and RFC 7306 is sent from the start
 */
enum tern_extensions {
	TERN_EXTENSIONS_OFF = 0,
	TERN_EXTENSIONS_NEGOTIATE = 1,
	TERN_EXTENSIONS_ASSUME_7306 = 2,
};

/**
 * enum tern_option - mask bits of struct tern_qp_options
 * @TERN_OPTION_MARKERS: @markers is valid; likewise below
 * @TERN_OPTION_CRC: @crc
 * @TERN_OPTION_VERSION: @version
 * @TERN_OPTION_MPA_REV: @mpa_rev
 * @TERN_OPTION_ENHANCED: @enhanced
 * @TERN_OPTION_P2P: @p2p
 * @TERN_OPTION_RTR: @rtr
 * @TERN_OPTION_RTR_MS: @rtr_ms
 * @TERN_OPTION_EXTENSIONS: @extensions
 * @TERN_OPTION_FEATURES: @features
 * @TERN_OPTION_MAX_FPDU: @max_fpdu
 */
enum tern_option {
	TERN_OPTION_MARKERS = 1 << 0,
	TERN_OPTION_CRC = 1 << 1,
	TERN_OPTION_VERSION = 1 << 2,
	TERN_OPTION_MPA_REV = 1 << 3,
	TERN_OPTION_ENHANCED = 1 << 4,
	TERN_OPTION_P2P = 1 << 5,
	TERN_OPTION_RTR = 1 << 6,
	TERN_OPTION_RTR_MS = 1 << 7,
	TERN_OPTION_EXTENSIONS = 1 << 8,
	TERN_OPTION_FEATURES = 1 << 9,
	TERN_OPTION_MAX_FPDU = 1 << 10,
};

#define TERN_OPTION_ALL		0x7ff
#define TERN_OPTION_RTR_TYPES	3
#define TERN_OPTION_MAX_MS	600000
#define TERN_OPTION_FPDU_MIN	1024
#define TERN_OPTION_FPDU_MAX	64750	/* with headers 64768, the longest ULPDU */

/**
 * struct tern_qp_options - options of a QP's next connection
 * @mask: enum tern_option: the valid fields; the device's settings hold for the others
 * @markers: 1: ask for markers in what we receive
 * @crc: 1: we ask for CRC; it is on when either end asks
 * @version: of DDP and RDMAP: 0 (RDMAC) or 1 (IETF); the other is refused
 * @mpa_rev: highest MPA revision: 1 or 2; only with version 1
 * @enhanced: 1: initiator: enhanced setup (RFC 6581), implies revision 2
 * @p2p: 1: initiator: peer-to-peer, implies @enhanced; the connection fails without
 * @rtr: enum tern_abi_rtr by preference, each at most once, at least one
 * @extensions: enum tern_extensions; zero without its bit, as @features and @max_fpdu
 * @features: enum tern_feature: what a hello offers, or an answer grants
 * @rtr_ms: responder: time to wait for the RTR, 1..TERN_OPTION_MAX_MS
 * @max_fpdu: payload of a Send in a long FPDU, TERN_OPTION_FPDU_MIN..TERN_OPTION_FPDU_MAX;
 *	0: what fits into a TCP segment, as to a peer that did not agree on long FPDUs
 * @reserved1: zero
 */
struct tern_qp_options {
	__u32 mask;
	__u8 markers;
	__u8 crc;
	__u8 version;
	__u8 mpa_rev;
	__u8 enhanced;
	__u8 p2p;
	__u8 rtr[TERN_OPTION_RTR_TYPES];
	__u8 extensions;
	__u16 features;
	__u32 rtr_ms;
	__u32 max_fpdu;
	__u32 reserved1[2];
};

/**
 * struct tern_mpa_side - one end's MPA startup frame
 * @there: 1: the frame was sent or received; else all is zero
 * @rev: revision
 * @flags: octet 16 of the frame: M, C, R, S
 * @enhanced: 1: @ird and @ord are valid
 * @ird: first word of the enhanced data, A and B included
 * @ord: second word, C and D included
 * @pd_len: bytes of private data for the ULP
 * @reserved: zero
 */
struct tern_mpa_side {
	__u8 there;
	__u8 rev;
	__u8 flags;
	__u8 enhanced;
	__u16 ird;
	__u16 ord;
	__u16 pd_len;
	__u16 reserved;
};

/**
 * enum tern_report_flags - flags of struct tern_qp_report
 * @TERN_REPORT_CONNECTED: Full Operation began; only then the flags from
 *	@TERN_REPORT_CRC on, and the fields after @term_rx, are valid
 * @TERN_REPORT_INITIATOR: our end sent the Request
 * @TERN_REPORT_RETRIED: this is the plain attempt after an enhanced one
 * @TERN_REPORT_TERM_TX: @term_tx is valid
 * @TERN_REPORT_TERM_RX: @term_rx is valid
 * @TERN_REPORT_CRC: CRC in both directions
 * @TERN_REPORT_TX_MARKERS: we send markers
 * @TERN_REPORT_RX_MARKERS: we receive markers
 * @TERN_REPORT_P2P: peer-to-peer model
 * @TERN_REPORT_DECIDED: @features is final, unless a late answer comes
 */
enum tern_report_flags {
	TERN_REPORT_CONNECTED = 1 << 0,
	TERN_REPORT_INITIATOR = 1 << 1,
	TERN_REPORT_RETRIED = 1 << 2,
	TERN_REPORT_TERM_TX = 1 << 3,
	TERN_REPORT_TERM_RX = 1 << 4,
	TERN_REPORT_CRC = 1 << 5,
	TERN_REPORT_TX_MARKERS = 1 << 6,
	TERN_REPORT_RX_MARKERS = 1 << 7,
	TERN_REPORT_P2P = 1 << 8,
	TERN_REPORT_DECIDED = 1 << 9,
};

/**
 * struct tern_qp_report - what a QP asked for and got
 * @asked: the options as they were set
 * @own: our frame in the last startup
 * @peer: the peer's
 * @flags: enum tern_report_flags
 * @term_tx: Terminate sent: layer << 12 | etype << 8 | code
 * @term_rx: Terminate received, likewise
 * @version: DDP and RDMAP version
 * @mpa_rev: revision of the Reply
 * @rtr: enum tern_abi_rtr: RTR that was sent or received
 * @reserved0: zero
 * @ird: inbound Reads at once
 * @ord: outbound Reads at once
 * @emss: TCP's current MSS
 * @mulpdu: largest ULPDU that is sent now
 * @features: enum tern_feature that both ends agreed on
 */
struct tern_qp_report {
	struct tern_qp_options asked;
	struct tern_mpa_side own;
	struct tern_mpa_side peer;
	__u32 flags;
	__u32 term_tx;
	__u32 term_rx;
	__u8 version;
	__u8 mpa_rev;
	__u8 rtr;
	__u8 reserved0;
	__u16 ird;
	__u16 ord;
	__u32 emss;
	__u32 mulpdu;
	__u32 features;
};

/**
 * struct tern_dv_device - options that a QP of the device may have
 * @settings: the device's settings as options, all of them valid; @version is
 *	that of a connection that we initiate
 * @versions: DDP and RDMAP versions that a QP may have, BIT(version)
 * @mpa_revs: MPA revisions that the device knows, BIT(revision)
 * @rtr_types: RTR types that the device knows, BIT(enum tern_abi_rtr)
 * @features: enum tern_feature that the device knows
 * @choice: enum tern_option: options that a QP of this device may set
 * @max_rtr_ms: largest @rtr_ms
 * @max_ird: most inbound Reads at once
 * @max_ord: most outbound Reads at once
 * @max_pd: most bytes of private data in a frame
 * @max_pd_enhanced: likewise, in an enhanced frame
 */
struct tern_dv_device {
	struct tern_qp_options settings;
	__u8 versions;
	__u8 mpa_revs;
	__u8 rtr_types;
	__u8 features;
	__u32 choice;
	__u32 max_rtr_ms;
	__u16 max_ird;
	__u16 max_ord;
	__u16 max_pd;
	__u16 max_pd_enhanced;
};

enum tern_uverbs_objects {
	TERN_OBJECT_DOORBELL = (1U << 12),	/* UVERBS_ID_NS_SHIFT */
	TERN_OBJECT_DV,
};

enum tern_uverbs_methods {
	TERN_METHOD_DOORBELL_ALLOC = (1U << 12),
};

enum tern_uverbs_attrs {
	TERN_ATTR_DOORBELL_ALLOC_FD = (1U << 12),
};

/**
 * enum tern_dv_methods - methods of TERN_OBJECT_DV
 * @TERN_METHOD_DV_DEVICE: read struct tern_dv_device
 * @TERN_METHOD_DV_SET_OPTIONS: replace all options of a QP, while it has no
 *	connection. Errors: EOPNOTSUPP a bit or field that the kernel does not
 *	know; EINVAL a value out of range, or options that contradict each
 *	other; EPFNOSUPPORT a version or revision that the device's type of RNIC
 *	does not allow; ENOPROTOOPT markers switched off where version 0 needs
 *	them; EISCONN the QP is not idle: it is, or was, connected, or starts up
 * @TERN_METHOD_DV_REPORT: read struct tern_qp_report
 *
 * All methods: ENOENT no such handle in this context, EINVAL the handle is not
 * a QP's, EBUSY the QP is being destroyed, EIO the device is gone. A connect or
 * accept fails with EPFNOSUPPORT or ENOPROTOOPT if the device's settings
 * changed since, an accept also if the Request's revision is not the one that
 * was set.
 */
enum tern_dv_methods {
	TERN_METHOD_DV_DEVICE = (1U << 12),
	TERN_METHOD_DV_SET_OPTIONS,
	TERN_METHOD_DV_REPORT,
};

enum tern_dv_device_attrs {
	TERN_ATTR_DV_DEVICE_OUT = (1U << 12),
};

enum tern_dv_option_attrs {
	TERN_ATTR_DV_OPTIONS_QP = (1U << 12),
	TERN_ATTR_DV_OPTIONS_IN,
};

enum tern_dv_report_attrs {
	TERN_ATTR_DV_REPORT_QP = (1U << 12),
	TERN_ATTR_DV_REPORT_OUT,
};

#endif /* _UAPI_TERN_ABI_H */
