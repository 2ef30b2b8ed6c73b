// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The scripted peer, checked against the figures of RFC 5044 and the published CRC
 * vectors; what it builds is read back. No target is needed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conform.h"
#include "peer.h"
#include "session.h"

#define CRC_VECTOR(text, len, want) \
	must_eq(crc32c(0, text, len), want, "CRC32c")

static void self__crc_matches_the_iscsi_vectors(void)
{
	static const uint8_t read_pdu[48] = {
		0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, 0x28,
		[40] = 0x02,
	};
	uint8_t buf[32];
	int i;

	CRC_VECTOR("123456789", 9, 0xe3069283);
	memset(buf, 0, sizeof(buf));
	CRC_VECTOR(buf, sizeof(buf), 0x8a9136aa);
	memset(buf, 0xff, sizeof(buf));
	CRC_VECTOR(buf, sizeof(buf), 0x62a8ab43);
	for (i = 0; i < 32; i++)
		buf[i] = i;
	CRC_VECTOR(buf, sizeof(buf), 0x46dd794e);
	for (i = 0; i < 32; i++)
		buf[i] = 31 - i;
	CRC_VECTOR(buf, sizeof(buf), 0x113fdb5c);
	CRC_VECTOR(read_pdu, sizeof(read_pdu), 0xd9963a56);
	must_eq(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283,
		"CRC32c in two parts");
}

static struct peer new_end(bool markers)
{
	struct peer p = {
		.fd = -1,
		.crc = true,
		.tx_markers = markers,
		.rx_markers = markers,
		.version = 1,
		.tx_msn = { 1, 1, 1, 1 },
		.rx_msn = { 1, 1, 1, 1 },
	};

	return p;
}

/* a pair of peers, connected to each other */
static void new_pair(struct peer *a, struct peer *b, bool markers)
{
	int fds[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), "socketpair");
	*a = new_end(markers);
	*b = new_end(markers);
	a->fd = fds[0];
	b->fd = fds[1];
}

static void end_pair(struct peer *a, struct peer *b)
{
	close(a->fd);
	close(b->fd);
	free(a->in);
	free(a->ulpdu);
	free(b->in);
	free(b->ulpdu);
}

/* the Send of 24 zero bytes of RFC 5044 figures 5 and 6, at @pos of the stream */
static void figure(uint64_t pos, uint32_t msn, const uint8_t *want, size_t want_len)
{
	struct peer p = new_end(true);
	uint8_t ulpdu[64], out[256], data[24] = { 0 };
	uint32_t len;
	size_t n;

	p.tx_pos = pos;
	p.tx_msn[0] = msn;
	len = seg_send(&p, OP_SEND, 0, 0, data, sizeof(data), true, ulpdu);
	n = fpdu_build(&p, ulpdu, len, NULL, out);
	must_eq(n, want_len, "the FPDU's length");
	must_bytes(out, want, n, "the FPDU");
}

static void self__fpdu_is_that_of_figure_5(void)
{
	static const uint8_t want[52] = {
		[5] = 0x2a, 0x41, 0x43, [19] = 1, [48] = 0x52, 0x23, 0x99, 0x83,
	};

	figure(0, 1, want, sizeof(want));
}

static void self__fpdu_is_that_of_figure_6(void)
{
	static const uint8_t want[52] = {
		[1] = 0x2a, 0x41, 0x43, [15] = 2, [23] = 0x14,
		[48] = 0x84, 0x92, 0x58, 0x98,
	};

	figure(492, 2, want, sizeof(want));
}

/* a marker 12 bytes into an FPDU of 16 bytes (RFC 5044 figure 4) */
static void self__marker_splits_an_ulpdu(void)
{
	struct peer p = new_end(true);
	uint8_t ulpdu[16], out[96];
	size_t n;

	pattern(ulpdu, sizeof(ulpdu), 1);
	p.tx_pos = 500;
	n = fpdu_build(&p, ulpdu, sizeof(ulpdu), NULL, out);
	must_eq(n, 28, "the FPDU's length");
	must_bytes(out, "\x00\x10", 2, "length");
	must_bytes(out + 2, ulpdu, 10, "the ULPDU's head");
	must_bytes(out + 12, "\x00\x00\x00\x0c", 4, "the marker");
	must_bytes(out + 16, ulpdu + 10, 6, "the ULPDU's tail");
	must_bytes(out + 22, "\x00\x00", 2, "the pad");
}

static void self__marker_between_pad_and_crc_is_of_this_fpdu(void)
{
	struct peer p = new_end(true);
	uint8_t ulpdu[14], out[96];
	size_t n;

	pattern(ulpdu, sizeof(ulpdu), 2);
	p.tx_pos = 496;
	n = fpdu_build(&p, ulpdu, sizeof(ulpdu), NULL, out);
	must_eq(n, 24, "the FPDU's length");
	must_bytes(out + 16, "\x00\x00\x00\x10", 4, "the marker");
	must_eq(out[20] | out[21] << 8 | out[22] << 16 | (uint32_t)out[23] << 24,
		crc32c(0, out, 20), "the CRC field");
}

static void self__marker_after_an_fpdu_is_of_the_next(void)
{
	struct peer p = new_end(true);
	uint8_t ulpdu[14] = { 0 }, out[96];

	p.tx_pos = 492;
	must_eq(fpdu_build(&p, ulpdu, 14, NULL, out), 20, "the FPDU's length");
	must_eq(fpdu_build(&p, ulpdu, 14, NULL, out), 24, "the next one's");
	must_bytes(out, "\x00\x00\x00\x00\x00\x0e", 6, "its marker");
}

struct vector {
	const char *what;
	uint8_t field[4];	/* CRC field without a leading marker */
	uint8_t marked[4];	/* with a leading marker, if known */
};

static void check_vector(const struct vector *v, const uint8_t *ulpdu, size_t len)
{
	struct peer plain = new_end(false), marked = new_end(true);
	uint8_t out[256];
	size_t n;

	n = fpdu_build(&plain, ulpdu, len, NULL, out);
	must_bytes(out + n - 4, v->field, 4, "%s", v->what);
	if (!v->marked[0])
		return;
	n = fpdu_build(&marked, ulpdu, len, NULL, out);
	must_bytes(out + n - 4, v->marked, 4, "%s", v->what);
}

static void self__fpdu_matches_known_vectors(void)
{
	static const struct vector
		rtr_send = { "RTR Send", { 0x58, 0x7b, 0xe8, 0xc4 },
			     { 0x88, 0xc1, 0xd6, 0xfc } },
		rtr_write = { "RTR Write", { 0xa3, 0x05, 0x72, 0xab },
			      { 0x77, 0xc9, 0xc7, 0x55 } },
		rtr_read = { "RTR Read", { 0xf2, 0xc6, 0xdd, 0x3d },
			     { 0x81, 0x76, 0x37, 0x7e } },
		response = { "Response", { 0x69, 0x75, 0xd6, 0xca }, { 0 } },
		write_1 = { "RTR Write 1", { 0xe8, 0x50, 0x27, 0xad }, { 0 } },
		read_1 = { "RTR Read 1", { 0x7b, 0x84, 0x58, 0x4a }, { 0 } },
		term = { "Terminate", { 0x16, 0x80, 0xd5, 0xf1 }, { 0 } };
	struct peer p = new_end(false);
	uint8_t u[64];

	check_vector(&rtr_send, u, seg_send(&p, OP_SEND, 0, 0, NULL, 0, true, u));
	check_vector(&rtr_write, u, seg_write(&p, 0, 0, NULL, 0, true, u));
	check_vector(&rtr_read, u, seg_read_req(&p, 0, 0, 0, 0, 0, u));
	check_vector(&response, u, seg_read_resp(&p, 0, 0, NULL, 0, true, u));
	check_vector(&write_1, u, seg_write(&p, 1, 1, NULL, 0, true, u));
	p.tx_msn[1] = 1;
	check_vector(&read_1, u, seg_read_req(&p, 1, 1, 0, 1, 1, u));
	check_vector(&term, u, seg_terminate(&p, 2, 0, 5, u));
}

/* build and read back FPDUs of all phases of length and marker */
static void read_back(bool markers)
{
	static const size_t sizes[] = { 14, 15, 16, 17, 18, 46, 492, 500, 505, 1000, 1460,
					4096, 64768 };
	uint8_t *ulpdu = malloc(ULPDU_MAX);
	struct peer a, b;
	struct fpdu f;
	unsigned int i;

	must(ulpdu, "no memory");
	new_pair(&a, &b, markers);
	for (i = 0; i < 20 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t len = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];

		pattern(ulpdu, len, i);
		ulpdu[0] |= DDP_TAGGED;
		peer_send_fpdu(&a, ulpdu, len);
		must(peer_recv_fpdu(&b, &f, 1000), "nothing came");
		must_eq(f.seg.ulpdu_len, len, "the ULPDU's length");
		must_bytes(f.seg.ulpdu, ulpdu, len, "the ULPDU");
		must_eq(b.rx_pos, a.tx_pos, "the position");
	}
	end_pair(&a, &b);
	free(ulpdu);
}

static void self__reader_takes_what_the_writer_makes(void)
{
	read_back(false);
	read_back(true);
}

/* check which fields of struct fpdu report @fault */
static void verdict(const struct fpdu_fault *fault, bool crc, bool markers, bool pad)
{
	uint8_t ulpdu[1025], out[2 * sizeof(ulpdu) + 64];
	struct peer a, b;
	struct fpdu f;

	new_pair(&a, &b, true);
	pattern(ulpdu, sizeof(ulpdu), 3);
	ulpdu[0] |= DDP_TAGGED;
	peer_send(&a, out, fpdu_build(&a, ulpdu, sizeof(ulpdu), fault, out));
	must(peer_recv_fpdu_raw(&b, &f, 1000), "nothing came");
	must_eq(f.crc_ok, crc, "right CRC");
	must_eq(f.markers_ok, markers, "right markers");
	must_eq(f.pad_ok, pad, "right pad");
	must_eq(f.markers, 3, "the number of markers");
	end_pair(&a, &b);
}

static void self__reader_sees_each_fault(void)
{
	verdict(&(struct fpdu_fault){ 0 }, true, true, true);
	verdict(&(struct fpdu_fault){ .crc_xor = 1 }, false, true, true);
	verdict(&(struct fpdu_fault){ .marker_xor = 4 }, true, false, true);
	verdict(&(struct fpdu_fault){ .marker_xor = 4, .last_marker_only = true }, true,
		false, true);
	verdict(&(struct fpdu_fault){ .marker_rsvd = 1 }, true, false, true);
	verdict(&(struct fpdu_fault){ .pad = 0xff }, true, true, false);
	verdict(&(struct fpdu_fault){ .pad = 0xff, .pad_not_in_crc = true }, false, true,
		false);
}

static void self__terminate_is_read_with_its_copies(void)
{
	static const uint8_t body[] = { 0x02, 0x05, 0xe0, 0, 0, 46, [6] = 0x41, 0x41,
					[15] = 1, [51] = 9 };
	uint8_t ulpdu[UNTAGGED_HDR + sizeof(body)];
	struct seg s = { .ctrl = 0x41, .rdmap = 0x47, .qn = 2, .msn = 1, .data = body,
			 .len = sizeof(body) };
	struct seg got;
	struct term t;

	must(seg_decode(&got, ulpdu, seg_encode(&s, ulpdu)), "no segment");
	must(term_decode(&t, &got), "no Terminate");
	must_eq(t.layer << 16 | t.etype << 8 | t.code, 0x000205, "the triplet");
	must_eq(t.ddp_len, 46, "the segment length");
	must_eq(t.ddp_hdr_len, UNTAGGED_HDR, "the DDP header's length");
	must_eq(t.rdma[27], 9, "the last byte");
	got.len--;
	must(!term_decode(&t, &got), "a Terminate that is cut short was read");
}

#define SELF(name, rule) { #name, "-", rule, NO_ROLE, 0, name }

static const struct conform_test tests[] = {
	SELF(self__crc_matches_the_iscsi_vectors, "CRC32c is that of iSCSI."),
	SELF(self__fpdu_is_that_of_figure_5, "The first FPDU of a marked stream."),
	SELF(self__fpdu_is_that_of_figure_6, "An FPDU with a marker inside."),
	SELF(self__fpdu_matches_known_vectors, "CRC fields of small FPDUs."),
	SELF(self__marker_splits_an_ulpdu, "A marker says how far the FPDU's head is."),
	SELF(self__marker_between_pad_and_crc_is_of_this_fpdu,
	     "A marker before the CRC field belongs to the FPDU."),
	SELF(self__marker_after_an_fpdu_is_of_the_next,
	     "A marker due at the end of an FPDU is the next one's."),
	SELF(self__reader_takes_what_the_writer_makes, "The two directions agree."),
	SELF(self__reader_sees_each_fault, "Each fault shows in its own verdict."),
	SELF(self__terminate_is_read_with_its_copies, "A Terminate is taken apart."),
	{}
};

const struct conform_group self_group = { "self", tests };
