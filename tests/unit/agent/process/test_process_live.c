/* SPDX-License-Identifier: Apache-2.0 */
/* The process table fed by the side-band of this kernel. Skips where it may not be opened. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process/process.h"
#include "agent/process/sideband.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

/* In no program of ours, but in every glibc. */
#define LIBRARY "libBrokenLocale.so.1"
#define N_RUNS 300

struct fixture {
	struct telemetry *telemetry;
	struct sideband *sb;
	struct process_table *table;
	uint32_t pid;	      /* to be kept when it ends */
	struct process *kept; /* reference */
};

static void keep(struct process *p, void *data)
{
	struct fixture *f = data;

	if (p->pid == f->pid && !f->kept)
		f->kept = process_ref(p);
}

static void set_up(struct fixture *f)
{
	_cleanup_cpus_ struct cpus online = { 0 };

	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(cpus_online(&online), 0);
	struct process_table_options o = { .telemetry = f->telemetry,
					   .hooks = { .on_exit = keep, .data = f } };
	assert_int_equal(process_table_new(&o, &f->table), 0);
	int r = sideband_new(
		&(struct sideband_options){ .cpus = &online, .telemetry = f->telemetry }, &f->sb);
	if (r < 0)
		print_message("skip: perf_event_open: %s (needs CAP_PERFMON or root)\n",
			      strerror(-r));
}

static void tear_down(struct fixture *f)
{
	process_unref(f->kept);
	sideband_free(f->sb);
	process_table_free(f->table);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

static void to_table(const struct process_event *ev, void *data)
{
	struct fixture *f = data;

	process_table_apply(f->table, ev);
}

static pid_t start_true(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	return pid;
}

static const struct mapped_file *find_file(const struct process *p, const char *part)
{
	for (uint32_t i = 0; i < p->mappings->n; i++) {
		const struct mapped_file *f = p->mappings->items[i].file;

		if (f && strstr(f->path, part))
			return f;
	}
	return NULL;
}

/* Born, run and gone between two rounds: known all the same. */
static void test_gone_before_the_round(void **state)
{
	struct fixture *f = *state;

	if (!f->sb)
		skip();
	f->pid = (uint32_t)start_true();
	assert_int_equal(waitpid((pid_t)f->pid, NULL, 0), f->pid);
	sideband_read(f->sb, to_table, f);
	assert_null(process_table_find(f->table, f->pid));
	assert_non_null(f->kept);
	assert_non_null(find_file(f->kept, "/true"));
	assert_non_null(find_file(f->kept, "libc.so"));
	assert_non_null(find_file(f->kept, "[vdso]"));
	const struct process_identity *id = process_identity(f->table, f->kept);
	assert_string_equal(id->comm, "true");
	assert_non_null(strstr(id->exe, "/true"));
	/* Where it ran is told by its parent, which is us. */
	struct process *self = process_table_get(f->table, (uint32_t)getpid(), NULL);
	assert_string_equal(id->cgroup_path, process_identity(f->table, self)->cgroup_path);
	assert_string_not_equal(id->cgroup_path, "");
	/* Its files are those of /proc/PID/maps: the same key, one object. */
	const struct mapped_file *libc = find_file(self, "libc.so");
	assert_ptr_equal(libc, find_file(f->kept, "libc.so"));
}

/* What /proc shows at last is what events had told. */
static void test_events_equal_proc(void **state)
{
	struct fixture *f = *state;
	struct process_table *fresh = NULL;
	struct process_table_options o = { .telemetry = f->telemetry };
	char ready[4];
	int out[2];

	if (!f->sb)
		skip();
	assert_int_equal(pipe(out), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)dup2(out[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", "echo up; kill -STOP $$", (char *)NULL);
		_exit(127);
	}
	(void)close(out[1]);
	assert_true(read(out[0], ready, sizeof(ready)) > 0);
	sideband_read(f->sb, to_table, f);
	struct process *by_events = process_table_find(f->table, (uint32_t)pid);
	assert_non_null(by_events);
	assert_int_equal(process_table_new(&o, &fresh), 0);
	struct process *by_proc = process_table_get(fresh, (uint32_t)pid, NULL);
	assert_non_null(by_proc->mappings);
	assert_int_equal(by_events->mappings->n, by_proc->mappings->n);
	for (uint32_t i = 0; i < by_proc->mappings->n; i++) {
		const struct mapping *a = &by_events->mappings->items[i];
		const struct mapping *b = &by_proc->mappings->items[i];

		assert_int_equal(a->begin, b->begin);
		assert_int_equal(a->end, b->end);
		assert_int_equal(a->file_off, b->file_off);
		assert_int_equal(a->kind, b->kind);
		if (!b->file)
			continue;
		assert_int_equal(a->file->key.dev, b->file->key.dev);
		assert_int_equal(a->file->key.inode, b->file->key.inode);
		assert_string_equal(a->file->path, b->file->path);
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)close(out[0]);
	process_table_free(fresh);
}

static void test_dlopen(void **state)
{
	struct fixture *f = *state;

	if (!f->sb)
		skip();
	struct process *self = process_table_get(f->table, (uint32_t)getpid(), NULL);
	uint32_t generation = self->generation;
	void *library = dlopen(LIBRARY, RTLD_NOW);
	if (!library) {
		print_message("skip: no %s here\n", LIBRARY);
		skip();
	}
	sideband_read(f->sb, to_table, f);
	assert_int_not_equal(self->generation, generation);
	assert_non_null(find_file(self, LIBRARY));
	(void)dlclose(library);
}

static void test_cost(void **state)
{
	struct fixture *f = *state;
	uint64_t spent_ns = 0;
	uint32_t id = 0;

	if (!f->sb)
		skip();
	for (int i = 0; i < N_RUNS; i++) {
		f->pid = (uint32_t)start_true();
		assert_int_equal(waitpid((pid_t)f->pid, NULL, 0), f->pid);
		uint64_t begin = clock_mono_ns();
		sideband_read(f->sb, to_table, f);
		spent_ns += clock_mono_ns() - begin;
		assert_non_null(f->kept);
		const struct mapped_file *binary = find_file(f->kept, "/true");
		assert_true(id == 0 || binary->id == id);
		id = binary->id;
		process_unref(f->kept);
		f->kept = NULL;
	}
	print_message("one short-lived process, from ring to table: %.1f us\n",
		      (double)spent_ns / N_RUNS / 1000);
	assert_true(process_table_n(f->table) < 100);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_gone_before_the_round),
	FIXTURE_TEST(test_events_equal_proc),
	FIXTURE_TEST(test_dlopen),
	FIXTURE_TEST(test_cost),
};

TEST_MAIN(tests)
