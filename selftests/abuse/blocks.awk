# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# From objdump -dr of an object: "FILE FUNCTION BLOCKS" of each function, with -v file=FILE.
# UML's code model loads the address of __sanitizer_cov_trace_pc() into a register, once for
# several blocks, and perhaps spills it: its calls are those through what holds it.
/^[0-9a-f]+ <.*>:$/ {
	f = substr($2, 2, length($2) - 3)
	split("", holds)
	next
}
/__sanitizer_cov_trace_pc/ { holds[to] = 1; if (direct) n[f]++; next }
/R_X86_64/ { if (loads) delete holds[to]; next }
{
	direct = $2 == "call" && $3 !~ /^\*/
	loads = $2 == "movabs"
	if ($2 == "call") {
		sub(/^\*/, "", $3)
		if ($3 in holds)
			n[f]++
	} else if ($2 ~ /^(mov|movabs)$/) {
		to = $3
		sub(/^.*,/, "", to)
		# an address in memory has commas of its own
		if ($3 ~ /\)$/ && match($3, /-?0x[0-9a-f]+\([^)]*\)$/))
			to = substr($3, RSTART)
		from = substr($3, 1, length($3) - length(to) - 1)
		if (from in holds)
			holds[to] = 1
		else if ($2 == "mov")
			delete holds[to]
	}
}
END { for (f in n) print file, f, n[f] }
