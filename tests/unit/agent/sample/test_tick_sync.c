/* SPDX-License-Identifier: Apache-2.0 */
/* What is due where nobody asks for it. The smallest of programs; skipped where this kernel gives none. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/sample/tick.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define HZ 1000
#define WAIT_MS 100

/* return 0; */
static int load_program(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "t_tick_sync", "GPL", insns,
			     ARRAY_SIZE(insns), NULL);
}

/* An agent that is never scraped looks all the same. */
static void test_sync_looks(void **state)
{
	_cleanup_cpus_ struct cpus cpus = { 0 };
	_cleanup_(ticks_freep) struct ticks *ticks = NULL;
	_cleanup_close_ int prog_fd = load_program();

	(void)state;
	assert_int_equal(cpus_online(&cpus), 0);
	int r = prog_fd < 0 ? prog_fd : ticks_new(prog_fd, HZ, &cpus, &ticks);
	if (r == -EPERM || r == -EACCES) {
		printf("skip: no programs or perf events for us: %s\n", strerror(-r));
		cpus_fini(&cpus);
		skip();
	}
	assert_int_equal(r, 0);
	(void)usleep(WAIT_MS * 1000);
	assert_int_equal(ticks_n_due(ticks, cpus.ids[0]), 0);
	assert_int_equal(ticks_sync(ticks, &cpus), 0);
	assert_true(ticks_n_due(ticks, cpus.ids[0]) >= WAIT_MS - 2);
}

static const struct unit_test tests[] = {
	TEST(test_sync_looks),
};

TEST_MAIN(tests)
