/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half under kernels that have lost a field: for each field that bpf/kernel.h names, the types of this kernel without it. The
 * program is loaded each time. Skipped where the machine refuses.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sample/kernel_types.h"
#include "agent/sample/sampler.h"
#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "bpf/sample.skel.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/sample/refused.h"

/* What bpf/kernel.h has, at least: what is not found cannot be taken away. */
#define LEAST_FIELDS 35

/* The name before a flavour (three underscores), as CO-RE compares names. */
static bool same_name(const char *a, const char *b)
{
	const char *end_a = strstr(a, "___");
	const char *end_b = strstr(b, "___");
	size_t n_a = end_a ? (size_t)(end_a - a) : strlen(a);
	size_t n_b = end_b ? (size_t)(end_b - b) : strlen(b);

	return n_a == n_b && memcmp(a, b, n_a) == 0;
}

static const char *name_of(const struct btf *btf, uint32_t off)
{
	return btf__name_by_offset(btf, off);
}

/* The member, or that of a nameless structure within; NULL: there is none. */
static struct btf_member *find_member(struct btf *btf, const struct btf_type *t, const char *name)
{
	struct btf_member *members = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *member = name_of(btf, members[i].name_off);
		struct btf_member *inner = NULL;

		if (strcmp(member, name) == 0)
			return &members[i];
		if (!*member && btf_is_composite(btf__type_by_id(btf, members[i].type)))
			inner = find_member(btf, btf__type_by_id(btf, members[i].type), name);
		if (inner)
			return inner;
	}
	return NULL;
}

/* Named otherwise: to CO-RE it is another field. How many there were. */
static unsigned int take_away(struct btf *btf, const char *type, const char *field)
{
	unsigned int n = 0;

	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		struct btf_member *m = NULL;

		if (btf_is_composite(t) && same_name(name_of(btf, t->name_off), type))
			m = find_member(btf, t, field);
		if (m) {
			m->name_off = t->name_off;
			n++;
		}
	}
	return n;
}

static struct str object_types(const struct sample_bpf *bpf)
{
	uint32_t n = 0;
	const void *raw = btf__raw_data(bpf_object__btf(bpf->obj), &n);

	assert_non_null(raw);
	return (struct str){ raw, n };
}

/* The types of this kernel that the object names. */
static struct btf *kernel_types(const struct sample_bpf *bpf)
{
	char path[KERNEL_TYPES_PATH_BYTES];
	_cleanup_close_ int fd = kernel_types_new(path);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(kernel_types_fill(fd, object_types(bpf)), 0);
	assert_int_equal(fstat(fd, &st), 0);
	void *raw = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(raw != MAP_FAILED);
	struct btf *btf = btf__new(raw, (uint32_t)st.st_size);
	(void)munmap(raw, (size_t)st.st_size);
	assert_non_null(btf);
	return btf;
}

/* Nothing is relocated or loaded of a program that is not asked for. */
static void want_programs(struct sample_bpf *bpf)
{
	assert_int_equal(bpf_program__set_autoload(bpf->progs.sample, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.tracepoint, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_out, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_waking, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_woken, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_fork, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_begin, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_sum, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_open, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.tcp_call, true), 0);
	assert_int_equal(bpf_program__set_autoload(bpf->progs.tcp_retransmit, true), 0);
	/* Of a kernel that has the tracepoint; where a program is attached otherwise it is the same one. */
	if (bpf_program__set_attach_target(bpf->progs.off_cpu_in, 0, "sched_exit_tp") == 0)
		assert_int_equal(bpf_program__set_autoload(bpf->progs.off_cpu_in, true), 0);
}

static void assert_loaded(const struct sample_bpf *bpf)
{
	assert_true(bpf_program__fd(bpf->progs.sample) >= 0);
	assert_true(bpf_program__fd(bpf->progs.tracepoint) >= 0);
	assert_true(bpf_program__fd(bpf->progs.off_cpu_out) >= 0);
	assert_true(bpf_program__fd(bpf->progs.off_cpu_open) >= 0);
	assert_true(bpf_program__fd(bpf->progs.tcp_call) >= 0);
}

/* Everything that knobs can switch on, so that each field is asked for. 0 or -errno. */
static int load(const struct btf *types)
{
	char path[KERNEL_TYPES_PATH_BYTES];
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = path);
	_cleanup_close_ int fd = kernel_types_new(path);
	uint32_t n = 0;
	const void *raw = btf__raw_data(types, &n);

	assert_non_null(raw);
	assert_int_equal(file_write_fd(fd, raw, n), 0);
	struct sample_bpf *bpf = sample_bpf__open_opts(&opts);
	assert_non_null(bpf);
	bpf->rodata->pid_namespace = 1;
	bpf->rodata->deep_copies =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_ringbuf_reserve_dynptr,
					NULL) == 1;
	bpf->rodata->thin_any = true;
	bpf->rodata->off_cpu_reasons = bpf->rodata->off_cpu_wakers = true;
	want_programs(bpf);
	int r = sample_bpf__load(bpf);
	if (r == 0)
		assert_loaded(bpf);
	sample_bpf__destroy(bpf);
	return r;
}

/* Loads without this one field. False: this kernel has none, or it is nothing that CO-RE could be asked for. */
static bool loads_without(const struct sample_bpf *bpf, const char *type, const char *field)
{
	struct btf *types = kernel_types(bpf);
	bool taken = take_away(types, type, field) > 0;
	int r = taken ? load(types) : 0;

	btf__free(types);
	if (r == -EPERM) {
		printf("skip: the kernel refuses to load\n");
		skip();
	}
	if (r < 0)
		print_error("without %s.%s: %s\n", type, field, strerror(-r));
	assert_int_equal(r, 0);
	return taken;
}

static unsigned int loads_without_each(const struct sample_bpf *bpf, const struct btf *object,
				       const struct btf_type *t)
{
	const char *type = name_of(object, t->name_off);
	const struct btf_member *members = btf_members(t);
	unsigned int n = 0;

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		n += loads_without(bpf, type, name_of(object, members[i].name_off));
	return n;
}

static void test_without_each_field(void **state)
{
	unsigned int n = 0;

	(void)state;
	if (refused())
		skip();
	struct sample_bpf *bpf = sample_bpf__open();
	assert_non_null(bpf);
	const struct btf *object = bpf_object__btf(bpf->obj);
	for (uint32_t id = 1; id < btf__type_cnt(object); id++) {
		const struct btf_type *t = btf__type_by_id(object, id);

		if (btf_is_struct(t) && *name_of(object, t->name_off))
			n += loads_without_each(bpf, object, t);
	}
	sample_bpf__destroy(bpf);
	printf("%u fields\n", n);
	assert_true(n >= LEAST_FIELDS);
}

/* Those that are known to be under discussion, by name. */
static void test_without_in_execve(void **state)
{
	(void)state;
	if (refused())
		skip();
	struct sample_bpf *bpf = sample_bpf__open();
	assert_non_null(bpf);
	if (!loads_without(bpf, "task_struct", "in_execve"))
		printf("this kernel has no task_struct.in_execve\n");
	assert_true(loads_without(bpf, "task_struct", "self_exec_id"));
	sample_bpf__destroy(bpf);
}

static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static const struct unit_test tests[] = {
	TEST(test_without_in_execve),
	TEST(test_without_each_field),
};

int main(void)
{
	libbpf_set_print(print_nothing);
	return RUN_TESTS(tests);
}
