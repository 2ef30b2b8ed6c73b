/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The scripted peer: a TCP connection to the device under test, the MPA startup
 * in either role, FPDUs with or without markers and CRC, right or wrong. It sends
 * what the test says and nothing of its own accord; it reads with a time limit.
 *
 * Each function that says "leaves the test" does so through fail().
 */
#ifndef PEER_H
#define PEER_H

#include "wire.h"

enum peer_end { PEER_OPEN, PEER_FIN, PEER_RST };

#define TRACE_LEN	128

/* the last octets of a direction, for the report on a failed test */
struct trace {
	uint8_t octets[TRACE_LEN];
	uint64_t total;
};

/**
 * struct peer - one TCP connection to the device under test
 * @fd: its socket
 * @crc: generate and check CRCs
 * @tx_markers: put markers into what we send (the device asked for them)
 * @rx_markers: what the device sends has markers (we asked for them)
 * @version: DDP and RDMAP version: 0 or 1; the builders below use it
 * @tx_pos, @rx_pos: octets of Full Operation so far, markers included
 * @tx_msn: MSN of our next message on QN 0 to 3
 * @rx_msn: MSN that the device's next message on QN 0 to 3 must have
 * @request, @reply: the frames, once sent or received
 * @end: how the device has closed, once that was seen
 * @port: TCP port of our end
 *
 * The fields may be changed by a test between two calls.
 */
struct peer {
	int fd;
	bool crc;
	bool tx_markers;
	bool rx_markers;
	uint8_t version;
	uint64_t tx_pos;
	uint64_t rx_pos;
	uint32_t tx_msn[4];
	uint32_t rx_msn[4];
	struct mpa_frame request;
	struct mpa_frame reply;
	/* the rest is peer.c's */
	uint8_t *in;		/* received: first those handed out, then unread ones */
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

/* how a TCP connection is made */
struct peer_tcp {
	int mss;	/* TCP_MAXSEG of our end before it connects or listens, or 0 */
	int rcvbuf;	/* SO_RCVBUF, or 0 */
};

/* ---- TCP: all leave the test when they fail; the runner closes them ---- */

/* connect to the device, which listens at @port (agent_listen()) */
struct peer *peer_connect(uint16_t port, const struct peer_tcp *how);

/* listen for the device to connect (agent_connect()); Return: the port */
uint16_t peer_listen(const struct peer_tcp *how);

/* the connection that it made, within @ms; NULL when none came */
struct peer *peer_accept(int ms);

void peer_close(struct peer *p);	/* close(): FIN, or RST if octets were unread */
void peer_reset(struct peer *p);	/* RST */
void peer_shutdown(struct peer *p);	/* FIN of our half */

/* raw octets in one send() (what the device does not take any more, having closed, is
 * dropped: the test will see the end), or in pieces of @piece octets (TCP_NODELAY, one
 * segment each) */
void peer_send(struct peer *p, const void *data, size_t len);
void peer_send_pieces(struct peer *p, const void *data, size_t len, size_t piece);
/* one octet at which TCP's urgent pointer points */
void peer_send_urgent(struct peer *p, uint8_t octet);

/* what comes within @ms: Return octets read (up to @len), 0 at the end or time out */
size_t peer_recv(struct peer *p, void *buf, size_t len, int ms);

/* discard until the device closes, at most @ms */
enum peer_end peer_wait_end(struct peer *p, int ms);

/* leave the test unless the device closes (FIN or RST) within 1 s (with patience),
 * having sent no further octet */
void expect_closed_silently(struct peer *p);
/* the same with FIN only */
void expect_fin_silently(struct peer *p);
/* leave the test if anything, octet or end, comes within @ms */
void expect_silence(struct peer *p, int ms);

/* octets that came but were not asked for yet, after up to @ms of waiting for at
 * least @want of them; @at: where they are, until the next receive */
size_t peer_look(struct peer *p, size_t want, int ms, const uint8_t **at);
/* @len of them count as handed out */
void peer_take(struct peer *p, size_t len);

/* for the runner: close all (RST), and the listeners; forget them; print the last
 * octets of each in lines of "# " */
void peers_close(void);
void peers_free(void);
void peers_trace(void);

/* ---- MPA startup ---- */

void peer_send_frame(struct peer *p, const struct mpa_frame *f);

/* the device's Request or Reply, within @ms; Return: false when it closed or the
 * time ran out; leaves the test when what came is no frame of that kind */
bool peer_recv_frame(struct peer *p, bool reply, struct mpa_frame *f, int ms);

/* take @request, @reply (either side's) as the agreement: sets crc, tx_markers,
 * rx_markers, version by 5044 rules; @initiator: we sent the Request */
void peer_agree(struct peer *p, bool initiator);

/* ---- FPDUs ---- */

/* what may be wrong with an FPDU that is sent; 0 is a good one */
struct fpdu_fault {
	uint32_t crc_xor;	/* onto the CRC field */
	uint8_t pad;		/* value of the pad octets, CRC computed over it */
	bool pad_not_in_crc;	/* ... or over pads of 0 */
	uint16_t marker_xor;	/* onto FPDUPTR of every marker, CRC over it */
	uint16_t marker_rsvd;	/* reserved half of every marker, CRC over it */
	int length_delta;	/* onto ULPDU_Length, CRC over it */
	bool last_marker_only;	/* marker_xor hits the last marker of the FPDU only */
};

/* octets of an FPDU as it would be sent now, tx_pos moved on; @out has room for
 * 2 * len + 64; Return: how many. @fault may be NULL. */
size_t fpdu_build(struct peer *p, const void *ulpdu, size_t len,
		  const struct fpdu_fault *fault, void *out);

void peer_send_fpdu(struct peer *p, const void *ulpdu, size_t len);

/**
 * struct fpdu - one that the device sent
 * @seg: its DDP segment
 * @octets: the octets as they came, markers included, from the marker in front, if
 *	there is one, to the CRC
 * @wire_len: how many
 * @crc_ok: the CRC field is right (looked at whether CRC is on or not)
 * @crc: value of the field
 * @pad_ok: pad octets are 0
 * @markers: how many markers there are in it, the one in front included
 * @markers_ok: each points where it must, reserved half 0
 *
 * Its memory is good until the next receive on that peer.
 */
struct fpdu {
	struct seg seg;
	const uint8_t *octets;
	size_t wire_len;
	bool crc_ok;
	uint32_t crc;
	bool pad_ok;
	unsigned int markers;
	bool markers_ok;
};

/* the device's next FPDU within @ms; Return: false when there is none. Leaves the
 * test when it is badly framed: CRC (if on), markers, pad, a segment too short. */
bool peer_recv_fpdu(struct peer *p, struct fpdu *f, int ms);

/* the same without those checks, for tests of them; false also for a bad header */
bool peer_recv_fpdu_raw(struct peer *p, struct fpdu *f, int ms);

/* ---- segments: built into @out, which has room for ULPDU_MAX + 64; Return: octets.
 * DDP and RDMAP version as in @p. The MSN of a message is taken from tx_msn, and
 * counted when @last. ---- */

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

/* ---- expectations: all leave the test when they do not hold ---- */

/* the next FPDU, within the usual time */
void expect_fpdu(struct peer *p, struct fpdu *f);

/* ... is of @op with its T bit, QN and MSN right (rx_msn is counted on) */
void expect_op(struct peer *p, struct fpdu *f, enum rdmap_op op);

/* the next FPDU (others before it are skipped if @skip_others) is a Terminate with
 * this triplet; then nothing but the end follows. @t may be NULL. */
void expect_terminate(struct peer *p, uint8_t layer, uint8_t etype, uint8_t code,
		      bool skip_others, struct term *t);

/* the device is still good: a zero-length Read Request that we send is answered */
void expect_alive(struct peer *p);

#endif /* PEER_H */
