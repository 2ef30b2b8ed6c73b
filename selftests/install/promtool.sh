#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Prometheus's own checker has nothing to say of what `tern metrics` prints, and would say it.

cd ../net || exit
# shellcheck source=../net/lib.sh
. ./lib.sh
# shellcheck source=../net/scene.sh
. ./scene.sh

command -v promtool >/dev/null || skip_all "no promtool: lab/deb-selftest brings it"

checked()
{
	server
	client -c
	in_a tern metrics >"$TMP/page"
	promtool check metrics <"$TMP/page" 2>&1 | tee "$TMP/said"
	[ ! -s "$TMP/said" ]
}

# complains OF EDIT: so it does of the page, changed by sed
complains()
{
	sed "$2" "$TMP/page" >"$TMP/damaged"
	not promtool check metrics <"$TMP/damaged" >"$TMP/said" 2>&1
	cat "$TMP/said"
	grep -F "$1" "$TMP/said"
}

damaged()
{
	complains 'tern_tx_fpdu_total no help text' '/^# HELP tern_tx_fpdu_total /d'
	complains 'should have "_total" suffix' 's/\btern_tx_fpdu_total\b/tern_tx_fpdu/'
	complains 'text format parsing error' 's/^\(tern_tx_fpdu_total{.*}\) .*/\1/'
}

topo_up
point "promtool accepts the page of a device with a connection" checked
point "promtool complains of a page without a help text, a suffix, a value" damaged
finish
