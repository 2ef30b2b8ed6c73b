/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The ABI between tern.ko and its rdma-core provider.
 *
 * Every queue is one mapping: a struct tern_ring_hdr, then @entries entries of
 * @stride octets from TERN_RING_DATA on. @entries is a power of two; the
 * indices run freely over 32 bits and are masked at the access, so
 * (producer - consumer) is the fill level, 0..@entries. All integers are in
 * host byte order unless their type says otherwise. No pointer ever sits in
 * shared memory, and the kernel reads an entry once, into its own memory,
 * before it looks at it.
 *
 * Publishing: the writer fills the entries, then stores the producer index
 * with release semantics; the reader loads it with acquire semantics. The same
 * holds for the consumer index the other way.
 */
#ifndef _UAPI_TERN_ABI_H
#define _UAPI_TERN_ABI_H

#include <linux/types.h>

#define TERN_ABI_VERSION	1

/* "tern": private to this driver, never one of enum rdma_driver_id */
#define TERN_DRIVER_ID		0x7465726e

#define TERN_MAX_SGE		16	/* per work request, send and receive */
#define TERN_MAX_INLINE		256	/* octets */
#define TERN_CACHELINE		64
#define TERN_RING_DATA		256	/* offset of the first entry in a mapping */

/**
 * struct tern_ring_hdr - the control words of one shared queue
 * @prod: index of the next entry to be published; written by the producer
 * @cons: index of the next entry to be consumed; written by the consumer
 * @flags: SQ and RQ: enum tern_ring_flags, written by the kernel.
 *	CQ: enum tern_cq_arm, set by the program, taken (exchanged with
 *	TERN_CQ_ARM_NONE) by the kernel when it raises the event
 *
 * @event: CQ: @prod when the kernel raised the last event; written by the kernel
 *
 * Each word has a cache line of its own. For SQ, RQ and SRQ the program is the
 * producer, for a CQ the kernel is. The program's side is never trusted: an
 * index that is out of range moves the QP to ERROR, or the CQ to overflow.
 */
struct tern_ring_hdr {
	__u32 prod;
	__u8 pad0[TERN_CACHELINE - 4];
	__u32 cons;
	__u8 pad1[TERN_CACHELINE - 4];
	__u32 flags;
	__u8 pad2[TERN_CACHELINE - 4];
	__u32 event;
	__u8 pad3[TERN_CACHELINE - 4];
};

/**
 * enum tern_ring_flags - what the kernel tells the producer of an SQ or RQ
 * @TERN_RING_BUSY: SQ: a drain is running and will look at @prod again before
 *	it ends: no doorbell is needed
 * @TERN_RING_KICK: RQ: the QP flushes; ring the doorbell after each post
 *
 * The producer stores @prod, executes a full barrier, then reads @flags; the
 * kernel stores @flags, executes a full barrier, then reads @prod.
 */
enum tern_ring_flags {
	TERN_RING_BUSY = 1 << 0,
	TERN_RING_KICK = 1 << 1,
};

/**
 * enum tern_cq_arm - the completion event a CQ waits for
 * @TERN_CQ_ARM_NONE: none
 * @TERN_CQ_ARM_SOLICITED: the next solicited or failed completion
 * @TERN_CQ_ARM_NEXT: the next completion of any kind
 *
 * The program raises the word only (NEXT stays NEXT when SOLICITED is asked
 * for), executes a full barrier, and polls once more. Where completions are in
 * the ring that no event was raised for (@prod is neither its own index nor
 * @event), it calls REQ_NOTIFY_CQ too, which raises the event at once: programs
 * that arm late and then wait, as perftest does, wait for what is there.
 */
enum tern_cq_arm {
	TERN_CQ_ARM_NONE = 0,
	TERN_CQ_ARM_SOLICITED = 1,
	TERN_CQ_ARM_NEXT = 2,
};

/**
 * enum tern_wr_opcode - work request opcodes, also in completions
 * @TERN_WR_RECV: completions only: an entry of an RQ or SRQ
 * @TERN_WR_BIND_MW: reserved for memory windows
 *
 * REG_MR to READ_WITH_INV can be posted by kernel users only.
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
	TERN_WR_RECV = 32,
};

/**
 * enum tern_wr_flags - flags of a send queue entry
 * @TERN_WR_SIGNALED: write a completion on success too
 * @TERN_WR_SOLICITED: Send types: ask the peer for a solicited event
 * @TERN_WR_FENCE: start only when all earlier Reads have completed
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
 * @addr: address (iova) of the first octet
 * @length: octets, 0..2^32-1
 * @lkey: local key (STag) that covers it
 */
struct tern_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct tern_sqe - one send queue entry
 * @opcode: enum tern_wr_opcode
 * @num_sge: elements of @sge in use, 0..TERN_MAX_SGE; 0 with TERN_WR_INLINE
 * @reserved0: zero
 * @flags: enum tern_wr_flags
 * @wr_id: returned in the completion
 * @remote_addr: RDMA Write and Read: tagged offset at the peer.
 *	REG_MR: the new iova
 * @rkey: RDMA Write and Read: STag at the peer. REG_MR: the new key
 * @ex: SEND_WITH_INV: the STag to invalidate at the peer. LOCAL_INV,
 *	BIND_MW, REG_MR: the local key of the object
 * @imm: 8 octets of immediate data in wire order, reserved (zero)
 * @inline_len: payload octets in the entry, with TERN_WR_INLINE
 * @access: REG_MR: enum ib_access_flags
 * @sge: scatter/gather list; with TERN_WR_INLINE the payload starts here
 *
 * The stride of an SQ is a multiple of 64, at least
 * offsetof(sge) + max(max_send_sge * 16, max_inline_data).
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
	__u8 imm[8];
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
 * struct tern_cqe - one completion, 64 octets
 * @wr_id: of the work request
 * @opcode: enum tern_wr_opcode
 * @status: enum ib_wc_status (the numbers are those of enum ibv_wc_status)
 * @flags: enum tern_cqe_flags
 * @qpn: QP number
 * @byte_len: octets received or read
 * @vendor_err: Terminate triplet of the failure, layer << 12 | etype << 8 |
 *	code, or 0
 * @imm: 8 octets of immediate data in wire order
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
 * @max_inline: largest inline payload of a send, octets
 */
struct tern_uresp_ucontext {
	__u32 abi_version;
	__u32 max_inline;
};

/**
 * struct tern_uring - where a queue is and how it looks
 * @key: offset for mmap() on the command file
 * @size: octets to map, a multiple of the page size
 * @entries: power of two
 * @stride: octets from one entry to the next, a multiple of 64
 */
struct tern_uring {
	__aligned_u64 key;
	__aligned_u64 size;
	__u32 entries;
	__u32 stride;
};

/**
 * struct tern_uresp_create_cq - answer to CREATE_CQ and RESIZE_CQ
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
 * @max_inline: octets of inline payload an entry of @sq holds
 */
struct tern_uresp_create_qp {
	struct tern_uring sq;
	struct tern_uring rq;
	__u32 qpn;
	__u32 max_inline;
};

/* ---- the doorbell ------------------------------------------------------- */

/*
 * A file descriptor per context, made by a driver method of the uverbs
 * ioctl() interface. ioctl(fd, TERN_IOC_DOORBELL, qpn) makes the kernel look
 * at the queues of that QP. Errors: EINVAL for an unknown command, ENOENT for a
 * QP that is not of this context, EIO once the device is gone.
 */
#define TERN_IOC_DOORBELL	0x7401

enum tern_uverbs_objects {
	TERN_OBJECT_DOORBELL = (1U << 12),	/* UVERBS_ID_NS_SHIFT */
};

enum tern_uverbs_methods {
	TERN_METHOD_DOORBELL_ALLOC = (1U << 12),
};

enum tern_uverbs_attrs {
	TERN_ATTR_DOORBELL_ALLOC_FD = (1U << 12),
};

#endif /* _UAPI_TERN_ABI_H */
