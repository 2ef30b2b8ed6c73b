#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# How commits read: CONTRIBUTING.rst has the form. Those before $base are older than
# the rule. A shallow clone checks the commits that it has, one without a history none.
#
#	commits.sh [TOP]
set -euo pipefail

cd "${1:-$(dirname "$0")/../..}"
base=efcdcf9ca39e32544ceceaa626009b37b693be8b

# what is wrong with a commit, a line for each; one without a body has trailers only
faults()
{
	local id=$1 subject body line

	subject=$(git log -1 --format=%s "$id")
	body=$(git log -1 --format=%b "$id")
	[[ $subject =~ ^(Revert \")?tern/[a-z0-9][a-z0-9\ _-]*:\ [^\ ] ]] ||
		echo "the subject is not \"tern/AREA: what the commit does\""
	[ ${#subject} -le 72 ] || echo "the subject is longer than 72 characters"
	[[ $subject != *. ]] || echo "the subject ends in a full stop"
	grep -c '^Signed-off-by: .* <.*@.*>$' <<<"$body" >/dev/null || echo "no Signed-off-by"
	grep -cvE '^([A-Z][A-Za-z-]*-[a-z]+: |Fixes: |Link: |$)' <<<"$body" >/dev/null ||
		echo "no body: say why"
	# what cannot be wrapped stands alone: an address, a line of a log
	while read -r line; do
		[ ${#line} -le 75 ] || [[ $line != *' '* || $line =~ ^[A-Z][a-z-]+:\  ]] ||
			echo "longer than 75 characters: $line"
	done < <(git log -1 --format=%b "$id" | grep -v '^[[:space:]]')
}

commits()
{
	if git merge-base --is-ancestor "$base" HEAD 2>/dev/null; then
		git rev-list --no-merges "$base..HEAD"
	elif [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then
		git rev-list --no-merges HEAD
	fi
}

failed=0
while read -r id; do
	while read -r fault; do
		echo "# $(git log -1 --format='%h %s' "$id"): $fault"
		failed=1
	done < <(faults "$id")
done < <(commits)
[ $failed = 0 ] || echo -n 'not '
echo "ok 1 - commits__have_a_subject_a_body_and_a_signature"
exit $failed
