/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Steps that the tests of MPA share: FPDUs that begin or end at a chosen phase, long
 * messages of the device, and checks of their layout. The arithmetic of markers and
 * pads (RFC 5044 4.1 and 4.3) is written a second time here, independent of
 * peer_fpdu.c.
 */
#ifndef FLOW_H
#define FLOW_H

#include "session.h"

#define MARKER_SPACING	512
#define MARKER_LEN	4

/* the target of the device's Writes: we have no memory, so any STag and TO will do */
#define OUR_STAG	0x11223344
#define OUR_TO		0x100000000ULL

/* size on the wire of an FPDU that begins at stream position @pos, in bytes */
size_t flow_wire_len(uint64_t pos, bool markers, uint32_t ulpdu_len);

/* Return: ULPDU_Length of an FPDU that begins at @pos and ends where the position
 * modulo 512 is @phase (0, or 8, 12 ... 508); it has room for the header of a Write */
uint32_t flow_ulpdu_to(uint64_t pos, bool markers, uint32_t phase);

/* we (or the device) send Writes until the next FPDU begins at @phase */
void flow_we_fill(struct session *s, const struct agent_mr *mr, uint32_t phase);
void flow_device_fills(struct session *s, const struct agent_mr *mr, uint32_t phase);

/* the device's largest ULPDU by RFC 5044 4.5 */
uint32_t flow_mulpdu(uint32_t emss, bool markers);

/* the EMSS of our TCP now, which is the device's, too: both ends see one path */
uint32_t flow_emss(const struct session *s);

/* Receive the device's next FPDU, a Write. Leaves the test unless its markers, pad,
 * CRC (when on) and length on the wire are right. */
void flow_must_be_framed(struct session *s, struct fpdu *f);

typedef void (*flow_each)(const struct fpdu *f, void *arg);

/* The device writes @len bytes of @mr to OUR_STAG, OUR_TO. Each FPDU is checked as
 * above, must continue the one before and hold @data (NULL: not compared), and is
 * passed to @each (or NULL). Return: the number of FPDUs. */
unsigned int flow_device_writes(struct session *s, const struct agent_mr *mr,
				uint32_t len, const uint8_t *data, flow_each each,
				void *arg);

/* post a Send of the first @len bytes of @mr; it completes */
void flow_device_sends(struct session *s, const struct agent_mr *mr, uint32_t len);

/* the next @len bytes from the device are @want */
void flow_must_get_bytes(struct session *s, const char *what, const void *want,
			 size_t len);

/* the device takes @bytes as its first FPDU: a Send of 24 zeros */
void flow_zeros_are_taken(struct session *s, const void *bytes, size_t len);

/* send a Write of @len bytes of @data to @mr + @at as one FPDU, with @fault */
void flow_we_write(struct session *s, const struct agent_mr *mr, size_t at,
		   const void *data, uint32_t len, const struct fpdu_fault *fault);

/* register a memory region with these bytes */
struct agent_mr flow_mr(const char *access, const void *data, size_t len);

/* leave the test unless the next completion is of @wr_id with @status */
void flow_must_get_wc(uint64_t wr_id, const char *status);

/* The startup by hand, with @pd_len bytes of private data in our frame, sent in pieces
 * of @piece bytes (0: in one). The device's fence stays shut, and the device has sent
 * nothing, unless it is a peer-to-peer initiator. */
void flow_start(struct session *s, uint16_t pd_len, size_t piece);

/* the usual session, but the device asks for markers in what it receives */
struct session flow_marked_session(void);

/* A client-server responder may not send first, so when we are one, the device sends a
 * zero-length Write. */
void flow_device_speaks(struct session *s);

#endif /* FLOW_H */
