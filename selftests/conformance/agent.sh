#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The port that tern-conform-agent reports for a listener when there is a port mapper.
# The mapper is a few lines that answer as iwpmd does, since iwpmd serves the initial
# network namespace only.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh

here=$PWD/../conformance
port=5040

# mapper KIND: answer each request with a message of that type (1 accept, 3 reject)
# whose port is the requested one plus 1; print the requested one
mapper()
{
	in_b python3 -u -c '
import os, socket, struct, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("'"$IP_B"'", 3935))
open(sys.argv[2], "w").write(str(os.getpid()))
while True:
    m, peer = sock.recvfrom(64)
    if len(m) != 64 or m[0] != 0x04:
        print("acknowledged" if len(m) == 48 and m[0] == 0x24 else "odd")
        continue
    asked, = struct.unpack_from("!H", m, 4)
    print(asked)
    kind = bytes([int(sys.argv[1]) << 4 | 4])
    sock.sendto(kind + m[1:4] + struct.pack("!H", asked + 1) + m[6:48], peer)
' "$1" "$TMP/mapper.pid" >"$TMP/mapper" 2>&1 &
	eventually mapper_listens
}

is() { [ "$1" = "$2" ] || { echo "is $1, not $2"; return 1; }; }
mapper_listens() { [ -n "$(in_b ss -Hlun "sport = :3935")" ]; }
mapper_gone() { ! mapper_listens; }

# listen: print the port that the agent reports for a new listener
listen()
{
	in_a python3 -c '
import socket
with socket.create_connection(("'"$IP_B"'", '"$port"')) as agent, agent.makefile("rw") as f:
    print("listen 0", file=f, flush=True)
    print(f.readline().split()[1])
'
}

told_of_mapping()
{
	mapper 1
	trap 'kill "$(cat "$TMP/mapper.pid")"' EXIT
	is "$(listen)" $(($(head -n 1 "$TMP/mapper") + 1))
	eventually grep -q acknowledged "$TMP/mapper"
}

told_of_none()
{
	eventually mapper_gone
	mapper 3
	trap 'kill "$(cat "$TMP/mapper.pid")"' EXIT
	is "$(listen)" "$(head -n 1 "$TMP/mapper")"
}

told_without_mapper()
{
	eventually mapper_gone
	[ "$(listen)" -gt 0 ]
}

wires_up
dev_add b "$DEV_B" "$TERN_PEER" v0b
in_b "$here/tern-conform-agent" --port $port --device-address "$IP_B" >"$TMP/agent" 2>&1 &
agent=$!
wait_for_listen $port b
point "listen tells the port that the port mapper names" told_of_mapping
point "listen tells its own port where the mapper has none" told_of_none
point "listen tells its own port where there is no mapper" told_without_mapper
kill $agent
wait $agent 2>/dev/null || true
finish
