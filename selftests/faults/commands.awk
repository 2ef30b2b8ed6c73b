# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The parts of each edit of a list of faults, as `NAME@FILE@KIND@SCRIPT`. KIND is command:
# SCRIPT is one command, with the addresses of the blocks around it; range: SCRIPT prints
# the line where a range ends; or whole, the last one: SCRIPT is the edit.

BEGIN { FS = " *@ *" }

/^#/ || NF < 3 { next }
{
	edit = $3; at = 1; depth = 0
	while (at <= length(edit))
		command()
	out("whole", edit)
}

function here() { return substr(edit, at, 1) }
function out(kind, script) { print $1 "@" $2 "@" kind "@" script }

# go past the next delimiter that has no backslash
function skip(delimiter)
{
	while (at <= length(edit) && here() != delimiter)
		at += here() == "\\" ? 2 : 1
	at++
}

# go past an address, if there is one, and return it
function address(  from)
{
	from = at
	if (here() == "/") {
		at++
		skip("/")
	} else {
		while (here() ~ /[0-9$]/)
			at++
	}
	return substr(edit, from, at - from)
}

# go past a command, or the start or end of a block
function command(  first, last, from, delimiter)
{
	while (here() ~ /[; ]/)
		at++
	if (here() == "}") {
		depth--
		at++
		return
	}
	from = at
	first = address()
	if (here() == ",") {
		at++
		last = address()
		out("range", first "," last "{" last "p}")
	}
	if (here() == "{") {
		at++
		block[++depth] = substr(edit, from, at - from)
		return
	}
	if (here() == "s") {
		at++
		delimiter = here()
		at++
		skip(delimiter)
		skip(delimiter)
		while (here() ~ /[a-z0-9]/)
			at++
	} else if (here() == "a") {
		at = length(edit) + 1
	} else {
		at++
	}
	out("command", in_blocks(substr(edit, from, at - from)))
}

function in_blocks(script,   i)
{
	for (i = depth; i; i--)
		script = block[i] script "}"
	return script
}
