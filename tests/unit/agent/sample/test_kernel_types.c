/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel half, relocated with the part of the kernel's types and with all of them, is the same program. Skipped where the machine refuses. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/sample/kernel_types.h"
#include "agent/util/cleanup.h"
#include "bpf/sample.skel.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/refused.h"

static struct str object_types(const struct sample_bpf *bpf)
{
	uint32_t n = 0;
	const void *raw = btf__raw_data(bpf_object__btf(bpf->obj), &n);

	assert_non_null(raw);
	return (struct str){ raw, n };
}

static struct sample_bpf *load(const char *path, int fd)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = path);
	struct sample_bpf *bpf = sample_bpf__open_opts(&opts);

	assert_non_null(bpf);
	if (path)
		assert_int_equal(kernel_types_fill(fd, object_types(bpf)), 0);
	/* Nothing is relocated or loaded of a program that is not asked for. */
	assert_int_equal(bpf_program__set_autoload(bpf->progs.sample, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.tracepoint, true), 0);
	int r = sample_bpf__load(bpf);
	if (r == -EPERM) {
		sample_bpf__destroy(bpf);
		printf("skip: the kernel refuses to load\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_true(bpf_program__fd(bpf->progs.sample) >= 0);
	assert_true(bpf_program__fd(bpf->progs.tracepoint) >= 0);
	return bpf;
}

/* Maps have other descriptors each time. */
static void assert_same_instruction(const struct bpf_insn *a, const struct bpf_insn *b)
{
	assert_int_equal(a->code, b->code);
	assert_int_equal(a->dst_reg, b->dst_reg);
	assert_int_equal(a->src_reg, b->src_reg);
	assert_int_equal(a->off, b->off);
	if (a->code != (BPF_LD | BPF_IMM | BPF_DW) || a->src_reg == 0)
		assert_int_equal(a->imm, b->imm);
}

static void assert_same(const struct bpf_program *whole, const struct bpf_program *part)
{
	size_t n = bpf_program__insn_cnt(whole);
	const struct bpf_insn *a = bpf_program__insns(whole);
	const struct bpf_insn *b = bpf_program__insns(part);

	assert_true(n > 100);
	assert_int_equal(bpf_program__insn_cnt(part), n);
	for (size_t i = 0; i < n; i++)
		assert_same_instruction(&a[i], &b[i]);
}

static void test_same_program(void **state)
{
	char path[KERNEL_TYPES_PATH_BYTES];

	(void)state;
	if (refused())
		skip();
	_cleanup_close_ int fd = kernel_types_new(path);
	assert_true(fd >= 0);
	struct sample_bpf *part = load(path, fd);
	struct sample_bpf *whole = load(NULL, -1);

	assert_same(whole->progs.sample, part->progs.sample);
	assert_same(whole->progs.tracepoint, part->progs.tracepoint);
	sample_bpf__destroy(part);
	sample_bpf__destroy(whole);
}

/* What makes it worth while. */
static void test_is_small(void **state)
{
	char path[KERNEL_TYPES_PATH_BYTES];
	struct stat st;

	(void)state;
	if (refused())
		skip();
	_cleanup_close_ int fd = kernel_types_new(path);
	struct sample_bpf *bpf = sample_bpf__open();
	assert_true(fd >= 0);
	assert_non_null(bpf);
	assert_int_equal(kernel_types_fill(fd, object_types(bpf)), 0);
	assert_int_equal(fstat(fd, &st), 0);
	printf("%lld bytes\n", (long long)st.st_size);
	assert_in_range(st.st_size, 1000, 1 << 20);
	sample_bpf__destroy(bpf);
}

static void test_no_object_types(void **state)
{
	char path[KERNEL_TYPES_PATH_BYTES];

	(void)state;
	_cleanup_close_ int fd = kernel_types_new(path);
	assert_true(fd >= 0);
	assert_true(kernel_types_fill(fd, STR_LIT("no type information")) < 0);
}

static const struct unit_test tests[] = {
	TEST(test_same_program),
	TEST(test_is_small),
	TEST(test_no_object_types),
};

TEST_MAIN(tests)
