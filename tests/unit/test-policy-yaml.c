// SPDX-License-Identifier: GPL-2.0-only

/* The YAML reader: what a text sets, and every error with its place. */

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "internal.h"
#include "policy.h"
#include "util.h"

DEFINE_TRIVIAL_CLEANUP_FUNC(PolicyModel *, policy_model_free)

#define NS_PER_MS 1000000

/* Values that no case below sets. */
#define UNSET_POLICY "unset"
#define UNSET UINT64_C(77)

typedef struct Good {
        const char *name;
        const char *text;
        const char *policy;
        uint64_t batch, max_hold_ns;
} Good;

static const Good good[] = {
        { "no bytes", "", UNSET_POLICY, UNSET, UNSET },
        { "comments only", "# nothing\n\n# here\n", UNSET_POLICY, UNSET, UNSET },
        { "document without content", "---\n...\n", UNSET_POLICY, UNSET, UNSET },
        { "version only", "version: 1\n", UNSET_POLICY, UNSET, UNSET },
        { "all keys", "version: 1\npolicy: fixed\nteardown:\n  batch: 64\n  max_hold: 5ms\n", "fixed", 64,
          5 * NS_PER_MS },
        { "version last", "policy: fixed\nversion: 1\n", "fixed", UNSET, UNSET },
        { "one of two tunables", "version: 1\nteardown:\n  batch: 64\n", UNSET_POLICY, 64, UNSET },
        { "empty group", "version: 1\nteardown: {}\n", UNSET_POLICY, UNSET, UNSET },
        { "flow style", "{version: 1, teardown: {batch: 64, max_hold: 5ms}}", UNSET_POLICY, 64,
          5 * NS_PER_MS },
        { "JSON", "{\"version\": 1, \"policy\": \"fixed\"}", "fixed", UNSET, UNSET },
        { "quotes", "'version': '1'\nteardown: {\"batch\": \"64\"}\n", UNSET_POLICY, 64, UNSET },
        { "a directive and markers", "%YAML 1.1\n---\nversion: 1\n...\n", UNSET_POLICY, UNSET, UNSET },
        { "comment of a directive", "#a\n%YAML 1.1 # b#c\n---\nversion: 1\n", UNSET_POLICY, UNSET, UNSET },
        { "DOS line ends", "version: 1\r\nteardown:\r\n  batch: 64\r\n", UNSET_POLICY, 64, UNSET },
        { "no final newline", "version: 1\npolicy: fixed", "fixed", UNSET, UNSET },
        { "tab between key and value", "version:\t1\n", UNSET_POLICY, UNSET, UNSET },
        { "comment in other scripts", "# \xd0\xb4\xd0\xb0\nversion: 1 # \xe2\x82\xac\n", UNSET_POLICY, UNSET,
          UNSET },
        { "byte order mark", "\xef\xbb\xbfversion: 1\n", UNSET_POLICY, UNSET, UNSET },
        { "limits", "version: 1\nteardown: {batch: 1048576, max_hold: 60s}\n", UNSET_POLICY, 1048576,
          UINT64_C(60000) * NS_PER_MS },
        { "name with all it may have", "version: 1\npolicy: a_b-c9\n", "a_b-c9", UNSET, UNSET },
        { "path", "version: 1\npolicy: /opt/My Policies/a.b.bpf.o\n", "/opt/My Policies/a.b.bpf.o", UNSET,
          UNSET },
};

typedef struct Bad {
        const char *name;
        const char *text;
        size_t size;            /* 0: strlen(text) */
        const char *errors;     /* each as "line:column: message", or ": message" of a whole file */
} Bad;

#define BATCH "teardown.batch: expected a number of pages from 1 to 1048576, found "
#define MAX_HOLD "teardown.max_hold: expected a duration from 50us to 60s, in ns, us, ms or s, found "
#define DIRECTION "directmap.direction: expected follow, up or down, found "
#define POLICY "policy: expected " POLICY_NAME_EXPECTED ", found "
#define TOP_KEY                                                                                 \
        "expected version, policy, units, tune, teardown, directmap, keyid or xpfo, found the " \
        "unknown key "
#define TEARDOWN_KEY "teardown: expected batch or max_hold, found the unknown key "
#define UNIT "expected " UNIT_PATTERN_EXPECTED ", found "
#define UNIT_KEY "a.service: expected tune, teardown, directmap, keyid or xpfo, found the unknown key "
#define BOOLEAN ", which YAML reads as a boolean"
#define NOTHING ", which YAML reads as nothing"
#define OCTAL ", which looks octal; write it without the leading zero"

/* One bad value in its place. */
#define BAD_BATCH(name, value, found) \
        { name, "version: 1\nteardown:\n  batch: " value "\n", 0, "3:10: " BATCH found }
#define BAD_HOLD(name, value, found) \
        { name, "version: 1\nteardown:\n  max_hold: " value "\n", 0, "3:13: " MAX_HOLD found }
#define BAD_DIRECTION(name, value, found) \
        { name, "version: 1\ndirectmap:\n  direction: " value "\n", 0, "3:14: " DIRECTION found }
#define BAD_POLICY(name, value, found) \
        { name, "version: 1\npolicy: " value "\n", 0, "2:9: " POLICY found }

static const Bad bad[] = {
        /* version */
        { "no version", "policy: fixed\n", 0, "1:1: expected 'version: 1', found no version" },
        { "no version after a comment", "# hello\n\n  policy: fixed\n", 0,
          "3:3: expected 'version: 1', found no version" },
        { "nothing but braces", "{}", 0, "1:1: expected 'version: 1', found no version" },
        { "another version", "version: 2\n", 0, "1:10: version: expected 1, found '2'" },
        { "version with a point", "version: 1.0\n", 0,
          "1:10: version: expected 1, found '1.0', which is not a whole number" },
        { "version without value", "version:\n", 0, "1:9: version: expected 1, found nothing" },
        { "version twice", "version: 1\nversion: 1\n", 0,
          "2:1: version: expected one, found another; the first is on line 1" },

        { "no blank before the comment of a directive", "# x#y\n%YAML 1.1#z\n---\nversion: 1\n", 0,
          "2:10: expected a blank before '#' in a directive, found none" },

        /* keys */
        { "unknown key", "version: 1\ncolor: red\n", 0, "2:1: " TOP_KEY "'color'" },
        { "misspelt key", "version: 1\npolcy: fixed\n", 0,
          "2:1: " TOP_KEY "'polcy'; did you mean 'policy'?" },
        { "misspelt group", "version: 1\nTeardwon: {batch: yes}\n", 0,
          "2:1: " TOP_KEY "'Teardwon'; did you mean 'teardown'?" },
        { "misspelt tunable", "version: 1\nteardown:\n  bacth: 1\n", 0,
          "3:3: " TEARDOWN_KEY "'bacth'; did you mean 'batch'?" },
        { "dash for underscore", "version: 1\nteardown: {max-hold: 1ms}\n", 0,
          "2:12: " TEARDOWN_KEY "'max-hold'; did you mean 'max_hold'?" },
        { "tunable out of its group", "version: 1\nbatch: 1\n", 0,
          "2:1: " TOP_KEY "'batch'; did you mean 'batch' below 'teardown'?" },
        { "path as key", "version: 1\nteardown.batch: 1\n", 0,
          "2:1: " TOP_KEY "'teardown.batch'; did you mean 'batch' below 'teardown'?" },
        { "top key in a group", "version: 1\nteardown: {version: 1}\n", 0,
          "2:12: " TEARDOWN_KEY "'version'" },
        { "below an unknown key", "version: 1\nx:\n  - {y: [1, 2, {z: yes}]}\n  - &a *b\npolicy: 3\n", 0,
          "2:1: " TOP_KEY "'x'\n"
          "4:8: expected YAML, but did not find expected '-' indicator while parsing a block collection "
          "that begins on line 3" },
        { "key twice", "version: 1\nteardown:\n  batch: 1\n  max_hold: 1s\n  batch: 2\n", 0,
          "5:3: teardown.batch: expected one, found another; the first is on line 3" },
        { "group twice", "version: 1\nteardown: {batch: 1}\nteardown: {batch: 2}\n", 0,
          "3:1: teardown: expected one, found another; the first is on line 2" },
        { "key twice, once in quotes", "version: 1\npolicy: a\n\"policy\": a\n", 0,
          "3:1: policy: expected one, found another; the first is on line 2" },
        { "key thrice, first one wrong", "version: 1\npolicy: [a]\npolicy: b\npolicy: c\n", 0,
          "2:9: " POLICY "a list\n"
          "3:1: policy: expected one, found another; the first is on line 2\n"
          "4:1: policy: expected one, found another; the first is on line 2" },
        { "list as key", "version: 1\n? [a, b]\n: c\n", 0, "2:3: expected a key, found a list" },
        { "mapping as key", "version: 1\nteardown:\n  {a: b}: c\n", 0,
          "3:3: teardown: expected a key, found a mapping" },
        { "empty key", "version: 1\n?\n: c\n", 0, "2:2: expected a key, found nothing" },
        { "null key", "version: 1\nnull: c\n", 0, "2:1: expected a key, found 'null'" NOTHING },
        { "boolean key", "version: 1\nyes: c\n", 0, "2:1: expected a key, found 'yes'" BOOLEAN },
        { "merge key", "version: 1\nteardown:\n  <<: {batch: 1}\n", 0,
          "3:3: teardown: expected a key, found '<<', which YAML reads as a merge key" },
        { "key in other scripts", "version: 1\n\xd0\xb4: 1\n", 0, "2:1: " TOP_KEY "'\\xd0\\xb4'" },
        { "terminal control in a key", "version: 1\n\"\\e[2J\": 1\n", 0, "2:1: " TOP_KEY "'\\x1b[2J'" },
        { "DEL in a key", "version: 1\n\"\\x7f\": 1\n", 0, "2:1: " TOP_KEY "'\\x7f'" },

        /* numbers */
        BAD_BATCH("yes", "yes", "'yes'" BOOLEAN),
        BAD_BATCH("no", "no", "'no'" BOOLEAN),
        BAD_BATCH("n", "n", "'n'" BOOLEAN),
        BAD_BATCH("Y", "Y", "'Y'" BOOLEAN),
        BAD_BATCH("true", "true", "'true'" BOOLEAN),
        BAD_BATCH("False", "False", "'False'" BOOLEAN),
        BAD_BATCH("on", "on", "'on'" BOOLEAN),
        BAD_BATCH("OFF", "OFF", "'OFF'" BOOLEAN),
        BAD_BATCH("yes in quotes", "\"yes\"", "'yes'"),
        BAD_BATCH("yEs", "yEs", "'yEs'"),
        BAD_BATCH("a word", "many", "'many'"),
        { "no value", "version: 1\nteardown:\n  batch:\n", 0, "3:9: " BATCH "nothing" },
        BAD_BATCH("empty quotes", "''", "nothing"),
        BAD_BATCH("tilde", "~", "'~'" NOTHING),
        BAD_BATCH("null", "null", "'null'" NOTHING),
        BAD_BATCH("Null", "Null", "'Null'" NOTHING),
        BAD_BATCH("octal", "0755", "'0755'" OCTAL),
        BAD_BATCH("octal of YAML 1.2", "0o755", "'0o755', which is octal or binary; write it in decimal"),
        BAD_BATCH("hexadecimal", "0x1000", "'0x1000', which is hexadecimal; write it in decimal"),
        BAD_BATCH("binary", "0b11", "'0b11', which is octal or binary; write it in decimal"),
        BAD_BATCH("base 60", "1:30", "'1:30', which YAML may read as a number in base 60"),
        BAD_BATCH("fraction", "4096.5", "'4096.5', which is not a whole number"),
        BAD_BATCH("exponent", "4e3", "'4e3', which is not a whole number"),
        BAD_BATCH("infinity", ".inf", "'.inf'"),
        BAD_BATCH("minus", "-4096", "'-4096', which has a sign"),
        BAD_BATCH("plus", "+4096", "'+4096', which has a sign"),
        BAD_BATCH("comma", "4,096", "'4,096', which has a separator among its digits"),
        BAD_BATCH("underscore", "4_096", "'4_096', which has a separator among its digits"),
        BAD_BATCH("unit of a plain number", "4096 pages", "'4096 pages', which is more than a number"),
        BAD_BATCH("too small", "0", "'0'"),
        BAD_BATCH("too large", "1048577", "'1048577'"),
        BAD_BATCH("overflow", "18446744073709555712", "'18446744073709555712'"),
        BAD_BATCH("list", "[4096]", "a list"),
        BAD_BATCH("mapping", "{pages: 4096}", "a mapping"),
        BAD_BATCH("tag", "!!int 4096", "the tag '!!int'"),
        BAD_BATCH("own tag", "!pages 4096", "the tag '!pages'"),
        BAD_BATCH("anchor", "&n 4096", "the anchor '&n'"),
        BAD_BATCH("alias", "*n", "the alias '*n'"),
        BAD_BATCH("list under an anchor", "&n [4096, {a: b}]", "the anchor '&n'"),
        BAD_BATCH("NUL in quotes", "\"4096\\0\"", "text with a NUL byte"),
        BAD_BATCH("several lines", "|\n    4096\n    1", "'4096\\x0a1\\x0a', which is more than a number"),
        BAD_HOLD("no unit", "500", "'500', which has no unit"),
        BAD_HOLD("wrong unit", "500m", "'500m', whose unit is not one of these"),
        BAD_HOLD("unit of sizes", "4KiB", "'4KiB', whose unit is not one of these"),
        BAD_HOLD("too short", "49us", "'49us'"),
        BAD_HOLD("too long", "2000s", "'2000s'"),
        BAD_HOLD("duration overflow", "18446744074s", "'18446744074s'"),
        BAD_HOLD("boolean for a duration", "off", "'off'" BOOLEAN),

        /* choices */
        BAD_DIRECTION("another word", "left", "'left'"),
        BAD_DIRECTION("misspelt word", "dwon", "'dwon'; did you mean 'down'?"),
        BAD_DIRECTION("capitals", "Up", "'Up'; did you mean 'up'?"),
        BAD_DIRECTION("boolean for a word", "no", "'no'" BOOLEAN),
        BAD_DIRECTION("boolean in quotes", "'no'", "'no'"),
        BAD_DIRECTION("null for a word", "~", "'~'" NOTHING),
        BAD_DIRECTION("empty quotes for a word", "''", "nothing"),
        BAD_DIRECTION("number for a word", "1", "'1'"),
        BAD_DIRECTION("list of words", "[up]", "a list"),
        BAD_DIRECTION("tag on a word", "!!str up", "the tag '!!str'"),

        /* policy */
        BAD_POLICY("boolean for a name", "no", "'no'" BOOLEAN),
        BAD_POLICY("null for a name", "~", "'~'" NOTHING),
        BAD_POLICY("number for a name", "4096", "'4096', which does not begin with a letter"),
        BAD_POLICY("dash first", "-fixed", "'-fixed', which does not begin with a letter"),
        BAD_POLICY("capitals", "Fixed", "'Fixed', which has other characters"),
        BAD_POLICY("point", "fixed.bpf.o", "'fixed.bpf.o', which has other characters"),
        BAD_POLICY("relative path", "./fixed.bpf.o", "'./fixed.bpf.o', which is a relative path"),
        BAD_POLICY("way out", "../fixed", "'../fixed', which is a relative path"),
        BAD_POLICY("65 letters", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                   "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'..., which is too long"),
        BAD_POLICY("path of something else", "/bin/true", "'/bin/true', which is not a .bpf.o file"),
        BAD_POLICY("path without name", "/opt/.bpf.o", "'/opt/.bpf.o', which is not a .bpf.o file"),
        BAD_POLICY("path with two dots", "/opt/../a.bpf.o",
                   "'/opt/../a.bpf.o', which has an empty, '.' or '..' part"),
        BAD_POLICY("path with a dot", "/opt/./a.bpf.o",
                   "'/opt/./a.bpf.o', which has an empty, '.' or '..' part"),
        BAD_POLICY("path with two slashes", "/opt//a.bpf.o",
                   "'/opt//a.bpf.o', which has an empty, '.' or '..' part"),
        BAD_POLICY("path with a newline", "\"/opt/\\n.bpf.o\"",
                   "'/opt/\\x0a.bpf.o', which has characters that are not printable ASCII"),
        BAD_POLICY("path with a line separator", "\"/\\u2028.bpf.o\"",
                   "'/\\xe2\\x80\\xa8.bpf.o', which has characters that are not printable ASCII"),
        BAD_POLICY("path with a DEL", "\"/\\x7f.bpf.o\"",
                   "'/\\x7f.bpf.o', which has characters that are not printable ASCII"),
        BAD_POLICY("mapping for a name", "{name: fixed}", "a mapping"),

        /* structure */
        { "scalar for a group", "version: 1\nteardown: 5\n", 0,
          "2:11: teardown: expected a mapping with batch or max_hold, found '5'" },
        { "nothing for a group", "version: 1\nteardown:\n", 0,
          "2:10: teardown: expected a mapping with batch or max_hold, found nothing" },
        { "list for a group", "version: 1\nteardown:\n  - batch: 1\n", 0,
          "3:3: teardown: expected a mapping with batch or max_hold, found a list" },
        { "anchor on a group", "version: 1\nteardown: &t\n  batch: yes\n", 0,
          "2:11: teardown: expected a mapping with batch or max_hold, found the anchor '&t'" },
        { "tag on a group", "version: 1\nteardown: !!map {batch: 1}\n", 0,
          "2:11: teardown: expected a mapping with batch or max_hold, found the tag '!!map'" },
        { "alias for a group", "version: 1\nteardown: *t\n", 0,
          "2:11: teardown: expected a mapping with batch or max_hold, found the alias '*t'" },
        { "anchor on a key", "version: 1\n&k policy: fixed\n", 0,
          "2:1: expected a key, found the anchor '&k'" },
        { "alias as key", "version: 1\n*k : fixed\n", 0, "2:1: expected a key, found the alias '*k'" },
        { "tag on a key", "version: 1\n!!str policy: fixed\n", 0,
          "2:1: expected a key, found the tag '!!str'" },
        { "list at the top", "- version: 1\n", 0,
          "1:1: expected a mapping that begins with 'version: 1', found a list" },
        { "word at the top", "fixed\n", 0,
          "1:1: expected a mapping that begins with 'version: 1', found 'fixed'" },
        { "null at the top", "~\n", 0,
          "1:1: expected a mapping that begins with 'version: 1', found '~'" NOTHING },
        { "quotes at the top", "''\n", 0,
          "1:1: expected a mapping that begins with 'version: 1', found nothing" },
        { "anchor at the top", "&a\nversion: 1\n", 0,
          "1:1: expected a mapping that begins with 'version: 1', found the anchor '&a'" },
        { "two documents", "version: 1\n---\nversion: 1\n", 0, "2:1: expected one document, found another" },
        { "two documents, the first empty", "---\n---\nversion: 1\n", 0,
          "2:1: expected one document, found another" },
        { "as deep as is allowed", "version: 1\nx: {a: {a: {a: {a: {a: {a: [1]}}}}}}\n", 0,
          "2:1: " TOP_KEY "'x'" },
        { "too deep", "version: 1\nx: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}\npolicy: 5\n", 0,
          "2:1: " TOP_KEY "'x'\n"
          "2:32: expected at most 8 mappings or lists within each other, found more" },

        /* what is no YAML, after what is found before it */
        { "tab for indentation", "version: 1\nteardown:\n\tbatch: 1\n", 0,
          "3:1: expected spaces, found a tab, which YAML does not allow here" },
        { "tab after other scripts", "# \xd0\xb4\xd0\xb0\nversion: 1\nteardown:\n\tbatch: 1\n", 0,
          "4:1: expected spaces, found a tab, which YAML does not allow here" },
        { "no colon", "version: 1\npolicy fixed\nteardown: {}\n", 0,
          "3:1: expected YAML, but could not find expected ':' while scanning a simple key "
          "that begins on line 2" },
        { "errors before it", "version: 2\npolicy: yes\nteardown: ]\n", 0,
          "1:10: version: expected 1, found '2'\n"
          "2:9: " POLICY "'yes'" BOOLEAN "\n"
          "3:11: expected YAML, but did not find expected node content while parsing a block node "
          "that begins on line 3" },
        { "no end of a quote", "version: 1\npolicy: \"fixed\n", 0,
          "3:1: expected YAML, but found unexpected end of stream while scanning a quoted scalar "
          "that begins on line 2" },
        { "no end of braces", "{version: 1", 0,
          "2:1: expected YAML, but did not find expected ',' or '}' while parsing a flow mapping "
          "that begins on line 1" },
        { "two values on a line", "version: 1\npolicy: a: b\n", 0,
          "2:10: expected YAML, but mapping values are not allowed in this context" },
        { "deeper without reason", "version: 1\n  policy: fixed\n", 0,
          "1:10: version: expected 1, found '1 policy', which is more than a number\n"
          "2:9: expected YAML, but mapping values are not allowed in this context" },
        { "unknown version of YAML", "%YAML 2.0\n---\nversion: 1\n", 0,
          "1:1: expected YAML, but found incompatible YAML document" },
        { "unknown handle of a tag", "version: !x!y 1\n", 0,
          "1:10: expected YAML, but found undefined tag handle while parsing a node that begins on line 1" },

        /* units */
        { "units without a value", "version: 1\nunits:\n", 0,
          "2:7: units: expected a mapping with units, found nothing" },
        { "list of units", "version: 1\nunits: [a.service]\n", 0,
          "2:8: units: expected a mapping with units, found a list" },
        { "unit without a suffix", "version: 1\nunits: {a: {teardown: {batch: yes}}}\n", 0,
          "2:9: units: " UNIT "'a', which does not end in one of these" },
        { "glob without quotes", "version: 1\nunits:\n  *.service:\n    teardown: {batch: 1}\n", 0,
          "3:4: expected YAML, but did not find expected alphabetic or numeric character while scanning an "
          "alias that begins on line 3" },
        { "list for a unit's name", "version: 1\nunits:\n  ? [a.service]\n  : {}\n", 0,
          "3:5: units: " UNIT "a list" },
        { "unit twice", "version: 1\nunits:\n  a.service: {}\n  'a.service': {teardown: {batch: 0}}\n", 0,
          "4:3: units.a.service: expected one, found another; the first is on line 3" },
        { "unit without a value", "version: 1\nunits:\n  a.service:\n", 0,
          "3:13: a.service: expected a mapping with tune, teardown, directmap, keyid or xpfo, found "
          "nothing" },
        { "policy of a unit", "version: 1\nunits:\n  a.service:\n    policy: fixed\n", 0,
          "4:5: " UNIT_KEY "'policy'" },
        { "units of a unit", "version: 1\nunits: {a.service: {units: {b.service: {}}}}\n", 0,
          "2:21: " UNIT_KEY "'units'" },
        { "version of a unit", "version: 1\nunits: {a.service: {version: 1}}\n", 0,
          "2:21: " UNIT_KEY "'version'" },
        { "all errors of units at once",
          "version: 1\n"
          "units:\n"
          "  a.service:\n"
          "    teardown: {batch: 0, max_hold: 5}\n"
          "  b.socket: {teardown: {batch: 0}}\n"
          "  '*.slice': {teardown: {batch: yes}}\n"
          "teardown: {batch: 0}\n", 0,
          "4:23: a.service: " BATCH "'0'\n"
          "4:36: a.service: " MAX_HOLD "'5', which has no unit\n"
          "5:3: units: " UNIT "'b.socket', which does not end in one of these\n"
          "6:33: *.slice: " BATCH "'yes'" BOOLEAN "\n"
          "7:19: " BATCH "'0'" },

        /* what is no text */
        { "NUL", "version: 1\npolicy: a\0b\n", 23,
          "2:10: expected UTF-8 text, found 0x00: control characters are not allowed" },
        { "escape character", "version: 1\n# \xd0\xb4 \x1b[2J\n", 0,
          "2:5: expected UTF-8 text, found 0x1b: control characters are not allowed" },
        { "Latin-1", "version: 1\n# gr\xfc\xdf\n", 0,
          "2:5: expected UTF-8 text, found 0xfc: invalid leading UTF-8 octet" },
        { "half a character", "version: 1\n# \xe2\x82\n", 0,
          "2:4: expected UTF-8 text, found 0x0a: invalid trailing UTF-8 octet" },
        { "overlong character", "version: 1\n# \xc0\xaf\n", 0,
          "2:3: expected UTF-8 text, but invalid length of a UTF-8 sequence" },
        { "surrogate", "# \xed\xa0\x80\n", 0,
          "1:3: expected UTF-8 text, found 0xd800: invalid Unicode character" },
        { "UTF-16", "\xff\xfev\0e\0r\0", 8,
          "1:1: expected UTF-8 text, found 0xff: invalid leading UTF-8 octet" },

        /* all together */
        { "all errors at once",
          "version: one\n"
          "policy: Fixed\n"
          "teardown:\n"
          "  batch: 0\n"
          "  max_hold: 5\n"
          "  foo: bar\n"
          "mktme: {}\n"
          "policy: &a fixed\n", 0,
          "1:10: version: expected 1, found 'one'\n"
          "2:9: " POLICY "'Fixed', which has other characters\n"
          "4:10: " BATCH "'0'\n"
          "5:13: " MAX_HOLD "'5', which has no unit\n"
          "6:3: " TEARDOWN_KEY "'foo'\n"
          "7:1: " TOP_KEY "'mktme'\n"
          "8:1: policy: expected one, found another; the first is on line 2" },
};

/* A model in which every value is one that no file sets. */
static PolicyModel *unset_model(void) {
        PolicyModel *model;

        assert_int_equal(policy_model_new(&model), 0);
        assert_int_equal(free_and_strdup(&model->policy, UNSET_POLICY), 0);
        for (const KeySpec *spec = key_specs; spec < key_specs + n_key_specs; spec++)
                key_spec_set(spec, &model->params, UNSET);

        return model;
}

static void test_good(void **state) {
        const Good *c = *state;
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();
        _cleanup_(policy_errors_done) PolicyErrors errors = {};

        assert_int_equal(policy_model_read_text(model, "f", c->text, strlen(c->text), &errors), 0);
        assert_int_equal(errors.n_items, 0);
        assert_string_equal(model->policy, c->policy);
        assert_true(model->params.teardown.batch == c->batch);
        assert_true(model->params.teardown.max_hold_ns == c->max_hold_ns);
}

/* The errors of TEXT, one a line. */
static char *errors_of(const char *text, size_t size) {
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *exact = NULL;
        char *formatted;

        /* Without a NUL behind it, so that reading on is an error the sanitizer sees. */
        exact = malloc(size);
        assert_non_null(exact);
        memcpy(exact, text, size);

        assert_int_equal(policy_model_read_text(model, "", exact, size, &errors), -EBADMSG);
        assert_int_equal(policy_errors_format(&errors, &formatted), 0);
        return formatted;
}

static void test_bad(void **state) {
        const Bad *c = *state;
        _cleanup_free_ char *found = NULL, *expected = NULL, *rest = NULL;
        char *line, *save = NULL;

        found = errors_of(c->text, c->size ?: strlen(c->text));

        /* Every line begins with the colon behind the empty file name. */
        rest = strdup(c->errors);
        expected = calloc(2, strlen(c->errors) + 1);
        for (line = strtok_r(rest, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                if (*expected)
                        strcat(expected, "\n");
                strcat(strcat(expected, ":"), line);
        }

        assert_string_equal(found, expected);
}

static void test_too_large(void **state) {
        _cleanup_free_ char *text = NULL, *errors = NULL;
        _cleanup_(policy_errors_done) PolicyErrors none = {};
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();

        text = malloc(POLICY_FILE_MAX + 1);
        assert_non_null(text);
        memset(text, '#', POLICY_FILE_MAX + 1);

        errors = errors_of(text, POLICY_FILE_MAX + 1);
        assert_string_equal(errors, ": expected at most 1 MiB, found more");

        assert_int_equal(policy_model_read_text(model, "f", text, POLICY_FILE_MAX, &none), 0);
}

static void test_long_word(void **state) {
        static const char before[] = "version: 1\npolicy: /";
        _cleanup_free_ char *text = NULL, *errors = NULL;

        text = calloc(1, sizeof(before) + PATH_MAX);
        assert_non_null(text);
        memset(stpcpy(text, before), 'a', PATH_MAX - 1);

        errors = errors_of(text, strlen(text));
        assert_string_equal(errors, ":2:9: " POLICY "'/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'..., "
                            "which is 4096 bytes long");
}

/* Checks a path of N parts of PART_LENGTH letters each, the last with the suffix. */
static int check_path(size_t n, size_t part_length) {
        _cleanup_free_ char *path = NULL, *error = NULL;
        char *end;
        int r;

        end = path = calloc(n, 1 + part_length + strlen(".bpf.o") + 1);
        assert_non_null(path);
        for (size_t i = 0; i < n; i++) {
                *end++ = '/';
                end = memset(end, 'a', part_length) + part_length;
        }
        strcpy(end, ".bpf.o");

        r = policy_name_check(path, &error);
        assert_true(r == 0 || endswith(error, ", which is too long"));
        return r;
}

static void test_long_path(void **state) {
        assert_int_equal(check_path(1, NAME_MAX - strlen(".bpf.o")), 0);
        assert_int_equal(check_path(1, NAME_MAX - strlen(".bpf.o") + 1), -EINVAL);
        assert_int_equal(check_path(2044, 1), 0);
        assert_int_equal(check_path(2045, 1), -EINVAL);
}

/* Errors without end must not become a message without end. */
static void test_many_errors(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        assert_non_null(f);
        for (int i = 0; i < 1000; i++)
                fprintf(f, "key%d: 1\n", i);
        assert_int_equal(fclose(f), 0);

        assert_int_equal(policy_model_read_text(model, "f", text, size, &errors), -EBADMSG);
        assert_int_equal(errors.n_items, 101);
        assert_int_equal(errors.items[99].line, 100);
        assert_string_equal(errors.items[100].message,
                            "expected fewer than 100 errors, the rest of the file is not read");
}

/* Errors of one text do not count for the next. */
static void test_errors_add_up(void **state) {
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = NULL;

        assert_int_equal(policy_model_read_text(model, "one", "version: 2", 10, &errors), -EBADMSG);
        assert_int_equal(policy_model_read_text(model, "two", "version: 1", 10, &errors), 0);
        assert_int_equal(policy_model_read_text(model, "th\nree", "version: 3", 10, &errors), -EBADMSG);

        assert_int_equal(policy_errors_format(&errors, &text), 0);
        assert_string_equal(text, "one:1:10: version: expected 1, found '2'\n"
                            "th\\x0aree:1:10: version: expected 1, found '3'");
}

static void test_later_text_wins(void **state) {
        static const char first[] = "version: 1\npolicy: a\nteardown: {batch: 5, max_hold: 1s}\n";
        static const char second[] = "version: 1\nteardown: {batch: 6}\n";
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();
        _cleanup_(policy_errors_done) PolicyErrors errors = {};

        assert_int_equal(policy_model_read_text(model, "f", first, strlen(first), &errors), 0);
        assert_int_equal(policy_model_read_text(model, "f", second, strlen(second), &errors), 0);
        assert_string_equal(model->policy, "a");
        assert_true(model->params.teardown.batch == 6);
        assert_true(model->params.teardown.max_hold_ns == UINT64_C(1000) * NS_PER_MS);
}

/* What statement I about units is. */
static void check_unit(const PolicyModel *model, size_t i, const char *pattern, const char *key,
                       uint64_t value) {
        const KeySpec *spec = key_spec_find(key);

        assert_true(i < model->n_units);
        assert_string_equal(model->units[i].pattern, pattern);
        assert_true(model->units[i].keys & (UINT64_C(1) << (spec - key_specs)));
        assert_true(key_spec_get(spec, &model->units[i].params) == value);
}

static void test_units(void **state) {
        static const char first[] = "version: 1\n"
                                    "units:\n"
                                    "  \"g@*.service\": {teardown: {batch: 5, max_hold: 1s}}\n"
                                    "  a.slice:\n"
                                    "    teardown:\n"
                                    "      batch: 6\n"
                                    "  empty.scope: {}\n"
                                    "teardown: {batch: 7}\n";
        static const char second[] = "version: 1\nunits: {'g@*.service': {teardown: {batch: 8}}}\n";
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();
        _cleanup_(policy_errors_done) PolicyErrors errors = {};

        assert_int_equal(policy_model_read_text(model, "f", first, strlen(first), &errors), 0);
        assert_true(model->params.teardown.batch == 7);
        assert_true(model->params.teardown.max_hold_ns == UNSET);
        assert_int_equal(model->n_units, 2);
        check_unit(model, 0, "g@*.service", "teardown.batch", 5);
        check_unit(model, 0, "g@*.service", "teardown.max_hold", UINT64_C(1000) * NS_PER_MS);
        check_unit(model, 1, "a.slice", "teardown.batch", 6);
        assert_int_equal(model->units[1].keys, 1);

        assert_int_equal(policy_model_read_text(model, "f", second, strlen(second), &errors), 0);
        assert_int_equal(model->n_units, 3);
        check_unit(model, 0, "g@*.service", "teardown.max_hold", UINT64_C(1000) * NS_PER_MS);
        check_unit(model, 2, "g@*.service", "teardown.batch", 8);
}

static void test_many_units(void **state) {
        static const char another[] = "{version: 1, units: {m.scope: {teardown: {batch: 1}}}}";
        _cleanup_(policy_model_freep) PolicyModel *model = unset_model();
        _cleanup_(policy_errors_done) PolicyErrors errors = {};
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f;

        f = open_memstream(&text, &size);
        assert_non_null(f);
        fputs("version: 1\nunits:\n", f);
        for (int i = 0; i < POLICY_UNITS_MAX; i++)
                fprintf(f, "  u%d.service: {teardown: {batch: 1}}\n", i);
        assert_int_equal(fflush(f), 0);
        assert_int_equal(policy_model_read_text(model, "f", text, size, &errors), 0);
        assert_int_equal(model->n_units, POLICY_UNITS_MAX);

        fputs("  more.service: {teardown: {batch: 1}}\n", f);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(policy_model_read_text(model, "f", text, size, &errors), -EBADMSG);
        assert_int_equal(errors.items[0].line, POLICY_UNITS_MAX + 3);
        assert_string_equal(errors.items[0].message,
                            "units: expected at most 4096, found more, which are not read");

        policy_errors_done(&errors);
        assert_int_equal(policy_model_read_text(model, "f", another, strlen(another), &errors), -EBADMSG);
        assert_string_equal(errors.items[0].message,
                            "m.scope: expected at most 4096 units in all files, found more");
}

int main(void) {
        static const struct CMUnitTest others[] = {
                cmocka_unit_test(test_units),
                cmocka_unit_test(test_many_units),
                cmocka_unit_test(test_too_large),
                cmocka_unit_test(test_long_word),
                cmocka_unit_test(test_long_path),
                cmocka_unit_test(test_many_errors),
                cmocka_unit_test(test_errors_add_up),
                cmocka_unit_test(test_later_text_wins),
        };
        struct CMUnitTest tests[ELEMENTSOF(good) + ELEMENTSOF(bad) + ELEMENTSOF(others)], *t = tests;

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                *t++ = (struct CMUnitTest) {
                        .name = good[i].name,
                        .test_func = test_good,
                        .initial_state = (void *) (good + i),
                };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                *t++ = (struct CMUnitTest) {
                        .name = bad[i].name,
                        .test_func = test_bad,
                        .initial_state = (void *) (bad + i),
                };

        memcpy(t, others, sizeof(others));

        return cmocka_run_group_tests_name("policy-yaml", tests, NULL, NULL);
}
