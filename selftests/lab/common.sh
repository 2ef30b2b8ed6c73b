# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced by every lab script: the cache, progress lines, host packages, the mirror, and
# root in a mount namespace of its own.

set -euo pipefail

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$LAB/../.." && pwd)
TERN_CACHE=${TERN_CACHE:-$HOME/.cache/tern}
mkdir -p "$TERN_CACHE"
# The PATH of a user lacks chroot, mke2fs and depmod.
PATH=$PATH:/usr/sbin:/sbin
# Everything that the tree holds is made by these; their text is its key.
export LAB TOP TERN_CACHE PATH

lab_t0=$SECONDS

# say TEXT...: one progress line, with the seconds since the script began.
say()
{
	printf '[lab %4ds] %s\n' $((SECONDS - lab_t0)) "$*" >&2
}

die()
{
	say "error: $*"
	exit 1
}

# quietly LOG CMD...: run a long step, its output in LOG; show the end if it fails.
quietly()
{
	local log=$1
	shift
	if ! "$@" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		die "failed: $* (whole log: $log)"
	fi
}

# as_root CMD...: only for the machine's own package manager.
as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "need root for: $*"
	fi
}

# need PROGRAM[=PACKAGE]...: install what this machine misses.
need()
{
	local item

	for item; do
		command -v "${item%%=*}" >/dev/null || { locked packages install_missing "$@"; break; }
	done
}

install_missing()
{
	local item missing=()

	for item; do
		command -v "${item%%=*}" >/dev/null || missing+=("${item##*=}")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing on this machine: ${missing[*]}"
	quietly "$TERN_CACHE/host-packages.log" as_root env \
		DEBIAN_FRONTEND=noninteractive sh -c \
		'apt-get -q update && apt-get -qy install --no-install-recommends "$@"' sh "${missing[@]}"
}

# in_ns CMD...: run CMD as root with its own mounts, which end with it, so that nothing
# is left mounted. A user gets a user namespace where the
# machine allows one, and sudo where not. The namespace maps a range of ids, which
# takes newuidmap; without it every step would need sudo.
in_ns()
{
	[ "$(id -u)" = 0 ] || need newuidmap=uidmap
	if [ "$(id -u)" = 0 ]; then
		unshare --mount --propagation private -- "$@"
	elif user_ns_works; then
		unshare --map-root-user --map-auto --mount --propagation private -- "$@"
	else
		sudo --preserve-env=TERN_CACHE -- unshare --mount --propagation private -- "$@"
	fi
}

user_ns_works()
{
	unshare --map-root-user --map-auto --mount true 2>/dev/null
}

# mirror: the first Debian entry of this machine's apt sources, deb822 or
# one-line. TERN_MIRROR overrides it.
mirror()
{
	if [ -n "${TERN_MIRROR:-}" ]; then
		echo "$TERN_MIRROR"
		return
	fi
	local files=()
	for f in /etc/apt/sources.list.d/*.sources /etc/apt/sources.list \
		 /etc/apt/sources.list.d/*.list; do
		[ -f "$f" ] && files+=("$f")
	done
	[ ${#files[@]} -gt 0 ] || die "no apt sources here: set TERN_MIRROR"
	awk '
		function is_debian(u) { return u ~ /\/debian\/?$/ }
		tolower($1) == "uris:" {
			for (i = 2; i <= NF; i++) if (is_debian($i)) { print $i; exit }
		}
		$1 == "deb" {
			for (i = 2; i <= NF; i++) if (is_debian($i)) { print $i; exit }
		}' "${files[@]}" | grep . || die "no Debian entry in the apt sources: set TERN_MIRROR"
}

# key_of FILE...: a short hash of the files' contents (or of stdin).
key_of()
{
	cat -- "$@" | sha256sum | cut -c1-12
}

# lane_of KERNEL: where in the cache its modules and logs are
lane_of() { case $1 in plain|checked) echo "uml-$1" ;; *) echo "$1" ;; esac; }

# checkout DIR: what git has or would add, less what it ignores
checkout()
{
	cd "$TOP"
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -z --cached --others --exclude-standard
	else
		find . -type f -print0
	fi | while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | tar -c --null -T - | tar -x -C "$1"
}

# locked NAME CMD...: one builder at a time for each thing in the cache.
locked()
{
	local name=$1
	shift
	(
		flock -n 9 || { say "waiting for another $name"; flock 9; }
		"$@"
	) 9>"$TERN_CACHE/.lock-$name"
}
