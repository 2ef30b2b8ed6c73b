#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The guest's part of guard and report: run rows of drive, with marks that the plugin of QEMU
# sees, then print the kernel's symbols. TERN_SET_COUNT_ROWS: ROW:CANDIDATE, those of a
# candidate after one another. TERN_SET_COUNT_PLACE: of rows.sh.

. "$(dirname "$0")/compare.sh"
# shellcheck source=rows.sh
. ../bench/rows.sh

# candidate NAME: the device of the rows that follow
candidate()
{
	[ "$1" != "$now" ] || return 0
	[ "$now" = tcp ] || [ -z "$now" ] || down "$now"
	now=$1
	[ "$now" = tcp ] || up "$now"
	drive_up
}

now=
place "${TERN_SET_COUNT_PLACE:-veth}"
for row in $TERN_SET_COUNT_ROWS; do
	candidate "${row#*:}"
	line=$(drive_row "${row%:*}" "$now")
	echo "COUNTED $row $line"
done
symbols
echo "KERNEL $(uname -r) $(uname -v)"
