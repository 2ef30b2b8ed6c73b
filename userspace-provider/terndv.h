/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * What the APIs of libibverbs and librdmacm cannot express: how a QP's connection is
 * started (MPA markers and CRC, version, peer-to-peer model, extensions), what was agreed
 * on, and the work requests of RFC 7306 and RDMAP version 2 in full: masks of atomics,
 * and immediate data of 8 bytes. Programs link with -ltern; see terndv(7).
 */
#ifndef TERNDV_H
#define TERNDV_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum terndv_error - errors of functions that set options
 * @TERNDV_ERR_VERSION: version not supported
 * @TERNDV_ERR_MARKERS: disabling markers not supported
 * @TERNDV_ERR_STATE: the QP is, or was, connected, or is connecting
 *
 * Others: EINVAL for values out of range and options that contradict each other,
 * EOPNOTSUPP for what the library or the kernel does not know, and for a device of
 * another driver.
 */
enum terndv_error {
	TERNDV_ERR_VERSION = EPFNOSUPPORT,
	TERNDV_ERR_MARKERS = ENOPROTOOPT,
	TERNDV_ERR_STATE = EISCONN,
};

/**
 * enum terndv_rtr - Ready-to-receive types of the peer-to-peer model
 * @TERNDV_RTR_NONE: ends a list
 * @TERNDV_RTR_WRITE: a zero-length RDMA Write
 * @TERNDV_RTR_READ: a zero-length RDMA Read
 * @TERNDV_RTR_SEND: a zero-length Send
 */
enum terndv_rtr {
	TERNDV_RTR_NONE,
	TERNDV_RTR_WRITE,
	TERNDV_RTR_READ,
	TERNDV_RTR_SEND,
};

#define TERNDV_RTR_TYPES 3

/**
 * enum terndv_extensions - how a connection gets extensions of RDMAP
 * @TERNDV_EXTENSIONS_OFF: it has none
 * @TERNDV_EXTENSIONS_NEGOTIATE: those that both ends agree on by hello. A request that
 *	needs one waits until that is decided
 * @TERNDV_EXTENSIONS_ASSUME_7306: likewise, but RFC 7306 needs no hello: the peer is
 *	known to have it
 */
enum terndv_extensions {
	TERNDV_EXTENSIONS_OFF,
	TERNDV_EXTENSIONS_NEGOTIATE,
	TERNDV_EXTENSIONS_ASSUME_7306,
};

/**
 * enum terndv_feature - what two ends may agree on
 * @TERNDV_FEATURE_7306: RFC 7306: atomics, RDMA Write with Immediate
 * @TERNDV_FEATURE_V2: RDMAP version 2: Send with Immediate; only with RFC 7306
 * @TERNDV_FEATURE_LONG_FPDU: FPDUs longer than a TCP segment
 */
enum terndv_feature {
	TERNDV_FEATURE_7306 = 1 << 0,
	TERNDV_FEATURE_V2 = 1 << 1,
	TERNDV_FEATURE_LONG_FPDU = 1 << 2,
};

#define TERNDV_IMM_SIZE 8	/* bytes of immediate data in a message */

/**
 * enum terndv_qp_init_attr_mask - which fields of struct terndv_qp_init_attr are set
 */
enum terndv_qp_init_attr_mask {
	TERNDV_QP_MARKERS = 1 << 0,
	TERNDV_QP_CRC = 1 << 1,
	TERNDV_QP_VERSION = 1 << 2,
	TERNDV_QP_MPA_REV = 1 << 3,
	TERNDV_QP_ENHANCED = 1 << 4,
	TERNDV_QP_P2P = 1 << 5,
	TERNDV_QP_RTR = 1 << 6,
	TERNDV_QP_RTR_TIMEOUT = 1 << 7,
	TERNDV_QP_EXTENSIONS = 1 << 8,
	TERNDV_QP_FEATURES = 1 << 9,
	TERNDV_QP_MAX_FPDU = 1 << 10,
};

/**
 * struct terndv_qp_init_attr - options of a QP's connection; the settings of the
 *	device hold for those that are not set
 * @comp_mask: enum terndv_qp_init_attr_mask
 * @markers: receive with MPA markers (the peer decides whether we send with them)
 * @crc: ask for CRC; it is on when either end asks
 * @p2p: as initiator: ask for the peer-to-peer model (RFC 6581), and fail
 *	without it; implies @enhanced
 * @enhanced: as initiator: ask for the enhanced setup, which negotiates IRD and
 *	ORD; implies revision 2
 * @version: of DDP and RDMAP: 1 for IETF, 0 for RDMAC peers
 * @mpa_rev: highest MPA revision: 1 or 2
 * @rtr: enum terndv_rtr in order of preference
 * @extensions: enum terndv_extensions
 * @features: enum terndv_feature: what we offer, or grant when the peer offers
 * @rtr_timeout_ms: as responder: how long to wait for the peer's RTR
 * @max_fpdu: payload of a Send in an FPDU, 1024 to 64750 bytes, towards a peer that agreed
 *	on long FPDUs; 0: what fits into a TCP segment
 * @reserved: room for more
 */
struct terndv_qp_init_attr {
	uint64_t comp_mask;
	bool markers;
	bool crc;
	bool p2p;
	bool enhanced;
	uint8_t version;
	uint8_t mpa_rev;
	uint8_t rtr[TERNDV_RTR_TYPES];
	uint8_t extensions;
	uint16_t features;
	uint32_t rtr_timeout_ms;
	uint32_t max_fpdu;
	uint32_t reserved[3];
};

/**
 * struct terndv_device_attr - a device
 * @settings: options of a QP that sets none
 * @selectable: enum terndv_qp_init_attr_mask: options that a QP may set
 * @versions: DDP and RDMAP versions that a QP may have, 1 << version
 * @mpa_revs: MPA revisions, 1 << revision
 * @rtr_types: 1 << enum terndv_rtr
 * @max_rtr_timeout_ms: longest @rtr_timeout_ms
 * @max_ird: most inbound Reads at once
 * @max_ord: most outbound Reads at once
 * @max_pd: bytes of private data that a frame has room for
 * @max_pd_enhanced: likewise, when it is enhanced
 * @features: enum terndv_feature that the device knows
 */
struct terndv_device_attr {
	struct terndv_qp_init_attr settings;
	uint64_t selectable;
	uint32_t versions;
	uint32_t mpa_revs;
	uint32_t rtr_types;
	uint32_t max_rtr_timeout_ms;
	uint16_t max_ird;
	uint16_t max_ord;
	uint16_t max_pd;
	uint16_t max_pd_enhanced;
	uint32_t features;
};

/* octet 16 of an MPA frame, and the two words of its enhanced data */
enum terndv_mpa_bits {
	TERNDV_MPA_MARKERS = 0x80,
	TERNDV_MPA_CRC = 0x40,
	TERNDV_MPA_REJECT = 0x20,
	TERNDV_MPA_ENHANCED = 0x10,

	TERNDV_MPA_IRD_P2P = 0x8000,	/* A */
	TERNDV_MPA_IRD_SEND = 0x4000,	/* B */
	TERNDV_MPA_ORD_WRITE = 0x8000,	/* C */
	TERNDV_MPA_ORD_READ = 0x4000,	/* D */
	TERNDV_MPA_DEPTH = 0x3fff,	/* as a value: not negotiated */
};

/**
 * struct terndv_mpa_frame - one end's frame of the startup, as on the wire
 * @there: it was sent or received; else all fields are zero
 * @enhanced: @ird and @ord were in it
 * @rev: revision
 * @flags: enum terndv_mpa_bits
 * @ird: enum terndv_mpa_bits, and the number of Reads in the lower 14
 * @ord: likewise
 * @pd_len: bytes of the program's private data
 */
struct terndv_mpa_frame {
	bool there;
	bool enhanced;
	uint8_t rev;
	uint8_t flags;
	uint16_t ird;
	uint16_t ord;
	uint16_t pd_len;
};

/**
 * struct terndv_qp_attr - options of a QP, and what was agreed on
 * @asked: its options
 * @own: our frame of the last startup, also when that failed
 * @peer: the peer's
 * @initiator: we sent the Request
 * @retried: this is the plain attempt after an enhanced one
 * @term_sent: @term_tx is valid
 * @term_received: @term_rx is valid
 * @connected: it is, or was, connected, and the fields below are valid
 * @crc: CRC in both directions
 * @tx_markers: we send markers
 * @rx_markers: we receive markers
 * @p2p: peer-to-peer model
 * @version: of DDP and RDMAP
 * @mpa_rev: revision of the Reply
 * @rtr: enum terndv_rtr: what was sent or received as RTR
 * @ird: inbound Reads at once
 * @ord: outbound Reads at once
 * @emss: TCP's maximum segment size now
 * @mulpdu: largest ULPDU that is sent now
 * @term_tx: last Terminate sent: layer << 12 | etype << 8 | code
 * @term_rx: last Terminate received, likewise
 * @features: enum terndv_feature that both ends agreed on
 * @decided: @features is final, but for an answer that comes after all. Before, requests
 *	that need a feature wait
 */
struct terndv_qp_attr {
	struct terndv_qp_init_attr asked;
	struct terndv_mpa_frame own;
	struct terndv_mpa_frame peer;
	bool initiator;
	bool retried;
	bool term_sent;
	bool term_received;
	bool connected;
	bool crc;
	bool tx_markers;
	bool rx_markers;
	bool p2p;
	uint8_t version;
	uint8_t mpa_rev;
	uint8_t rtr;
	uint16_t ird;
	uint16_t ord;
	uint32_t emss;
	uint32_t mulpdu;
	uint32_t term_tx;
	uint32_t term_rx;
	uint32_t features;
	bool decided;
};

/* is this a device of tern? */
bool terndv_is_supported(struct ibv_device *device);

/**
 * terndv_query_device() - options and limits of the QPs of a device
 * @context: an open device
 * @attr: filled in
 * @size: of *@attr
 *
 * Return: 0 or an errno.
 */
int terndv_query_device(struct ibv_context *context,
			struct terndv_device_attr *attr, size_t size);

/**
 * terndv_create_qp() - ibv_create_qp_ex() with options
 * @context: an open device
 * @attr: as for ibv_create_qp_ex()
 * @options: when they cannot be granted, errno has one of enum terndv_error
 *
 * Return: the QP, or NULL with errno set.
 */
struct ibv_qp *terndv_create_qp(struct ibv_context *context,
				struct ibv_qp_init_attr_ex *attr,
				const struct terndv_qp_init_attr *options);

/**
 * terndv_modify_qp() - replace all options of a QP
 * @qp: idle: before rdma_connect() or rdma_accept()
 * @options: an empty comp_mask restores the settings of the device
 *
 * Return: 0 or an errno, see enum terndv_error.
 */
int terndv_modify_qp(struct ibv_qp *qp,
		     const struct terndv_qp_init_attr *options);

/**
 * terndv_query_qp() - options of a QP, and what was agreed on
 * @qp: in any state
 * @attr: filled in
 * @size: of *@attr
 *
 * Return: 0 or an errno.
 */
int terndv_query_qp(struct ibv_qp *qp, struct terndv_qp_attr *attr,
		    size_t size);

/* ---- work requests (TERN_1.1) ----------------------------------------------- */

/*
 * Use these like ibv_wr_*(), between ibv_wr_start() and ibv_wr_complete() on a QP of
 * tern: they take wr_id and wr_flags of @qp, and ibv_wr_set_sge() and the others of its
 * kind add the payload. ibv_wr_complete() returns EOPNOTSUPP when the kernel does not
 * know the request.
 */

/**
 * terndv_wr_send_imm() - Send with Immediate, all 8 bytes of it
 * @qp: in a batch
 * @imm: in the order of the wire; ibv_wr_send_imm() sets the first four and clears the
 *	others
 */
void terndv_wr_send_imm(struct ibv_qp_ex *qp,
			const uint8_t imm[TERNDV_IMM_SIZE]);

/**
 * terndv_wr_send_inv_imm() - Send with Invalidate and Immediate
 * @qp: in a batch
 * @invalidate_rkey: key of the peer that becomes invalid
 * @imm: as for terndv_wr_send_imm()
 */
void terndv_wr_send_inv_imm(struct ibv_qp_ex *qp, uint32_t invalidate_rkey,
			    const uint8_t imm[TERNDV_IMM_SIZE]);

/**
 * terndv_wr_rdma_write_imm() - RDMA Write with Immediate
 * @qp: in a batch
 * @rkey: key of the peer
 * @remote_addr: address at the peer
 * @imm: as for terndv_wr_send_imm()
 */
void terndv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t remote_addr,
			      const uint8_t imm[TERNDV_IMM_SIZE]);

/**
 * terndv_wr_fetch_add() - FetchAdd of several fields in 64 bits (RFC 7306 5.1.1)
 * @qp: in a batch
 * @rkey: key of the peer
 * @remote_addr: address at the peer, a multiple of 8
 * @add: the addends, each in its field
 * @mask: the highest bit of each field, out of which no carry goes; 0: one field
 *
 * ibv_wr_set_sge() sets the one element that takes the old value, in the byte order of
 * this host: 8 bytes or more at a multiple of 8.
 */
void terndv_wr_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
			 uint64_t remote_addr, uint64_t add, uint64_t mask);

/**
 * struct terndv_cmp_swap - operands of a masked CmpSwap (RFC 7306 5.1.2)
 * @compare: value to compare with
 * @compare_mask: bits to compare; all zero: the values are always equal
 * @swap: value to write when they are equal
 * @swap_mask: bits to write; the others are left alone
 */
struct terndv_cmp_swap {
	uint64_t compare;
	uint64_t compare_mask;
	uint64_t swap;
	uint64_t swap_mask;
};

/**
 * terndv_wr_cmp_swap() - CmpSwap with masks
 * @qp: in a batch
 * @rkey: key of the peer
 * @remote_addr: address at the peer, a multiple of 8
 * @operands: copied at once
 *
 * The element is that of terndv_wr_fetch_add().
 */
void terndv_wr_cmp_swap(struct ibv_qp_ex *qp, uint32_t rkey,
			uint64_t remote_addr,
			const struct terndv_cmp_swap *operands);

/* ---- completions (TERN_1.1) -------------------------------------------------- */

/**
 * terndv_wc_read_imm() - all 8 bytes of immediate data
 * @cq: of tern, between ibv_start_poll() and ibv_end_poll()
 * @imm: filled in, in the order of the wire; valid with IBV_WC_WITH_IMM
 */
void terndv_wc_read_imm(struct ibv_cq_ex *cq, uint8_t imm[TERNDV_IMM_SIZE]);

/**
 * terndv_wc_read_invalidated_rkey() - the key that the peer invalidated
 * @cq: of tern, between ibv_start_poll() and ibv_end_poll()
 *
 * As ibv_wc_read_invalidated_rkey(). The verbs API has one field for the key and immediate
 * data, and in a completion with both it has the key.
 *
 * Return: the key; valid with IBV_WC_WITH_INV.
 */
uint32_t terndv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq);

#ifdef __cplusplus
}
#endif

#endif /* TERNDV_H */
