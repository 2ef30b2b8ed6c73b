// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
#include "term.h"

#include <stdio.h>

#include "tern.h"

#define RDMAP	"RFC 5040 4.8"
#define DDP	"RFC 5041 7.2"
#define MPA	"RFC 5044 8"
#define MPA_P2P	"RFC 6581 8"

/* the names are those of drivers/tern/core/term.c, as traces have them */
static const struct term {
	uint32_t code;
	const char *name;
	const char *section;
} terms[] = {
	{ 0x0000, "RDMAP: local catastrophic", RDMAP },
	{ 0x0100, "RDMAP: invalid STag", RDMAP },
	{ 0x0101, "RDMAP: base or bounds violation", RDMAP },
	{ 0x0102, "RDMAP: access rights violation", RDMAP },
	{ 0x0103, "RDMAP: STag not of this stream", RDMAP },
	{ 0x0104, "RDMAP: TO wrap", RDMAP },
	{ 0x0109, "RDMAP: STag cannot be invalidated", RDMAP },
	{ 0x01ff, "RDMAP: unspecified protection error", RDMAP },
	{ 0x0205, "RDMAP: invalid version", RDMAP },
	{ 0x0206, "RDMAP: unexpected opcode", RDMAP },
	{ 0x0207, "RDMAP: catastrophic, this stream", RDMAP },
	{ 0x0208, "RDMAP: catastrophic, global", RDMAP },
	{ 0x0209, "RDMAP: STag cannot be invalidated", RDMAP },
	{ 0x02ff, "RDMAP: unspecified operation error", RDMAP },
	{ 0x1000, "DDP: local catastrophic", DDP },
	{ 0x1100, "DDP: invalid STag", DDP },
	{ 0x1101, "DDP: base or bounds violation", DDP },
	{ 0x1102, "DDP: STag not of this stream", DDP },
	{ 0x1103, "DDP: TO wrap", DDP },
	{ 0x1104, "DDP: invalid version, tagged", DDP },
	{ 0x1201, "DDP: invalid queue number", DDP },
	{ 0x1202, "DDP: no buffer for this MSN", DDP },
	{ 0x1203, "DDP: MSN out of range", DDP },
	{ 0x1204, "DDP: invalid message offset", DDP },
	{ 0x1205, "DDP: message too long for the buffer", DDP },
	{ 0x1206, "DDP: invalid version, untagged", DDP },
	{ 0x2001, "MPA: TCP connection closed or lost", MPA },
	{ 0x2002, "MPA: CRC mismatch", MPA },
	{ 0x2003, "MPA: marker and ULPDU length disagree", MPA },
	{ 0x2004, "MPA: invalid request or reply frame", MPA },
	{ 0x2005, "MPA: local catastrophic", MPA_P2P },
	{ 0x2006, "MPA: insufficient IRD", MPA_P2P },
	{ 0x2007, "MPA: no matching RTR option", MPA_P2P },
};

static const struct term *find(uint32_t code)
{
	size_t i;

	/* this type defines no codes */
	if ((code & ~0xffu) == terms[0].code)
		return &terms[0];
	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (terms[i].code == code)
			return &terms[i];
	return NULL;
}

const char *term_name(uint32_t code)
{
	const struct term *t = find(code);

	return t ? t->name : "unknown";
}

const char *term_section(uint32_t code)
{
	const struct term *t = find(code);

	return t ? t->section : NULL;
}

void term_number(uint32_t code, char *buf, size_t size)
{
	snprintf(buf, size, "%u/%u/%02x", code >> 12 & 0xf, code >> 8 & 0xf, code & 0xff);
}
