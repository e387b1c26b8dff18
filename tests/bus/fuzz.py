# SPDX-License-Identifier: GPL-2.0-only
"""fuzz.py SECONDS SEED: call all that memsecd's introspection offers, with values of every type.

Prints TAP without a plan. A refused call must be answered with an error, and leave everything as it was; a
property that was written must have that value. Finally the same is tried as nobody, who may only read.
"""

import json
import os
import random
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

SERVICE = "org.memsec1"
OWN = "org.memsec1."
PROPERTIES = "org.freedesktop.DBus.Properties"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

# Methods that anyone may call. A new one may be called by root alone, until it is listed here as well.
READERS = {
    ("org.freedesktop.DBus.Introspectable", "Introspect"),
    ("org.freedesktop.DBus.Peer", "GetMachineId"),
    ("org.freedesktop.DBus.Peer", "Ping"),
    (PROPERTIES, "Get"),
    (PROPERTIES, "GetAll"),
    ("org.memsec1.Manager", "GetUnit"),
}

# What a refused call may change: the error says why it was refused.
VOLATILE = {"Error"}

# What busctl says when memsecd has not answered at all.
NO_ANSWER = ("did not receive a reply", "disconnected", "not provided by any", "timed out", "Connection reset",
             "Name has no owner", "The name is not activatable")

BASIC = "ybnqiuxtdsog"
RIGHT_TIMES = 20
OTHER_TYPES = list(BASIC) + ["v", "as", "a{sv}", "(st)", "aay", "a(sta{sv})", "a{tv}", "", "tt", "ssv"]

INTEGERS = {"y": (0, 2**8 - 1), "n": (-2**15, 2**15 - 1), "q": (0, 2**16 - 1), "i": (-2**31, 2**31 - 1),
            "u": (0, 2**32 - 1), "x": (-2**63, 2**63 - 1), "t": (0, 2**64 - 1)}
NUMBERS = [0, 1, 2, 49, 50, 4096, 1048576, 1048577, 60000000, 60000001, 2**63, 18446744073709652]
TEXTS = ["", " ", ".", "/", "%n%s%x", "\n\t\x1b[2J", "\u20ac\U0001f512", "a" * 255, "b" * 5000, "fixed", "junk",
         "../junk", "/etc/none.bpf.o", "teardown", "teardown.batch", "teardown.max_hold", "Batch", "State",
         "a@1.service", "a@.service", "a@*.service", "*", "*.slice", "-.slice", "[.scope", "a" * 248 + ".service",
         "[[:alpha:]]*.service", "x\\x2dy.service", "org.memsec1.Manager", "org.memsec1.Teardown", PROPERTIES]


class Member:
    """A method, or a property with what can be done to it."""

    def __init__(self, path, interface, name, signature, access=None):
        self.path, self.interface, self.name, self.signature, self.access = path, interface, name, signature, access

    def __str__(self):
        return f"{self.path} {self.interface}.{self.name}"


class Tap:
    count = 0

    @classmethod
    def ok(cls, passed, what, why=""):
        cls.count += 1
        print(f"{'' if passed else 'not '}ok {cls.count} - {what}", flush=True)
        for line in why.splitlines() if not passed else []:
            print("# " + line)


def busctl(*arguments, prefix=()):
    """(status, output). What is not text stays what it is."""
    done = subprocess.run([*prefix, "busctl", "--timeout=20", *arguments], capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace").strip()


def read_members():
    """(methods, properties) of all objects, memsec's own and the standard ones."""
    methods, properties = [], []
    paths = busctl("tree", "--list", SERVICE)[1].split()
    for path in (path for path in paths if path.startswith("/org/memsec1")):
        root = ET.fromstring(busctl("introspect", "--xml-interface", SERVICE, path)[1])
        for interface in root.findall("interface"):
            where = path, interface.get("name")
            for method in interface.findall("method"):
                types = [arg.get("type") for arg in method.findall("arg") if arg.get("direction", "in") == "in"]
                methods.append(Member(*where, method.get("name"), "".join(types)))
            for prop in interface.findall("property"):
                properties.append(Member(*where, prop.get("name"), prop.get("type"), prop.get("access")))
    return methods, properties


def read_state(members):
    """What memsec's own properties say, but for what any call may change."""
    state = {}
    for path, interface in sorted({(m.path, m.interface) for m in members if m.interface.startswith(OWN)}):
        status, text = busctl("--json=short", "call", SERVICE, path, PROPERTIES, "GetAll", "s", interface)
        state[interface, path] = (json.loads(text)["data"][0] if status == 0 else text)
    for values in state.values():
        if isinstance(values, dict):
            for name in VOLATILE:
                values.pop(name, None)
    return state


def split_first(signature):
    """The first complete type of a signature, and the rest."""
    if signature[0] == "a":
        first, rest = split_first(signature[1:])
        return "a" + first, rest
    if signature[0] not in "({":
        return signature[0], signature[1:]
    depth = 0
    for i, c in enumerate(signature):
        depth += (c in "({") - (c in ")}")
        if depth == 0:
            return signature[:i + 1], signature[i + 1:]
    raise ValueError(signature)


def value_of(rng, kind):
    """Random words for busctl that make a value of one complete type."""
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        number = rng.choice(NUMBERS + [low, high, rng.randint(low, high)])
        return [str(min(max(number, low), high))]
    if kind == "b":
        return [rng.choice(["true", "false"])]
    if kind == "d":
        return [rng.choice(["0", "-1.5", "1e300", "nan"])]
    if kind == "s":
        return [rng.choice(TEXTS)]
    if kind == "o":
        return [rng.choice(["/", "/org/memsec1", "/org/memsec1/mechanism/teardown", "/none"])]
    if kind == "g":
        return [rng.choice(["", "t", "a{sv}", "(st)"])]
    if kind == "v":
        inner = rng.choice(list(BASIC) + ["as", "(st)"])
        return [inner, *value_of(rng, inner)]
    if kind[0] == "a":
        n = rng.choice([0, 1, 3])
        return [str(n), *(word for _ in range(n) for word in value_of(rng, kind[1:]))]
    return values_of(rng, kind[1:-1])


def values_of(rng, signature):
    words = []
    while signature:
        kind, signature = split_first(signature)
        words += value_of(rng, kind)
    return words


class Fuzzer:
    """Calls, and what was wrong with their answers."""

    # Calls that should change nothing, until it is looked whether they have.
    UNCHECKED_MAX = 4

    def __init__(self, rng):
        self.rng = rng
        self.methods, self.properties = read_members()
        self.all = self.methods + self.properties
        self.calls = self.refused = 0
        self.unanswered, self.changed, self.wrong = [], [], []
        self.unchecked = []
        self.state = read_state(self.all)

    def check(self):
        now = read_state(self.all)
        if now != self.state:
            self.changed.append(f"one of {self.unchecked}:\n{self.state}\n{now}")
        self.state, self.unchecked = now, []

    def run(self, what, reads, *arguments):
        """Whether memsecd did what the arguments of busctl say, and its answer."""
        status, output = busctl(*arguments)
        self.calls += 1
        if status != 0:
            self.refused += 1
            if not output or any(text in output for text in NO_ANSWER):
                self.unanswered.append(f"{what}: {output or 'no error'}")
        if status != 0 or reads:
            self.unchecked.append(what)
            if len(self.unchecked) == self.UNCHECKED_MAX:
                self.check()
        else:
            # What is different now may be so because of this one.
            self.state, self.unchecked = read_state(self.all), []
        return status == 0, output

    def call(self, m, signature):
        words = values_of(self.rng, signature)
        self.run(f"{m}({signature} {words})", (m.interface, m.name) in READERS, "call", "--",
                 SERVICE, m.path, m.interface, m.name, *([signature, *words] if signature else []))

    def get(self, m):
        return self.run(f"reading {m}", True, "get-property", SERVICE, m.path, m.interface, m.name)

    def set(self, m, signature):
        words = values_of(self.rng, signature)
        what = f"{m} = {signature} {words}"
        done, _ = self.run(what, False, "set-property", "--", SERVICE, m.path, m.interface, m.name, signature,
                           *words)
        if done and (signature != m.signature or "write" not in m.access):
            self.wrong.append(f"{what} was not refused")
        elif done and signature in INTEGERS and self.get(m) != (True, f"{signature} {words[0]}"):
            self.wrong.append(f"{what} is not what it is now")

    def every_type(self):
        """Everything, as it should be and with everything else; a little of what is not memsec's own."""
        for m in self.methods:
            own = m.interface.startswith(OWN)
            for signature in [*RIGHT_TIMES * [m.signature], *OTHER_TYPES] if own else [m.signature, "", "t", "a{sv}"]:
                self.call(m, signature)
        for m in self.properties:
            self.get(m)
            for signature in [*RIGHT_TIMES * [m.signature], *OTHER_TYPES] if "write" in m.access else ["s", "v", "t"]:
                if signature and not split_first(signature)[1]:
                    self.set(m, signature)

    def at_random(self, end):
        own = [m for m in self.all if m.interface.startswith(OWN)]
        while time.monotonic() < end:
            m = self.rng.choice(own if self.rng.random() < 0.8 else self.all)
            right = self.rng.random() < 0.8
            if m.access is None:
                self.call(m, m.signature if right else self.rng.choice(OTHER_TYPES))
            else:
                self.set(m, m.signature if right else self.rng.choice(BASIC))

    def report(self):
        self.check()
        Tap.ok(self.calls > 0 and self.refused > 0, "calls are made, some are refused")
        print(f"# {self.calls} calls of {len(self.methods)} methods and {len(self.properties)} properties, "
              f"{self.refused} refused")
        Tap.ok(not self.unanswered, "each is answered", "\n".join(self.unanswered[:5]))
        Tap.ok(not self.changed, "what is refused changes nothing", "\n".join(self.changed[:3]))
        Tap.ok(not self.wrong, "what is written is there", "\n".join(self.wrong[:5]))


def try_as_nobody(fuzzer):
    """Driven by introspection, so that nothing that is added later goes without."""
    before = read_state(fuzzer.all)
    for m in fuzzer.methods:
        words = values_of(fuzzer.rng, m.signature)
        status, output = busctl("call", "--", SERVICE, m.path, m.interface, m.name,
                                *([m.signature, *words] if m.signature else []), prefix=NOBODY)
        if (m.interface, m.name) not in READERS:
            Tap.ok(status != 0 and "Access denied" in output, f"nobody may not call {m}", output)
        elif not m.signature:
            Tap.ok(status == 0, f"anyone may call {m}", output)
    for m in fuzzer.properties:
        status, output = busctl("get-property", SERVICE, m.path, m.interface, m.name, prefix=NOBODY)
        Tap.ok(status == 0, f"anyone may read {m}", output)
        status, output = busctl("set-property", "--", SERVICE, m.path, m.interface, m.name, m.signature,
                                *values_of(fuzzer.rng, m.signature), prefix=NOBODY)
        Tap.ok(status != 0 and "Access denied" in output, f"nobody may write {m}", output)
    after = read_state(fuzzer.all)
    Tap.ok(before == after, "none of which changes anything", f"{before}\n{after}")


def main():
    end = time.monotonic() + float(sys.argv[1])
    fuzzer = Fuzzer(random.Random(sys.argv[2]))
    Tap.ok({m.name for m in fuzzer.all} >= {"Reload", "SetUnit", "Policy", "Batch", "Counters"},
           "introspection has all objects", str([str(m) for m in fuzzer.all]))
    fuzzer.every_type()
    fuzzer.at_random(end)
    fuzzer.report()
    if os.getuid() == 0:
        try_as_nobody(fuzzer)
    else:
        print(f"ok {Tap.count + 1} - nobody may change anything # SKIP needs root, to be somebody else")


if __name__ == "__main__":
    main()
