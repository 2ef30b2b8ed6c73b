#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Write `requirements` as a document, by section of the RFCs:
#
#	requirements.sh >../../Documentation/requirements.rst
set -euo pipefail
cd "$(dirname "$0")"

cat <<'EOF'
.. SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

============
Requirements
============

.. Made by selftests/conformance/requirements.sh. Edit selftests/conformance/requirements.

What a connection of tern has to do, in our own words: the rules of RFC 5044 and 6581
(MPA), 5041 (DDP) and 5040 (RDMAP), those of its extensions in RFC 7306 and in the expired
draft-wood-storm-rdmap-ext-v2-00 ("v2 draft"), then decision tables that follow from
several of them, then how tern reads what they leave open. Tests and comments cite the IDs.

Level
    The word of the RFC. A rule says what holds; under MUST NOT and SHOULD NOT, what never
    happens.
    TABLE is a row of a decision table, READING a choice of ours where the text leaves
    room, POLICY one in what it leaves to the device.

Terminate
    2/0/07 is a Terminate by the layer, error type and error code of its header (RFC 5040
    4.8, RFC 5041 7.2, RFC 5044 8, RFC 6581 8).

RTR, fence
    In the peer-to-peer model the first message of the initiator is the RTR (RFC 6581 5).
    The fence is shut while a responder must not send yet: it opens when the first valid
    FPDU of the initiator has arrived (RFC 5044 7.1.2).

Tested by
    *wire*: a scripted peer, *verbs*: a program, *code*: a unit test or a review. *review*
    means that a note in ``selftests/conformance/reviewed`` says where to look, *not
    tested* gives the reason. ``make coverage`` counts.
EOF

# Sort by section: the RFCs of MPA, then DDP, then RDMAP; tables keep their order.
rank()
{
	awk -F'\t' -v OFS='\t' '
		BEGIN {
			n = split("RFC 5044,RFC 6581,RFC 5041,RFC 5040,RFC 7306,v2 draft,RNIC draft,OFA mail 2007", d, ",")
			for (i = 1; i <= n; i++)
				rank[d[i]] = i
		}
		/^#: / { table = substr($0, 4); n++; next }
		/^#/ || /^$/ { next }
		$2 in rank { print rank[$2], $3, NR, $2 " " $3, $0; next }
		$1 ~ /^MPA/ { print 9, 0, NR, "More of MPA, as tern reads it", $0; next }
		{ print n + 9, 0, NR, table, $0 }' requirements |
		sort -t$'\t' -k1,1n -k2,2V -k3,3n
}

rank | awk -F'\t' '
	FILENAME == "requirements" {
		if (sub(/^#= /, "")) {
			split($0, w, " ")
			key = w[1] " " w[2] " " w[3]
			title[key] = substr($0, length(key) + 2)
		}
		next
	}
	FILENAME == "reviewed" { if (!/^#/) review[$1] = 1; next }
	FILENAME == "untestable" { if (!/^#/) why[$1] = $2; next }

	# what follows the first bracket of the head of a table is its introduction
	function heading(text,   line, more)
	{
		sub(/ -$/, "", text)
		if (text in title)
			text = text ": " title[text]
		if (match(text, / \(/)) {
			more = substr(text, RSTART + 2)
			sub(/\)/, "", more)
			text = substr(text, 1, RSTART - 1)
		}
		line = text
		gsub(/./, "-", line)
		printf "\n%s\n%s\n", text, line
		if (more != "")
			printf "\n%s\n", wrapped(more ".", "")
	}

	# lines of at most 88 columns, each after an indent; "RFC 5044" and "Rev 1" stay whole
	function wrapped(text, indent,   w, n, i, line, out)
	{
		gsub(/RFC /, "RFC\001", text)
		gsub(/Rev /, "Rev\001", text)
		n = split(text, w, " ")
		line = indent w[1]
		for (i = 2; i <= n; i++) {
			if (length(line " " w[i]) > 88) {
				out = out line "\n"
				line = indent w[i]
			} else {
				line = line " " w[i]
			}
		}
		out = out line
		gsub("\001", " ", out)
		return out
	}

	function how(id, letters,   s)
	{
		if (id in why)
			return "not tested: " why[id]
		s = letters ~ /W/ ? ", wire" : ""
		s = s (letters ~ /V/ ? ", verbs" : "") (letters ~ /C/ ? ", code" : "")
		s = s (id in review ? ", review" : "")
		return s == "" ? "does not apply" : substr(s, 3)
	}

	$4 != last { heading($4); last = $4 }
	{
		printf "\n%s (%s; %s)\n%s\n", $5, $8, how($5, $9), wrapped($10 ".", "    ")
	}' requirements reviewed untestable -
