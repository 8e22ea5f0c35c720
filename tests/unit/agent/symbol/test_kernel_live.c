/* SPDX-License-Identifier: Apache-2.0 */
/* This kernel's BPF programs: what the side-band tells of them is what /proc/kallsyms would. */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/sideband.h"
#include "agent/symbol/kallsyms.h"
#include "agent/symbol/kernel_symbols.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define N_ROUNDS 20

struct fixture {
	struct cpus online;
	struct telemetry *telemetry;
	struct sideband *sideband;
	struct arena names;
	struct kernel_symbols *symbols;
};

static void set_up(struct fixture *f)
{
	arena_init(&f->names, (size_t)1 << 20);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(cpus_online(&f->online), 0);
	(void)sideband_new(
		&(struct sideband_options){ .cpus = &f->online, .telemetry = f->telemetry },
		&f->sideband);
	assert_int_equal(kernel_symbols_new(
				 &(struct kernel_symbols_options){ .path = "/proc/kallsyms",
								   .max_bytes = KALLSYMS_MAX_BYTES,
								   .names = &f->names },
				 &f->symbols),
			 0);
	kernel_symbols_set_time(f->symbols, NS_PER_S);
}

static void tear_down(struct fixture *f)
{
	kernel_symbols_free(f->symbols);
	arena_fini(&f->names);
	sideband_free(f->sideband);
	cpus_fini(&f->online);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

static int load_program(const char *name)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, name, "GPL", insns, ARRAY_SIZE(insns),
			     NULL);
}

/* 0: it is not compiled, or nobody may see where. */
static uint64_t address_of(int fd)
{
	uint64_t address = 0;
	struct bpf_prog_info info = { .nr_jited_ksyms = 1,
				      .jited_ksyms = (uint64_t)(uintptr_t)&address };
	uint32_t n = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &n) == 0 ? address : 0;
}

static const char *name_of(struct fixture *f, uint64_t pc)
{
	struct frames frames;

	return kernel_symbols_resolve(f->symbols, pc, &frames) ? frames.items[0].function : "-";
}

static void ignore(const struct process_event *ev, void *data)
{
	(void)ev;
	(void)data;
}

static void follow(struct fixture *f)
{
	struct kernel_text text;

	kernel_symbols_end(f->symbols);
	sideband_read(f->sideband, ignore, NULL);
	sideband_take_kernel_text(f->sideband, &text);
	assert_false(text.is_incomplete);
	kernel_symbols_changed(f->symbols, &text);
	kernel_text_fini(&text);
}

static void assert_as_in_kallsyms(uint64_t address, const char *name)
{
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = NULL;
	struct kallsyms_symbol symbol;

	assert_int_equal(kallsyms_load("/proc/kallsyms", KALLSYMS_MAX_BYTES, &kallsyms), 0);
	assert_true(kallsyms_find(kallsyms, address, &symbol));
	assert_int_equal(symbol.begin, address);
	assert_string_equal(symbol.name, name);
	assert_string_equal(symbol.module, "bpf");
}

static void programs_have_their_names(void **state)
{
	struct fixture *f = *state;
	_cleanup_close_ int first = load_program("told_once");

	if (!f->sideband || first < 0 || address_of(first) == 0) {
		print_message("skip: side-band or BPF programs cannot be made here\n");
		skip();
	}
	if (strstr(name_of(f, address_of(first)), "told_once") == NULL) {
		print_message("skip: no BPF programs in /proc/kallsyms\n");
		skip();
	}
	for (int i = 0; i < N_ROUNDS; i++) {
		_cleanup_close_ int fd = load_program(i % 2 ? "odd" : "even");

		assert_true(fd >= 0);
		follow(f);
		const char *name = name_of(f, address_of(fd));
		assert_non_null(strstr(name, i % 2 ? "_odd" : "_even"));
		assert_as_in_kallsyms(address_of(fd), name);
	}
	assert_int_equal(kernel_symbols_n_read(f->symbols), 1);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(programs_have_their_names),
};

TEST_MAIN(tests)
