#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Links that files describe: tern up, down, save, showconf and setconf, what they refuse,
# and what systemd and udev make of them.

. ./lib.sh

[ "$TERN_TYPE" = tern ] || skip_all "tern only: checks its links"

links=/etc/tern/links

# refused TEXT WORD...: status 1, with one line that has TEXT
refused()
{
	local status=0
	in_a tern "${@:2}" >"$TMP/stdout" 2>"$TMP/stderr" || status=$?
	cat "$TMP/stderr"
	[ $status = 1 ] && [ "$(wc -l <"$TMP/stderr")" = 1 ] && grep -qF "$1" "$TMP/stderr"
}

# lines FILE LINE...: a file with these lines
lines() { printf '%s\n' "${@:2}" >"$1"; }

is_up() { in_a tern show "$1" 2>/dev/null | has "netdev $2$"; }
is_gone() { ! rdma dev show 2>/dev/null | has " $1: "; }
setting() { in_a tern show "$1" | has -E "^ +$2 +$3$"; }

# the other value of each setting, from a table that each_is_changed compares with the kernel
# shellcheck disable=SC2054 # the commas are those of a list
others=(mpa-rev 1 crc off markers on p2p off rtr send,write request-ms 11 reply-ms 12
	rtr-ms 13 close-ms 14 half-open 15 rnic permissive enhanced off
	early-octets tolerate keepalive-s 16 extensions assume-7306 features 7306 max-fpdu 8192)

each_is_changed()
{
	in_a tern showconf tern_a | sort >"$TMP/before"
	in_a tern set tern_a "${others[@]}"
	in_a tern showconf tern_a | sort >"$TMP/after"
	# all but the section and the netdev
	comm -12 "$TMP/before" "$TMP/after" | tee "$TMP/same"
	[ "$(wc -l <"$TMP/same")" = 2 ]
}

# every setting goes into a file, and comes back by up and by setconf
round_trip()
{
	each_is_changed
	in_a tern save tern_a
	diff <(in_a tern showconf tern_a) $links/tern_a.conf
	[ "$(stat -c %a $links/tern_a.conf)" = 644 ]
	in_a tern down tern_a
	is_gone tern_a
	in_a tern up tern_a
	diff <(in_a tern showconf tern_a) $links/tern_a.conf
	in_a tern set tern_a crc on half-open 99 rtr read
	in_a tern setconf tern_a $links/tern_a.conf
	diff <(in_a tern showconf tern_a) $links/tern_a.conf
	in_a tern showconf tern_a | in_a tern setconf tern_a /proc/self/fd/0
	[ "$(find $links -type f | wc -l)" = 1 ]
}

# settings that are not in a file: the kernel's in a new link, unchanged in another
partial_file()
{
	in_a tern down tern_a
	lines $links/tern_a.conf '# comment' '' ' [link] ' 'NetDev=v0a ; this' 'close_ms = 77'
	in_a tern up tern_a
	setting tern_a close-ms 77
	setting tern_a crc on
	in_a tern set tern_a crc off close-ms 78
	in_a tern up tern_a
	setting tern_a close-ms 77
	setting tern_a crc off
}

twice()
{
	in_a tern up tern_a
	in_a tern up tern_a
	in_a tern down tern_a
	in_a tern down tern_a
	refused 'no tern device of this name' down nobody
	in_a tern up tern_a
}

wrong_files()
{
	local file=$TMP/t_w.conf text lines

	while IFS='|' read -r text lines; do
		printf "%b" "$lines" >"$file"
		refused "$text" up "$file"
		refused "$text" setconf tern_a "$file"
	done <<-'EOF'
	:1: [Link] is missing before this line|netdev = v0a\n
	:1: the only section is [Link]|[Interface]\n
	:3: a file describes one link|[Link]\nnetdev = v0a\n[Link]\n
	:2: neither a section nor NAME = VALUE|[Link]\nnetdev v0a\n
	:2: the value is missing|[Link]\nnetdev =\n
	:3: netdev is there twice|[Link]\nnetdev = v0a\nnetdev = v0a\n
	:2: 'v0a/x' is no name of a netdev|[Link]\nnetdev = v0a/x\n
	:2: 'sixteen-letters-' is no name|[Link]\nnetdev = sixteen-letters-\n
	:3: unknown setting 'colour'|[Link]\nnetdev = v0a\ncolour = red\n
	:4: crc is there twice|[Link]\nnetdev = v0a\ncrc = on\ncrc = on\n
	:3: crc: 'maybe' is not on or off|[Link]\nnetdev = v0a\ncrc = maybe\n
	:3: mpa-rev: '1 2' is not 1 or 2|[Link]\nnetdev = v0a\nmpa-rev = 1 2\n
	:2: a byte of the line is 0|[Link]\nnetdev = v0a\0\n
	t_w.conf: netdev is missing|[Link]\ncrc = on\n
	t_w.conf: netdev is missing|
	EOF
	is_gone t_w
	mkdir "$TMP/d.conf"
	refused 'Is a directory' up "$TMP/d.conf"
	refused 'No such file' up nobody
	refused 'is no name of a link' up 'x%d'
	refused 'is no name of a link' up ..
	refused 'is no name of a link' up "$(printf 'x%.0s' {1..64})"
}

# a link that the kernel does not take, or whose settings it does not take, is not there
undone()
{
	in_a ip link add v9 type veth peer name v9p
	lines $links/t_9.conf '[Link]' 'netdev = v9' 'crc = off' 'half-open = 0'
	refused 'half-open' up t_9
	is_gone t_9
	lines $links/t_9.conf '[Link]' 'netdev = v9' 'features = v2'
	refused 'version 2 needs RFC 7306' up t_9
	is_gone t_9
	lines $links/t_9.conf '[Link]' 'netdev = nope'
	refused 'there is no netdev nope' up t_9
	lines $links/t_9.conf '[Link]' 'netdev = v0a'
	refused 'netdev v0a has a link already: tern_a' up t_9
	lines $links/t_9.conf '[Link]' 'netdev = v9'
	refused 'is on netdev v0a, not on v9' setconf tern_a $links/t_9.conf
	in_a setpriv --reuid 65534 --clear-groups tern up t_9 2>"$TMP/stderr" && return 1
	cat "$TMP/stderr"
	is_gone t_9
}

# up --all goes on after a file that is wrong
all_links()
{
	in_a tern down tern_a
	lines $links/a_wrong.conf '[Link]'
	lines $links/.hidden.conf '[Link]'
	lines $links/other '[Link]'
	refused a_wrong.conf up --all
	is_up tern_a v0a
	is_up t_9 v9
	rm $links/a_wrong.conf
	in_a tern up -a
	in_a tern down --all
	is_gone tern_a
	is_gone t_9
	in_b tern show tern_b | has 'netdev v0b$'
	in_a tern up --all
}

# the kernel takes any name of the netdev, and tells the first
other_name()
{
	in_a tern down t_9
	in_a ip link property add dev v9 altname v9other
	lines $links/t_9.conf '[Link]' 'netdev = v9other' 'crc = off'
	in_a tern up t_9
	is_up t_9 v9
	setting t_9 crc off
	in_a tern set t_9 crc on
	in_a tern up t_9
	setting t_9 crc off
	lines $links/t_7.conf '[Link]' 'netdev = v9other'
	refused 'netdev v9other has a link already: t_9' up t_7
	rm $links/t_7.conf
	in_a ip link property del dev v9 altname v9other
	refused 'is on netdev v9, not on v9other' up t_9
	is_up t_9 v9
	lines $links/t_9.conf '[Link]' 'netdev = v9'
}

renamed()
{
	rdma dev set t_9 name t_8
	refused 'netdev v9 has a link already: t_8' up t_9
	in_a tern save t_8
	in_a ip link set v9 name v8
	in_a tern save t_8
	grep -x 'netdev = v8' $links/t_8.conf
	in_a tern down t_8
	in_a tern up t_8
	is_up t_8 v8
	in_a ip link delete v8
	eventually is_gone t_8
	in_a tern down t_8
	refused 'there is no netdev v8' up t_8
	rm $links/t_[89].conf
}

# the file is the old one or the new one
save_fails()
{
	cp $links/tern_a.conf "$TMP/saved"
	in_a tern set tern_a crc on
	# in this process's own mounts
	not in_a unshare --mount sh -c "mount -t tmpfs -o ro none $links && tern save tern_a" \
		2>"$TMP/stderr"
	cat "$TMP/stderr"
	grep -q 'tern_a.conf: Read-only file system' "$TMP/stderr"
	diff "$TMP/saved" $links/tern_a.conf
	in_a tern save tern_a
}

# the module is loaded by up
loads_the_module()
{
	in_a tern down tern_a
	rdma link delete tern_b
	rmmod tern
	in_a tern down tern_a
	mkdir -p /run/modprobe.d
	echo 'install tern false' >/run/modprobe.d/tern.conf
	refused 'the module tern does not load' up tern_a
	rm /run/modprobe.d/tern.conf
	in_a tern up tern_a
	is_up tern_a v0a
	dev_add b tern_b tern v0b
}

# rdma_rename is what rdma-core's 60-rdma-persistent-naming.rules run, with the first of these
# policies. It fails for a device without a PCI slot, unless a user named it: then it does
# nothing. The other policy would give any device this name.
keeps_its_name()
{
	local rename=/usr/lib/udev/rdma_rename

	$rename tern_a NAME_FALLBACK
	$rename tern_a NAME_FIXED iw0
	is_up tern_a v0a
}

# the units that systemd reads
units()
{
	local systemd=/usr/local/lib/systemd out=$TMP/units device

	mkdir -p "$out" "$TMP/etc/tern-links.target.wants"
	lines "$TMP/t-1.conf" '[Link]' 'Netdev = br-0 # bridge'
	lines "$TMP/t2.conf" '[Link]'
	ln -s $systemd/system/tern-link@.service \
		"$TMP/etc/tern-links.target.wants/tern-link@t-1.service"
	TERN_LINKS=$TMP TERN_UNITS=$TMP/etc \
		$systemd/system-generators/tern-link-generator "$out" "$out" "$out"
	find "$out"
	device='sys-subsystem-net-devices-br\x2d0.device'
	diff "$out/tern-link@t-1.service.d/netdev.conf" - <<-EOF
	[Unit]
	BindsTo=$device
	After=$device
	EOF
	[ -L "$out/$device.wants/tern-link@t-1.service" ]
	[ ! -e "$out/tern-link@t2.service.d" ]
	grep -x 'ExecStart=/usr/local/sbin/tern up %i' $systemd/system/tern-link@.service
	# else the boot waits for a netdev that is absent
	grep -x 'WantedBy=tern-links.target' $systemd/system/tern-link@.service
	SYSTEMD_UNIT_PATH=$out: systemd-analyze verify --man=no \
		$systemd/system/tern-link@.service
}

wanted=("$@")

rm -rf /etc/tern
topo_up
proves "each setting goes into a file and comes back, by up and by setconf" round_trip
proves "a file with some settings" partial_file
proves "up twice, down twice" twice
proves "wrong files are refused, with the line" wrong_files
proves "what the kernel refuses is undone" undone
proves "two links: up --all, down --all" all_links
proves "a file has another name of the netdev" other_name
proves "link and netdev are renamed, the netdev is gone" renamed
proves "save that fails keeps the old file" save_fails
proves "up loads the module" loads_the_module
proves "rdma-core's rules keep the name" keeps_its_name
proves "the unit, and what the generator adds to it" units
rm -rf /etc/tern
finish
