# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Sourced after net/lib.sh by the tests that run stress-ng beside an upper layer: its classes
# of load, one after the other, each while fio writes and verifies data over tern.
#
# The caller defines start_data SECONDS, data_is_right and spoil_data, and sets $pick, a glob of
# classes. TERN_SET_PLANT is a list with a fault for each class, which must fail then: data is
# changed at the server (data), or the kernel's log has a report (report).

# how long a class lasts, scaled
STRESS=${TERN_SET_STRESS_SECONDS:-5}
read -ra plants <<<"${TERN_SET_PLANT:-}"
names=(memory faults sockets namespaces processes files hotplug)

# what stress-ng does in each class; @FILES@ is a folder of the caller's
declare -A stressors=(
	[memory]="--vm 2 --vm-bytes 15% --mremap 1 --mremap-bytes 32m --bigheap 1 --bigheap-bytes 64m"
	[faults]="--fault 1 --madvise 1 --mlock 1 --userfaultfd 1 --userfaultfd-bytes 8m"
	[sockets]="--sock 2 --udp 1 --sockpair 1 --sockmany 1 --epoll 1"
	[namespaces]="--clone 2 --clone-max 32"
	[processes]="--fork 1 --kill 1 --timer 1 --sem 1"
	[files]="--dir 1 --rename 1 --link 1 --hdd 1 --hdd-bytes 4m --temp-path @FILES@"
	[hotplug]="--pathological --cpu-online 1 --switch 1"
)

# hotplug: why this machine has none, or nothing
no_hotplug()
{
	[ -e /sys/devices/system/cpu/cpu1/online ] || echo "no CPU here can be taken offline"
}

# done_by_stress: what each stressor did
done_by_stress()
{
	awk '$2 == "metrc:" && $5 ~ /^[0-9]+$/ { printf "%s%s %s", sep, $4, $5; sep = ", " }
		END { print "" }' "$TMP/stress" | sed 's/^/# bogo operations: /'
}

# shrink SECONDS: what the kernel keeps to use again is taken back, as when memory is short,
# which so few stressors do not make it; 4: without a message each time
shrink()
{
	local end=$((SECONDS + $1))

	echo 4 >/proc/sys/vm/drop_caches
	while [ $SECONDS -lt $end ]; do
		echo 2 >/proc/sys/vm/drop_caches
		sleep 0.2
	done
}

mark() { echo "stress $1" >/dev/kmsg; }
reports() { dmesg | tac | sed "/stress $1\$/,\$d" | grep -E "${TERN_BAD_LOG:-BUG}"; }

# beside CLASS FOLDER: stress-ng succeeds, which it does not if its own data is wrong, lasts
# (its unshare would end all stressors at once) and skips nothing, and the data over tern is
# right; neither hangs, and the kernel reports nothing
beside()
{
	local seconds=$((STRESS * TERN_TIMEOUT_SCALE)) words began

	mark "$1"
	read -ra words <<<"${stressors[$1]//@FILES@/$2}"
	start_data $((seconds + 2))
	case $plant in
	data)	spoil_data ;;
	report)	echo "BUG: planted" >/dev/kmsg ;;
	esac
	[ "$1" != memory ] || shrink $seconds &
	began=$SECONDS
	limit $((STRESS + 40)) stress-ng --verify --metrics-brief --oomable \
		--timeout "${seconds}s" "${words[@]}" 2>&1 | tee "$TMP/stress"
	[ $((SECONDS - began)) -ge $seconds ]
	grep -q 'skipped: 0$' "$TMP/stress"
	data_is_right
	not reports "$1"
}

# all_classes LAYER FOLDER
all_classes()
{
	local class why

	for class in "${names[@]}"; do
		# shellcheck disable=SC2053,SC2154 # a glob is meant, of the caller's
		[[ $class == $pick ]] || continue
		why=''
		[ "$class" != hotplug ] || why=$(no_hotplug)
		[ "$class" != files ] || [ -n "$2" ] || why="the layer has no file system"
		if [ -n "$why" ]; then
			ktap_test_skip "$1 beside stress-ng: $class" "$why"
		else
			plant=${plants[0]:-} plants=("${plants[@]:1}")
			: >"$TMP/stress"
			point "$1 beside stress-ng: $class" beside "$class" "$2"
			done_by_stress
		fi
	done
}
