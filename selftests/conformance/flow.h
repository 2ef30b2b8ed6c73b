/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Steps that the tests of MPA share: FPDUs that begin or end where a test wants
 * them, long messages out of the device, and what must be true of their octets.
 * The arithmetic of markers and pads (RFC 5044 4.1 and 4.3) is done here a second
 * time: peer_fpdu.c has its own.
 */
#ifndef FLOW_H
#define FLOW_H

#include "session.h"

#define MARKER_SPACING	512
#define MARKER_LEN	4

/* where the device's Writes go: we have no memory, any name will do */
#define OUR_STAG	0x11223344
#define OUR_TO		0x100000000ULL

/* octets on the wire of an FPDU that begins at stream position @pos */
size_t flow_wire_len(uint64_t pos, bool markers, uint32_t ulpdu_len);

/* ULPDU_Length of the FPDU that begins at @pos and ends where position modulo 512
 * is @phase (0, or 8, 12 ... 508); at least that of a Write */
uint32_t flow_ulpdu_to(uint64_t pos, bool markers, uint32_t phase);

/* Writes of ours, or of the device, until the next FPDU begins at @phase */
void flow_we_fill(struct session *s, const struct agent_mr *mr, uint32_t phase);
void flow_device_fills(struct session *s, const struct agent_mr *mr, uint32_t phase);

/* the device's largest ULPDU by RFC 5044 4.5 */
uint32_t flow_mulpdu(uint32_t emss, bool markers);

/* the EMSS that our TCP has now; the device's, where both ends see one path */
uint32_t flow_emss(const struct session *s);

/* the device's next FPDU, a Write; leaves the test unless its markers, its pad,
 * its CRC (when on) and its length on the wire are right */
void flow_expect_framed(struct session *s, struct fpdu *f);

typedef void (*flow_each)(const struct fpdu *f, void *arg);

/* The device writes @len octets of @mr to OUR_STAG, OUR_TO: each FPDU is checked
 * as above, follows the one before and holds what @mr does if @data says it, then
 * goes to @each (or NULL). Return: how many FPDUs. */
unsigned int flow_device_writes(struct session *s, const struct agent_mr *mr,
				uint32_t len, const uint8_t *data, flow_each each,
				void *arg);

/* post a Send of the first @len octets of @mr and see it complete */
void flow_device_sends(struct session *s, const struct agent_mr *mr, uint32_t len);

/* the next @len octets of the device are @want */
void flow_expect_octets(struct session *s, const char *what, const void *want,
			size_t len);

/* the device takes a first FPDU of known @octets: a Send of 24 zeros */
void flow_zeros_are_taken(struct session *s, const void *octets, size_t len);

/* one FPDU with a Write of @len octets of @data to @mr + @at, as @fault says */
void flow_we_write(struct session *s, const struct agent_mr *mr, size_t at,
		   const void *data, uint32_t len, const struct fpdu_fault *fault);

/* a memory region whose octets are @data */
struct agent_mr flow_mr(const char *access, const void *data, size_t len);

/* leave the test unless the next completion is of @wr_id with @status */
void flow_expect_wc(uint64_t wr_id, const char *status);

/* the startup by hand: with @pd_len octets of private data in our frame, which is
 * sent in pieces of @piece octets (0: whole). The device's fence stays shut; unless
 * it is a peer-to-peer one, the device has sent nothing. */
void flow_start(struct session *s, uint16_t pd_len, size_t piece);

/* the usual session, but the device wants markers in what it receives */
struct session flow_marked_session(void);

/* where we may not send before the device has: see it send a zero-length Write */
void flow_device_speaks(struct session *s);

#endif /* FLOW_H */
