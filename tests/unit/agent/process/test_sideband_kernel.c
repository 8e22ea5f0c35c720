/* SPDX-License-Identifier: Apache-2.0 */
/* BPF programs that come and go are noticed: names at their addresses may be others then. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/sideband.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

static void ignore(const struct process_event *ev, void *data)
{
	(void)ev;
	(void)data;
}

/* How many of the name have come, or gone. */
static size_t count(struct sideband *sb, const char *name_end, bool is_gone)
{
	struct kernel_text text;
	size_t n = 0;

	sideband_read(sb, ignore, NULL);
	sideband_take_kernel_text(sb, &text);
	assert_false(text.is_incomplete);
	for (size_t i = 0; i < text.n; i++) {
		const struct kernel_text_change *change = &text.items[i];

		assert_true(i == 0 || text.items[i - 1].time_ns <= change->time_ns);
		n += change->is_gone == is_gone && change->begin != 0 && change->n_bytes > 0 &&
		     strstr(kernel_text_name(&text, change), name_end);
	}
	kernel_text_fini(&text);
	return n;
}

/* BPF_OBJ_NAME_LEN is 16. */
#define PROGRAM "told_by_sideba"
#define PROGRAM_TOLD "_" PROGRAM

/* r0 = 0; exit. */
static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, PROGRAM, "GPL", insns, ARRAY_SIZE(insns),
			     NULL);
}

static void programs_are_noticed(void **state)
{
	_cleanup_cpus_ struct cpus online = { 0 };
	_cleanup_(telemetry_freep) struct telemetry *telemetry = NULL;
	_cleanup_(sideband_freep) struct sideband *sb = NULL;

	(void)state;
	assert_int_equal(telemetry_new(&telemetry), 0);
	assert_int_equal(cpus_online(&online), 0);
	int r = sideband_new(&(struct sideband_options){ .cpus = &online, .telemetry = telemetry },
			     &sb);
	_cleanup_close_ int fd = r < 0 ? -1 : load_program();
	if (r < 0 || fd < 0) {
		print_message("skip: %s: %s (needs root)\n", r < 0 ? "perf_event_open" : "bpf",
			      strerror(r < 0 ? -r : errno));
		skip();
	}
	if (count(sb, PROGRAM_TOLD, false) == 0) {
		print_message("skip: BPF programs are not compiled here (bpf_jit_enable)\n");
		skip();
	}
	assert_int_equal(count(sb, PROGRAM_TOLD, false), 0);
	cleanup_close_p(&fd);
	/* It is freed when a grace period of RCU is over. */
	for (int i = 0; count(sb, PROGRAM_TOLD, true) == 0; i++) {
		assert_in_range(i, 0, 1000);
		(void)usleep(10000);
	}
}

static const struct unit_test tests[] = {
	TEST(programs_are_noticed),
};

TEST_MAIN(tests)
