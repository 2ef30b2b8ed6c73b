#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# How commits read: CONTRIBUTING.rst has the form. Those before $base are older than
# the rule. A shallow clone checks the commits that it has, one without a history none.
#
#	commits.sh [TOP]
set -euo pipefail

. "$(dirname "$0")/lib.sh"
cd "${1:-$(dirname "$0")/../..}"
base=efcdcf9ca39e32544ceceaa626009b37b693be8b
subject_form='^(Revert ")?tern/[a-z0-9][a-z0-9 _-]*: [^ ]'
signature='^Signed-off-by: .* <.*@.*>$'
trailer='^([A-Z][A-Za-z-]*-[a-z]+|Fixes|Link): '

# faults SUBJECT BODY: what is wrong with a commit, a line for each
faults()
{
	local subject=$1 line signed='' why=''

	[[ $subject =~ $subject_form ]] ||
		echo "the subject is not \"tern/AREA: what the commit does\""
	[ ${#subject} -le 72 ] || echo "the subject is longer than 72 characters"
	[[ $subject != *. ]] || echo "the subject ends in a full stop"
	while IFS= read -r line; do
		[[ ! $line =~ $signature ]] || signed=yes
		[[ -z $line || $line =~ $trailer ]] || why=yes
		# what cannot be wrapped stands alone: an address, a line of a log
		[ ${#line} -le 75 ] ||
			[[ $line != *' '* || $line == [[:space:]]* || $line =~ $trailer ]] ||
			echo "longer than 75 characters: $line"
	done <<<"$2"
	[ -n "$signed" ] || echo "no Signed-off-by"
	[ -n "$why" ] || echo "no body: say why"
}

# the commits under the rule, each as ID, subject and body
commits()
{
	local range

	if git merge-base --is-ancestor "$base" HEAD 2>/dev/null; then
		range=$base..HEAD
	elif [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then
		range=HEAD
	else
		return 0
	fi
	git log --no-merges --format='%h%x1f%s%x1f%b%x1e' "$range"
}

bad_commits()
{
	local id subject body fault

	while IFS=$'\x1f' read -r -d $'\x1e' id subject body; do
		while read -r fault; do
			echo "${id//$'\n'/} $subject: $fault"
		done < <(faults "$subject" "$body")
	done < <(commits)
}

verdict have_a_subject_a_body_and_a_signature bad_commits
finish
