# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# TAP for tests in shell: source this, call the functions, end with done_testing.

tap_count=0
tap_failed=0

# ok DESC
ok() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

# not_ok DESC
not_ok() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
}

# skip DESC WHY
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# Lines about the result before.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# is ACTUAL EXPECTED DESC
is() {
	if [ "$1" = "$2" ]; then
		ok "$3"
	else
		not_ok "$3"
		diag "got '$1'"
		diag "expected '$2'"
	fi
}

# like TEXT EXTENDED-REGEX DESC
like() {
	if printf '%s\n' "$1" 2>/dev/null | grep -Eq -- "$2"; then
		ok "$3"
	else
		not_ok "$3"
		diag "got '$1'"
		diag "expected a match of '$2'"
	fi
}

# check DESC COMMAND...: the command is to succeed
check() {
	tap_desc=$1
	shift
	if tap_output=$("$@" 2>&1); then
		ok "$tap_desc"
	else
		tap_status=$?
		not_ok "$tap_desc"
		diag "'$*' ended with $tap_status"
		diag "$tap_output"
	fi
}

# check_fails DESC COMMAND...: the command is to fail
check_fails() {
	tap_desc=$1
	shift
	if tap_output=$("$@" 2>&1); then
		not_ok "$tap_desc"
		diag "'$*' succeeded"
		diag "$tap_output"
	else
		ok "$tap_desc"
	fi
}

# wait_for SECONDS COMMAND...: until the command succeeds; fails when it never does
wait_for() {
	tap_left=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ $tap_left -gt 0 ] || return 1
		tap_left=$((tap_left - 1))
		sleep 0.1
	done
}

# Prints the plan and ends the program: 0 when everything passed.
done_testing() {
	echo "1..$tap_count"
	[ $tap_failed -eq 0 ] && [ $tap_count -gt 0 ]
	exit
}
