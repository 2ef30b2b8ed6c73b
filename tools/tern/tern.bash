# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Completion for tern(8). Commands, settings and their values are those of its help.

# commands that begin a line of usage
_tern_commands()
{
	tern help 2>/dev/null | sed -nE 's/^(Usage:|      ) tern ([a-z]+).*/\2/p' | sort -u
}

_tern_options()
{
	tern help 2>/dev/null | sed -nE 's/^    (-.), (--[a-z]+).*/\1 \2/p'
}

_tern_devices()
{
	tern show 2>/dev/null | sed -nE 's/^([^ ]+): netdev .*/\1/p'
}

_tern_settings()
{
	tern set help 2>/dev/null | sed -nE 's/^    ([a-z0-9-]+) .*/\1/p'
}

# links that have a file
_tern_files()
{
	local file
	for file in /etc/tern/links/*.conf; do
		[ ! -f "$file" ] || basename "$file" .conf
	done
}

# _tern_values SETTING: the words of its line, if it has words
_tern_values()
{
	tern set help 2>/dev/null | sed -nE "/ to [0-9]/d; s/^    $1 +(.*)/\\1/p" |
		sed -E 's/a list of|each once|,|\bor\b|\band\b/ /g'
}

# the orders of tern top
_tern_orders()
{
	tern help top 2>/dev/null | sed -n '/^Orders:/{n;p}'
}

# _tern_words: what may come after the words of the command line, without options
_tern_words()
{
	case $1 in
	'')	_tern_commands ;;
	help)	[ $# -gt 1 ] || _tern_commands ;;
	top)
		case $# in
		1)	_tern_devices; echo dev help ;;
		2)	[ "$2" != dev ] || _tern_devices ;;
		esac
		;;
	show)
		case $# in
		1)	_tern_devices; echo connections dev help ;;
		2)	case $2 in connections | dev) _tern_devices ;; esac ;;
		esac
		;;
	up | down)
		[ $# -gt 1 ] || { _tern_files; echo help; }
		;;
	save | showconf | setconf)
		[ $# -gt 1 ] || { _tern_devices; echo help; }
		;;
	set)
		[ "${2-}" != dev ] || set -- set "${@:3}"
		if [ $# = 1 ]; then
			_tern_devices
			echo dev help
		elif [ $(($# % 2)) = 0 ]; then
			_tern_settings
		else
			_tern_values "${!#}"
		fi
		;;
	esac
}

# compgen expands its words: a device may have any name, as $(command)
_tern_plain() { _tern_words "$@" | grep -oE '[[:alnum:]_.,:-]+'; }

_tern()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words=() word last=

	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		# an option, and the value of one that has a value
		[[ $word == -* || $last == -@(n|d|s|-count|-delay|-sort) ]] || words+=("$word")
		last=$word
	done
	if [[ $last == -@(s|-sort) ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_tern_orders)" -- "$cur")
	elif [[ $last == -@(n|d|-count|-delay) ]]; then
		COMPREPLY=()
	elif [[ "${#words[@]} ${words[0]-}" == @('2 setconf'|'1 metrics') ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_tern_options)" -- "$cur")
	else
		[ ${#words[@]} -gt 0 ] || words=('')
		mapfile -t COMPREPLY < <(compgen -W "$(_tern_plain "${words[@]}")" -- "$cur")
	fi
}

complete -F _tern tern
