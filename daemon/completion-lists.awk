# SPDX-License-Identifier: GPL-2.0-only
#
# Turns what "memsecctl --help" prints into a sed script that puts its lists into memsecctl.bash.in.

function add(list, word) {
	lists[list] = lists[list] (list in lists && lists[list] ? " " : "") "'" word "'"
}

/^[A-Z][a-z]*:$/ {
	section = $1
	next
}

/^  / && section == "Verbs:" {
	# The arguments are in capitals; the first word of the help is not.
	add("VERBS", $1 ":" ($2 ~ /^\[?[A-Z][A-Z]/ ? $2 : ""))
}

/^  / && section == "Keys:" {
	add("KEYS", $1)
	if (match($0, /: /)) {
		words = substr($0, RSTART + 2)
		gsub(/, | or /, " ", words)
		add("CHOICES", $1 ":" words)
	}
}

/^  / && section == "Options:" {
	for (i = 1; i <= NF && $i ~ /^-/; i++) {
		sub(/=.*/, "=", $i)
		add("OPTIONS", $i)
	}
}

END {
	for (list in lists)
		printf "s/@%s@/%s/\n", list, lists[list]
}
