# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A private bus with memsec's own bus policy and memsecd on it: source this. Files are below $work, those that
# memsecd looks for below $root; what it says is in $work/log.

here=$(dirname "$(realpath "$0")")
export build=${BUILD:-$here/../../build}
. "$here/../integration/tap.sh"

work=$(mktemp -d)
root=$work/root
memsecd_pid=
trap 'kill $memsecd_pid $bus_pid 2>/dev/null; rm -rf "$work"' EXIT

# nobody is to reach the bus.
chmod 755 "$work"
mkdir -p "$root/etc/memsec/policy.d" "$root/usr/lib/memsec/policies" "$root/sys/kernel"

export manager=(org.memsec1 /org/memsec1 org.memsec1.Manager)
export teardown=(org.memsec1 /org/memsec1/mechanism/teardown org.memsec1.Teardown)

policy() { # LINE...
        printf '%s\n' "version: 1" "$@" >"$root/etc/memsec/policy.yaml"
}

is_served() {
        busctl --quiet get-property "${teardown[@]}" Batch
}

start_memsecd() { # PROGRAM
        "$1" --root="$root" 2>>"$work/log" &
        memsecd_pid=$!
        wait_for 30 is_served
}

# Leaves memsecd's exit status in $status.
stop_memsecd() {
        kill "$memsecd_pid"
        wait "$memsecd_pid"
        # shellcheck disable=SC2034 # for who sources this
        status=$?
        memsecd_pid=
}

# Anonymous memory of memsecd, in KiB.
anonymous() {
        awk '$1 == "RssAnon:" { print $2 }' "/proc/$memsecd_pid/status"
}

# Runs the command, up to 50 times, until three in a row left memsecd with at most SLACK KiB more. How much of
# a heap stays in use is up to chance, libraries and the machine's speed, but a leak makes each run leave more.
settles() { # SLACK COMMAND...
        local slack=$1 most=0 since=0 runs memory

        shift
        for ((runs = 0; runs < 50 && since < 3; runs++)); do
                "$@"
                memory=$(anonymous)
                echo "$memory KiB"
                since=$((since + 1))
                if [ "$memory" -gt $((most + slack)) ]; then
                        most=$memory since=0
                fi
        done
        [ $since -eq 3 ]
}

fds() {
        find "/proc/$memsecd_pid/fd" -type l | wc -l
}

# As the system's own bus: what no policy allows is denied.
cat >"$work/bus.conf" <<END
<busconfig>
  <type>system</type>
  <listen>unix:path=$work/bus.socket</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus"/>
  </policy>
  <policy user="$(id -un)">
    <allow own="*"/>
    <allow send_destination="*"/>
  </policy>
  <include>$(realpath "$here/../../systemd/org.memsec1.conf")</include>
</busconfig>
END

exec 3< <(exec dbus-daemon --config-file="$work/bus.conf" --nofork --print-address 2>"$work/bus.log")
bus_pid=$!
read -r DBUS_SYSTEM_BUS_ADDRESS <&3
export DBUS_SYSTEM_BUS_ADDRESS
