/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The scripted peer: a TCP connection to the device under test, the MPA startup in
 * either role, FPDUs with or without markers and CRC, correct or faulty. It sends only
 * what the test says, and reads with a time limit.
 *
 * A function that "leaves the test" does so through must().
 */
#ifndef PEER_H
#define PEER_H

#include "wire.h"

enum peer_end { PEER_OPEN, PEER_FIN, PEER_RST };

#define TRACE_LEN	128

/* the last bytes of a direction, for the report on a failed test */
struct trace {
	uint8_t bytes[TRACE_LEN];
	uint64_t total;
};

/**
 * struct peer - one TCP connection to the device under test
 * @fd: its socket
 * @crc: generate and check CRCs
 * @tx_markers: put markers into what we send (the device asked for them)
 * @rx_markers: what the device sends has markers (we asked for them)
 * @version: DDP and RDMAP version: 0 or 1; the builders below use it
 * @tx_v2, @rx_v2: RDMAP version 2 is in force in this direction, DDP stays at 1
 * @tx_pos, @rx_pos: bytes of Full Operation so far, with markers
 * @tx_msn: MSN of our next message on QN 0 to 3
 * @rx_msn: MSN that the device's next message on QN 0 to 3 must have
 * @request, @reply: the frames, after they were sent or received
 * @end: how the device has closed, if it has
 * @port: TCP port of our end
 *
 * A test may change the fields between two calls.
 */
struct peer {
	int fd;
	bool crc;
	bool tx_markers;
	bool rx_markers;
	uint8_t version;
	bool tx_v2;
	bool rx_v2;
	uint64_t tx_pos;
	uint64_t rx_pos;
	uint32_t tx_msn[4];
	uint32_t rx_msn[4];
	struct mpa_frame request;
	struct mpa_frame reply;
	/* the rest is peer.c's */
	uint8_t *in;		/* received bytes: those handed out, then unread ones */
	size_t in_len;
	size_t in_used;		/* handed out, dropped at the next receive */
	size_t in_room;
	uint8_t *ulpdu;		/* without markers */
	enum peer_end end;
	bool cut;		/* a send found the connection reset */
	uint16_t port;
	struct trace sent, received;
	struct peer *next;
};

/* the options of a TCP connection */
struct peer_tcp {
	int mss;	/* TCP_MAXSEG of our end before it connects or listens, or 0 */
	int rcvbuf;	/* SO_RCVBUF, or 0 */
};

/* ---- TCP: all leave the test when they fail; the runner closes them ---- */

/* connect to the device, which listens at @port (agent_listen()) */
struct peer *peer_connect(uint16_t port, const struct peer_tcp *how);

/* listen for the device's connection (agent_connect()); Return: the port */
uint16_t peer_listen(const struct peer_tcp *how);

/* accept the device's connection within @ms; Return: NULL when none came */
struct peer *peer_accept(int ms);

void peer_close(struct peer *p);	/* close(): FIN, or RST if bytes were unread */
void peer_reset(struct peer *p);	/* RST */
void peer_shutdown(struct peer *p);	/* FIN of our half */

/* Send raw bytes in one send(), or in pieces of @piece bytes (TCP_NODELAY, one segment
 * each). Bytes for a device that has closed are dropped: the test will find the end. */
void peer_send(struct peer *p, const void *data, size_t len);
void peer_send_pieces(struct peer *p, const void *data, size_t len, size_t piece);
/* send one byte, to which TCP's urgent pointer points */
void peer_send_urgent(struct peer *p, uint8_t byte);

/* read within @ms; Return: bytes read (up to @len), 0 at the end or on timeout */
size_t peer_recv(struct peer *p, void *buf, size_t len, int ms);

/* discard until the device closes, at most @ms */
enum peer_end peer_wait_end(struct peer *p, int ms);

/* leave the test unless the device closes (FIN or RST) within 1 s (with patience)
 * without sending another byte */
void must_close_silently(struct peer *p);
/* the same with FIN only */
void must_fin_silently(struct peer *p);
/* leave the test if a byte or the end comes within @ms */
void must_be_silent(struct peer *p, int ms);

/* Wait up to @ms for at least @want unread bytes; Return: how many there are, in @at,
 * which is valid until the next receive. They stay unread. */
size_t peer_look(struct peer *p, size_t want, int ms, const uint8_t **at);
/* mark @len of them as read */
void peer_take(struct peer *p, size_t len);

/* for the runner: close all connections (RST) and listeners; free them; print the last
 * bytes of each in lines of "# " */
void peers_close(void);
void peers_free(void);
void peers_trace(void);

/* ---- MPA startup ---- */

void peer_send_frame(struct peer *p, const struct mpa_frame *f);

/* Receive the device's Request or Reply within @ms; Return: false when it closed or
 * the time ran out. Leaves the test when what came is no frame of that kind. */
bool peer_recv_frame(struct peer *p, bool reply, struct mpa_frame *f, int ms);

/* Take @request and @reply (either side's) as the agreement: sets crc, tx_markers,
 * rx_markers and version by the rules of RFC 5044. @initiator: we sent the Request. */
void peer_agree(struct peer *p, bool initiator);

/* ---- FPDUs ---- */

/* the faults of an FPDU that we send; all 0 is a good one */
struct fpdu_fault {
	uint32_t crc_xor;	/* XORed to the CRC field */
	uint8_t pad;		/* value of the pad bytes, which the CRC covers */
	bool pad_not_in_crc;	/* the CRC is that of a pad of 0 */
	uint16_t marker_xor;	/* XORed to FPDUPTR of every marker; the CRC covers it */
	uint16_t marker_rsvd;	/* reserved half of every marker; the CRC covers it */
	int length_delta;	/* added to ULPDU_Length; the CRC covers it */
	bool last_marker_only;	/* marker_xor changes the last marker of the FPDU only */
};

/* Build an FPDU as it would be sent now, and advance tx_pos. @out has room for 2 * len
 * + 64 bytes; @fault may be NULL. Return: bytes of the FPDU. */
size_t fpdu_build(struct peer *p, const void *ulpdu, size_t len,
		  const struct fpdu_fault *fault, void *out);

void peer_send_fpdu(struct peer *p, const void *ulpdu, size_t len);

/**
 * struct fpdu - an FPDU that the device sent
 * @seg: its DDP segment
 * @bytes: the bytes as they came, with markers, from the leading marker, if
 *	there is one, through the CRC
 * @wire_len: number of these bytes
 * @crc_ok: the CRC field is right (checked even if CRC is off)
 * @crc: value of the field
 * @pad_ok: the pad is 0
 * @markers: number of markers, with the leading one
 * @markers_ok: each FPDUPTR is right and each reserved half is 0
 *
 * Its memory is valid until the next receive on that peer.
 */
struct fpdu {
	struct seg seg;
	const uint8_t *bytes;
	size_t wire_len;
	bool crc_ok;
	uint32_t crc;
	bool pad_ok;
	unsigned int markers;
	bool markers_ok;
};

/* Receive the device's next FPDU within @ms; Return: false when none came. Leaves the
 * test when it is badly framed: CRC (if on), markers, pad, a segment too short. */
bool peer_recv_fpdu(struct peer *p, struct fpdu *f, int ms);

/* the same without these checks, for tests of them; false also for a bad header */
bool peer_recv_fpdu_raw(struct peer *p, struct fpdu *f, int ms);

/* ---- segments: built into @out, which has room for ULPDU_MAX + 64; Return: bytes.
 * DDP and RDMAP version as in @p. The MSN is taken from tx_msn, which goes up after
 * @last. ---- */

/* the RDMAP version of each direction */
uint8_t peer_tx_rv(const struct peer *p);
uint8_t peer_rx_rv(const struct peer *p);

/* an untagged segment with any body, on the queue of @op */
uint32_t seg_untagged(struct peer *p, enum rdmap_op op, uint32_t mo, const void *data,
		      uint32_t len, bool last, void *out);
uint32_t seg_write(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		   uint32_t len, bool last, void *out);
uint32_t seg_send(struct peer *p, enum rdmap_op op, uint32_t inv_stag, uint32_t mo,
		  const void *data, uint32_t len, bool last, void *out);
uint32_t seg_read_req(struct peer *p, uint32_t sink_stag, uint64_t sink_to,
		      uint32_t size, uint32_t src_stag, uint64_t src_to, void *out);
uint32_t seg_read_resp(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		       uint32_t len, bool last, void *out);
uint32_t seg_terminate(struct peer *p, uint8_t layer, uint8_t etype, uint8_t code,
		       void *out);

/* the same, sent as one FPDU */
void send_write(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		uint32_t len);
void send_send(struct peer *p, const void *data, uint32_t len);
void send_read_req(struct peer *p, uint32_t sink_stag, uint64_t sink_to,
		   uint32_t size, uint32_t src_stag, uint64_t src_to);
void send_read_resp(struct peer *p, uint32_t stag, uint64_t to, const void *data,
		    uint32_t len);

/* ---- what the device must do: all leave the test if it does not ---- */

/* receive the next FPDU, within the usual time */
void must_get_fpdu(struct peer *p, struct fpdu *f);

/* ... which is of @op and has the right T bit, QN and MSN; rx_msn goes up */
void must_get_op(struct peer *p, struct fpdu *f, enum rdmap_op op);
/* the same for one that was received already */
void must_be_op(struct peer *p, const struct seg *s, enum rdmap_op op);

/* The next FPDU, after others if @skip_others, is a Terminate with this triplet, and
 * only the end follows. @t may be NULL. */
void must_get_terminate(struct peer *p, uint8_t layer, uint8_t etype, uint8_t code,
			bool skip_others, struct term *t);

/* the device still works: it answers a zero-length Read Request */
void must_be_alive(struct peer *p);

#endif /* PEER_H */
