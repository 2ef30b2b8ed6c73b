# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# From the sources that points.sed changed: "FILE:LINE CALL FUNCTION" of each point.
FNR == 1 { file = FILENAME; sub(/^\.\//, "", file) }
/^[a-z].*\(/ && !/;$/ {
	function_name = $0
	sub(/UVERBS_HANDLER\(/, "", function_name)
	sub(/[()].*/, "", function_name)
	sub(/^.*[ *]/, "", function_name)
}
{
	line = $0
	while (match(line, /NTH_[a-z0-9_]+\(/)) {
		print file ":" FNR, substr(line, RSTART + 4, RLENGTH - 5), function_name
		line = substr(line, RSTART + RLENGTH)
	}
}
