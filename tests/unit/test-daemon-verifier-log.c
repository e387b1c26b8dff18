// SPDX-License-Identifier: GPL-2.0-only

/* What of the verifier's log is told to who asked: logs are those of Linux 6.12. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util.h"
#include "verifier-log.h"

#define FAILED(name, why) "libbpf: prog '" name "': BPF program load failed: " why "\n"
#define BEGIN(name) "libbpf: prog '" name "': -- BEGIN PROG LOAD LOG --\n"
#define END(name, error)                                                        \
        "-- END PROG LOAD LOG --\n"                                             \
        "libbpf: prog '" name "': failed to load: " error "\n"                  \
        "libbpf: failed to load object 'mine'\n"
#define PROCESSED                                                               \
        "processed 3 insns (limit 1000000) max_states_per_insn 0 total_states 0 "       \
        "peak_states 0 mark_read 0\n"

static void is(const char *text, const char *expected) {
        _cleanup_free_ char *summary = verifier_log_summary(text);

        if (!expected) {
                assert_null(summary);
                return;
        }

        assert_non_null(summary);
        assert_string_equal(summary, expected);
}

static void test_with_source(void **state) {
        is(FAILED("writes_ctx_teardown", "Permission denied") BEGIN("writes_ctx_teardown")
           "0: R1=ctx() R10=fp0\n"
           "; __u64 BPF_PROG(writes_ctx_teardown, struct memsec_teardown_ctx *t) @ writes_ctx.bpf.c:6\n"
           "0: (79) r1 = *(u64 *)(r1 +0)\n"
           "func 'teardown' arg0 has btf_id 2917 type STRUCT 'memsec_teardown_ctx'\n"
           "1: R1_w=ptr_memsec_teardown_ctx()\n"
           "; t->max_hold_ns = ~0ULL; @ writes_ctx.bpf.c:8\n"
           "2: (7b) *(u64 *)(r1 +56) = r2\n"
           "only read is supported\n"
           PROCESSED END("writes_ctx_teardown", "-13"),
           "'writes_ctx_teardown': only read is supported\n"
           "writes_ctx.bpf.c:8: t->max_hold_ns = ~0ULL;");
}

static void test_without_source(void **state) {
        is(FAILED("sleepable_teardown", "Invalid argument") BEGIN("sleepable_teardown")
           "attach to unsupported member teardown of struct memsec_ops\n"
           PROCESSED END("sleepable_teardown", "-22"),
           "'sleepable_teardown': attach to unsupported member teardown of struct memsec_ops");
}

/* The complaint may begin as what is known of a register does. */
static void test_register(void **state) {
        is(FAILED("p", "Permission denied") BEGIN("p")
           "; return *(int *)t->total; @ a @ b.bpf.c:7\n"
           "1: (61) r0 = *(u32 *)(r1 +0)\n"
           "R1=scalar() R10=fp0\n"
           "R1 invalid mem access 'scalar'\n"
           "R2_w=0\n"
           "verification time 51 usec\n"
           "stack depth 0\n"
           PROCESSED END("p", "-13"),
           "'p': R1 invalid mem access 'scalar'\nb.bpf.c:7: return *(int *)t->total; @ a");
}

/* Of an object with several programs it is the one that was refused. */
static void test_program(void **state) {
        is("libbpf: prog 'first': something else\n"
           FAILED("second", "Argument list too long") BEGIN("second")
           "BPF program is too large. Processed 1000001 insn\n"
           PROCESSED END("second", "-7"),
           "'second': BPF program is too large. Processed 1000001 insn");
}

static void test_none(void **state) {
        is("", NULL);
        is("libbpf: failed to find valid kernel BTF\n", NULL);
        is(BEGIN("p") "0: (b7) r0 = 0\n", NULL);
        is(BEGIN("p") PROCESSED END("p", "-13"), NULL);
        is("-- BEGIN PROG LOAD LOG --\nno\n-- END PROG LOAD LOG --\n", NULL);
        /* Nothing but the separator. */
        is(BEGIN("p") "; @ \n;\n; \n @ \nx\n" END("p", "-1"), "'p': x");
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_with_source),
                cmocka_unit_test(test_without_source),
                cmocka_unit_test(test_register),
                cmocka_unit_test(test_program),
                cmocka_unit_test(test_none),
        };

        return cmocka_run_group_tests_name("daemon-verifier-log", tests, NULL, NULL);
}
