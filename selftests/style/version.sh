#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# One version: that of dkms.conf, which the tool, the packages and the documents are built with.
# What cannot read it there has the same: the module, debian/changelog, rpm/tern.spec, the
# manual pages, CHANGELOG.md, and the table of SECURITY.md.
#
#	version.sh --set VERSION	change all but debian/changelog and CHANGELOG.md
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
header=drivers/tern/device/device.h

# what each of them says: "FILE VERSION"
said()
{
	local page

	sed -n 's/^#define TERN_VERSION_M[AI][JN]OR\t*//p' $header | paste -sd. |
		sed "s|^|$header |"
	sed -n '1s/^tern (\(.*\)-[^-]*) .*/debian\/changelog \1/p' debian/changelog
	sed -n 's/^## \([0-9.]*\).*/CHANGELOG.md \1/p' CHANGELOG.md | head -n 1
	sed -n 's/^Version:\t*\(.*\)/rpm\/tern.spec \1/p' rpm/tern.spec
	sed -n 's/^| \([0-9.]*\) | yes .*/SECURITY.md \1/p' SECURITY.md | head -n 1
	files '*.[1-8]' | while read -r page; do
		echo "$page $(sed -n 's/^\.TH .* "tern \([0-9.]*\)" .*/\1/p' "$page")"
	done
}

other_version()
{
	said | awk -v version="$version" '$2 != version { print $1 " says " ($2 ? $2 : "nothing") ", dkms.conf " version }'
	[ "$(said | grep -cE '^(drivers|debian|CHANGELOG|rpm|SECURITY)')" = 5 ] ||
		echo "one of the five has no version: $(said | tr '\n' ';')"
}

if [ "${1:-}" = --set ]; then
	new=${2:?usage: version.sh --set MAJOR.MINOR}
	sed -i "s/^\(PACKAGE_VERSION=\).*/\1\"$new\"/" dkms.conf
	sed -i -e "s/^\(#define TERN_VERSION_MAJOR\t*\).*/\1${new%%.*}/" \
		-e "s/^\(#define TERN_VERSION_MINOR\t*\).*/\1${new#*.}/" $header
	sed -i "s/^\(Version:\t*\).*/\1$new/" rpm/tern.spec
	sed -i "s/^| [0-9.]* | yes /| $new | yes /" SECURITY.md
	files '*.[1-8]' | xargs sed -i "s/^\(\.TH .* \"tern \)[0-9.]*\"/\1$new\"/"
	exit
fi
verdict is_the_same_everywhere other_version
finish
