#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tshark checks what tern sends to tern, with and without CRC and markers: no malformed
# packet, every CRC good, no FPDU missed. The check itself is checked: it finds what
# plant.py damages.

. ./lib.sh
. ./scene.sh
. ./tshark.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks the packets that it sends"

settings()
{
	local end

	for end in a b; do
		ip netns exec $end tern set tern_$end mpa-rev 2 crc on markers off p2p on \
			rtr write,read,send extensions negotiate features 7306
		[ $# = 0 ] || ip netns exec $end tern set tern_$end "$@"
	done
}

# with SETTING... -- WANT_CRC: apply the settings and check captured traffic
with()
{
	local words=()

	while [ "$1" != -- ]; do words+=("$1"); shift; done
	settings "${words[@]}"
	captured "$2" small_traffic
}

# markers only towards a: only FPDUs from b have them
markers_of_one()
{
	settings
	in_a tern set tern_a markers on
	captured crc small_traffic
}

# tshark takes Requests of RDMAP version 2 for shorter ones of version 1
version_2()
{
	local mpa_only=y

	settings features 7306,v2
	captured crc small_traffic
}

# finds KIND SETTING...: the check detects planted damage; a check that never failed
# proves nothing
finds()
{
	settings "${@:2}"
	capture a v0a
	small_traffic
	capture_all
	capture_end
	tshark_check >/dev/null
	./plant.py "$1" "$TMP/pcap"
	not tshark_check
}

topo_up
segments_as_sent
point "tshark finds tern well-formed, every CRC good" with -- crc
point "tshark finds tern well-formed with markers" with markers on -- crc
point "tshark finds tern well-formed with markers one way" markers_of_one
point "tshark finds tern well-formed without CRC" with crc off -- nocrc
point "tshark finds tern well-formed without CRC, with markers" with crc off markers on -- nocrc
point "tshark finds tern well-formed with revision 1" with mpa-rev 1 -- crc
point "tshark finds tern well-formed with a Read as RTR" with rtr read -- crc
point "tshark finds tern well-formed with the client-server model" with p2p off -- crc
point "tshark finds tern well-formed without extensions" with extensions off -- crc
point "tshark finds FPDUs of RDMAP version 2 well-formed, every CRC good" version_2
point "tshark finds a planted byte" finds payload
point "tshark finds a planted byte among markers" finds payload markers on
point "tshark finds a planted CRC" finds crc
point "tshark finds a planted marker" finds marker markers on
point "tshark finds a planted marker without CRC" finds marker markers on crc off
point "tshark finds a planted length" finds length crc off
finish
