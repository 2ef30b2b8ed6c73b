#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The guest's part of profile: a row's tool with a quarter of the messages and with all,
# each between marks that the plugin of QEMU sees; and the kernel's symbols.

. "$(dirname "$0")/compare.sh"
. ../ulp/lib.sh
# shellcheck source=rows.sh
. ../bench/rows.sh
# shellcheck source=storage_scene.sh
. ../bench/storage_scene.sh

candidate=$TERN_SET_PROFILE_CANDIDATE
n=$TERN_SET_PROFILE_MESSAGES
name=$TERN_SET_PROFILE_ROW
layer=
rows+=("connect 1000/s high many -r 1")
case ${name%%-*} in
nfs | nvme | iser) layer=${name%%-*} rows=("${jobs[@]/#/$layer-}") kinds=() ;;
esac
row=$(printf '%s\n' "${rows[@]}" "${kinds[@]}" | grep "^$name ")
# the tool and its options, without a count
tool=$(sed 's/^[^ ]* [^ ]* [^ ]* //; s/ -n [0-9]*//' <<<"$row")
size=$(sed -n 's/.* \(-s \|--bs=\)\([0-9]*[km]\?\).*/\2/p' <<<"$row" | tr km KM | numfmt --from=iec)

mark()
{
	"$TMP/mark" "$@"
}

# messages N: TCP sends as many bytes; connections, which ping once and end with their program
messages()
{
	if [ "$name" = connect ]; then
		# shellcheck disable=SC2086 # words
		../bench/$tool -n "$1" < <(yes) >&2
		return
	fi
	if [ -n "$layer" ]; then
		# shellcheck disable=SC2086 # words
		fio_on "$(<"$TMP/path")" --io_size=$(($1 * size)) $tool >&2
		return
	fi
	if [ "$candidate" = tcp ]; then
		in_b iperf3 -s -1 -p 5201 >/dev/null &
		eventually listening 5201
		in_a iperf3 -c "$IP_B" -p 5201 -n $(($1 * size)) -l "$size" >&2
		wait
		return
	fi
	# shellcheck disable=SC2086 # words
	run_tool $tool -n "$1"
}

counted()
{
	mark
	messages "$1"
	mark end
}

ulimit -l unlimited
ulimit -n 65536
base64 -d <<<"$TERN_SET_PROFILE_MARK" >"$TMP/mark"
chmod +x "$TMP/mark"
if [ -n "$layer" ]; then storage_up "$layer"; else place "$TERN_SET_PROFILE_PLACE"; fi
[ "$candidate" = tcp ] || up "$candidate"
[ -z "$layer" ] || "${layer}_up" "$([ "$candidate" = tcp ] && echo tcp || echo rdma)"
# the first run loads modules
messages $((n / 4))
counted $((n / 4))
counted "$n"
symbols
