/* SPDX-License-Identifier: Apache-2.0 */
/* The tables, written into real BPF maps and read back from them. */
#include "tests/support/unit.h"
#include "tests/unit/agent/unwind/make_mappings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/unwind/tables.h"
#include "agent/unwind/wire_mapping.h"
#include "agent/util/clock.h"

#define N_PROCESSES 20
#define N_OBJECTS 64
#define PAGE 4096ULL
/* So many of the largest arrays fit into the only segment there may be. */
#define FULL 10
#define MOST WIRE_MAX_PROCESS_MAPPINGS

/* What else is known of a process. */
struct runtimes {
	uint32_t kind; /* of whoever is published next */
	int processes_fd;
	unsigned int n_published;
	bool was_known; /* when it was asked for last */
	unsigned int n_retracted;
	uint32_t retracted_pid; /* the last one */
};

struct fixture {
	struct runtimes runtimes;
	int processes_fd;
	int segments_fd;
	int objects_fd;
	uint64_t reuse_count;
	struct file_table *files;
	struct telemetry *telemetry;
	struct kernel_arena *arena;
	struct object_tables *objects;
	struct tables *tables;
	char *segment; /* as the kernel half sees it */
};

static int segments_new(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	_cleanup_close_ int inner =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_segment", sizeof(uint32_t),
			       WIRE_SEGMENT_BYTES, 1, &mmapable);
	LIBBPF_OPTS(bpf_map_create_opts, outer, .inner_map_fd = (uint32_t)inner);

	return inner < 0 ? inner
			 : bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "t_segments",
					  sizeof(uint32_t), sizeof(uint32_t), 4, &outer);
}

static bool make_maps(struct fixture *f)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);

	f->processes_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "t_processes", sizeof(uint32_t),
					 sizeof(struct wire_process), N_PROCESSES, NULL);
	f->objects_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_objects", sizeof(uint32_t),
				       sizeof(struct wire_object), N_OBJECTS, &mmapable);
	f->segments_fd = segments_new();
	return f->processes_fd >= 0 && f->objects_fd >= 0 && f->segments_fd >= 0;
}

static uint32_t publish_runtime(const struct process *p, void *data)
{
	struct runtimes *r = data;
	struct wire_process entry;

	r->n_published++;
	r->was_known = bpf_map_lookup_elem(r->processes_fd, &p->pid, &entry) == 0;
	return r->kind;
}

static void retract_runtime(uint32_t pid, void *data)
{
	struct runtimes *r = data;

	r->n_retracted++;
	r->retracted_pid = pid;
}

static struct tables_options tables_options(struct fixture *f)
{
	f->runtimes.processes_fd = f->processes_fd;
	return (struct tables_options){
		.processes_fd = f->processes_fd,
		.max_processes = N_PROCESSES,
		.arena = f->arena,
		.objects = f->objects,
		.telemetry = f->telemetry,
		.runtimes = { publish_runtime, retract_runtime, &f->runtimes },
	};
}

static void make_parts(struct fixture *f)
{
	const struct kernel_arena_options arena = { .segments_fd = f->segments_fd,
						    .max_segments = 1,
						    .reuse_count = &f->reuse_count };

	assert_int_equal(kernel_arena_new(&arena, &f->arena), 0);
	const struct object_tables_options objects = { .objects_fd = f->objects_fd,
						       .max_objects = N_OBJECTS,
						       .arena = f->arena,
						       .max_table_bytes = WIRE_SEGMENT_BYTES,
						       .telemetry = f->telemetry };
	assert_int_equal(object_tables_new(&objects, &f->objects), 0);
	const struct tables_options tables = tables_options(f);
	assert_int_equal(tables_new(&tables, &f->tables), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	if (!make_maps(f)) {
		printf("skip: bpf(2) refuses to make maps: %s\n", strerror(errno));
		return 0;
	}
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	f->segment = malloc(WIRE_SEGMENT_BYTES);
	assert_non_null(f->segment);
	make_parts(f);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tables_free(f->tables);
	object_tables_free(f->objects);
	if (f->arena)
		/* Nothing is kept behind. */
		kernel_arena_reclaim(f->arena, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
	if (f->arena)
		assert_in_range(kernel_arena_used_bytes(f->arena), 0, 0);
	kernel_arena_free(f->arena);
	telemetry_free(f->telemetry);
	file_table_free(f->files);
	cleanup_close_p(&f->processes_fd);
	cleanup_close_p(&f->segments_fd);
	cleanup_close_p(&f->objects_fd);
	free(f->segment);
	free(f);
	return 0;
}

static struct fixture *fixture_of(void **state)
{
	struct fixture *f = *state;

	if (!f->tables)
		skip();
	return f;
}

/* A process with n mappings of its own, of one file. */
static struct process make_process(struct fixture *f, uint32_t pid, uint32_t n)
{
	_cleanup_free_ struct mapping_spec *specs = calloc(n ? n : 1, sizeof(*specs));

	assert_non_null(specs);
	for (uint32_t i = 0; i < n; i++)
		specs[i] = (struct mapping_spec){ (i + 1) * 16 * PAGE, (i + 2) * 16 * PAGE,
						  i * PAGE, pid };
	return (struct process){ .pid = pid, .mappings = make_mappings(f->files, specs, n) };
}

static void drop_process(struct process *p)
{
	mappings_unref(p->mappings);
}

#define _cleanup_process_ _cleanup_(drop_process)

static bool look_up(const struct fixture *f, uint32_t pid, struct wire_process *ret_entry)
{
	return bpf_map_lookup_elem(f->processes_fd, &pid, ret_entry) == 0;
}

static void read_segment(struct fixture *f)
{
	uint32_t zero = 0;
	uint32_t id;

	assert_int_equal(bpf_map_lookup_elem(f->segments_fd, &zero, &id), 0);
	_cleanup_close_ int fd = bpf_map_get_fd_by_id(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &zero, f->segment), 0);
}

/* The kernel half finds exactly the process's mappings. */
static struct wire_process check_published(struct fixture *f, const struct process *p)
{
	struct wire_process entry = { 0 };

	assert_true(look_up(f, p->pid, &entry));
	assert_int_equal(entry.n_mappings, p->mappings->n);
	assert_true(entry.generation > 0);
	assert_int_equal(entry.refused_cgroup, 0);
	assert_true(entry.mappings_at > 0);
	assert_ptr_equal(tables_mappings(f->tables, p->pid, entry.generation), p->mappings);
	read_segment(f);
	for (uint32_t i = 0; i < entry.n_mappings; i++) {
		const struct mapping *m = &p->mappings->items[i];
		struct wire_mapping found, expected;

		memcpy(&found,
		       f->segment + (size_t)entry.mappings_at * WIRE_WORD_BYTES + i * sizeof(found),
		       sizeof(found));
		assert_true(m->file ? found.object >= WIRE_OBJECT_FIRST
				    : found.object == WIRE_OBJECT_FP);
		expected = wire_mapping_from(m, found.object);
		assert_memory_equal(&found, &expected, sizeof(found));
	}
	return entry;
}

static void reclaim_all(struct fixture *f)
{
	kernel_arena_reclaim(f->arena, clock_mono_ns() + KERNEL_ARENA_GRACE_NS);
}

static uint64_t arena_mappings(const struct fixture *f)
{
	return kernel_arena_used_bytes(f->arena) / sizeof(struct wire_mapping);
}

static void test_publish_and_retract(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);
	_cleanup_process_ struct process b = make_process(f, 200, 5);
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &b), 0);
	check_published(f, &a);
	check_published(f, &b);
	assert_int_equal(tables_n_processes(f->tables), 2);
	assert_int_equal(tables_n_mappings(f->tables), 8);
	tables_retract(f->tables, 100);
	assert_false(look_up(f, 100, &entry));
	check_published(f, &b);
	assert_int_equal(tables_n_processes(f->tables), 1);
	tables_retract(f->tables, 100);
	tables_retract(f->tables, 4711);
	tables_touch(f->tables, 4711);
	assert_int_equal(tables_n_processes(f->tables), 1);
}

static void test_forks_share(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);
	_cleanup_process_ struct process b = { .pid = 101, .mappings = mappings_ref(a.mappings) };

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &b), 0);
	struct wire_process ea = check_published(f, &a);
	struct wire_process eb = check_published(f, &b);
	assert_int_equal(ea.mappings_at, eb.mappings_at);
	assert_int_not_equal(ea.generation, eb.generation);
	assert_int_equal(tables_n_mappings(f->tables), 3);
	tables_retract(f->tables, 100);
	reclaim_all(f);
	assert_int_equal(arena_mappings(f), 3);
	check_published(f, &b);
	tables_retract(f->tables, 101);
	assert_int_equal(tables_n_mappings(f->tables), 0);
	reclaim_all(f);
	assert_int_equal(arena_mappings(f), 0);
}

static void test_replace(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);
	_cleanup_process_ struct process next = make_process(f, 100, 4);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	struct wire_process before = check_published(f, &a);
	assert_int_equal(tables_publish(f->tables, &next), 0);
	/* A walk may still be reading the old array: it stays as it is for now. */
	struct wire_process after = check_published(f, &next);
	assert_true(after.mappings_at >= before.mappings_at + 9);
	assert_int_equal(arena_mappings(f), 7);
	assert_int_equal(tables_n_mappings(f->tables), 4);
	assert_int_equal(tables_n_processes(f->tables), 1);
	/* And samples walked with it still come in. */
	assert_int_not_equal(after.generation, before.generation);
	assert_ptr_equal(tables_mappings(f->tables, 100, before.generation), a.mappings);
	uint64_t count = f->reuse_count;
	reclaim_all(f);
	assert_true(f->reuse_count > count);
	assert_int_equal(arena_mappings(f), 4);
	check_published(f, &next);
}

static void test_the_same_mappings_again(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	struct wire_process before = check_published(f, &a);
	assert_int_equal(tables_publish(f->tables, &a), 0);
	struct wire_process after = check_published(f, &a);
	assert_memory_equal(&before, &after, sizeof(after));
	assert_int_equal(arena_mappings(f), 3);
}

/* The same mappings are not the same ones when there was an exec in between. */
static void test_another_image(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);

	a.exec_id = 7;
	assert_int_equal(tables_publish(f->tables, &a), 0);
	struct wire_process before = check_published(f, &a);
	assert_int_equal(before.exec_id, 7);
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(check_published(f, &a).generation, before.generation);
	a.exec_id = 8;
	assert_int_equal(tables_publish(f->tables, &a), 0);
	struct wire_process after = check_published(f, &a);
	assert_int_equal(after.exec_id, 8);
	assert_int_not_equal(after.generation, before.generation);
	assert_int_equal(after.mappings_at, before.mappings_at);
}

/* Retracted and published again: an array of its own, and a number of its own. */
static void test_back_again(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	struct wire_process before = check_published(f, &a);
	tables_retract(f->tables, 100);
	assert_ptr_equal(tables_mappings(f->tables, 100, before.generation), a.mappings);
	assert_int_equal(tables_publish(f->tables, &a), 0);
	struct wire_process after = check_published(f, &a);
	assert_int_not_equal(after.generation, before.generation);
	assert_int_not_equal(after.mappings_at, before.mappings_at);
	assert_int_equal(arena_mappings(f), 6);
	reclaim_all(f);
	assert_int_equal(arena_mappings(f), 3);
	check_published(f, &a);
}

/* What was retired is remembered for so many publications; the mappings live as long. */
static void test_retired_are_forgotten_in_the_end(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);
	_cleanup_process_ struct process b = make_process(f, 200, 1);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	uint32_t old = check_published(f, &a).generation;
	tables_retract(f->tables, 100);
	assert_int_equal(a.mappings->n_refs, 2);
	for (uint32_t i = 0; i < TABLES_MAX_RETIRED - 1; i++) {
		assert_int_equal(tables_publish(f->tables, &b), 0);
		tables_retract(f->tables, 200);
	}
	assert_ptr_equal(tables_mappings(f->tables, 100, old), a.mappings);
	assert_int_equal(tables_publish(f->tables, &b), 0);
	tables_retract(f->tables, 200);
	assert_null(tables_mappings(f->tables, 100, old));
	assert_int_equal(a.mappings->n_refs, 1);
	assert_null(tables_mappings(f->tables, 100, 0));
	assert_null(tables_mappings(f->tables, 100, 4711000));
}

static void test_too_many_processes(void **state)
{
	struct fixture *f = fixture_of(state);
	struct process p[N_PROCESSES + 1];
	struct wire_process entry;

	for (uint32_t i = 0; i <= N_PROCESSES; i++)
		p[i] = make_process(f, 100 + i, 1);
	for (uint32_t i = 0; i < N_PROCESSES; i++)
		assert_int_equal(tables_publish(f->tables, &p[i]), 0);
	tables_touch(f->tables, 100);
	assert_int_equal(tables_publish(f->tables, &p[N_PROCESSES]), 0);
	assert_int_equal(tables_n_processes(f->tables), N_PROCESSES);
	/* The one sampled longest ago had to go. */
	assert_false(look_up(f, 101, &entry));
	check_published(f, &p[0]);
	check_published(f, &p[2]);
	check_published(f, &p[N_PROCESSES]);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_mapping_table_full), 0);
	for (uint32_t i = 0; i <= N_PROCESSES; i++)
		drop_process(&p[i]);
}

static void test_arena_is_full(void **state)
{
	struct fixture *f = fixture_of(state);
	struct process p[FULL + 1];
	struct wire_process entry;

	for (uint32_t i = 0; i <= FULL; i++)
		p[i] = make_process(f, 100 + i, MOST);
	for (uint32_t i = 0; i < FULL; i++)
		assert_int_equal(tables_publish(f->tables, &p[i]), 0);
	assert_int_equal(tables_publish(f->tables, &p[FULL]), -ENOSPC);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_mapping_table_full), 1);
	/* Room was made, but a walk may still be reading there. */
	assert_false(look_up(f, 100, &entry));
	assert_false(look_up(f, 100 + FULL, &entry));
	assert_int_equal(tables_n_processes(f->tables), FULL - 1);
	reclaim_all(f);
	assert_int_equal(tables_publish(f->tables, &p[FULL]), 0);
	check_published(f, &p[1]);
	check_published(f, &p[FULL]);
	for (uint32_t i = 0; i <= FULL; i++)
		drop_process(&p[i]);
}

/* Only the process itself could be evicted: it is not, but its old entry is not left to lie. */
static void test_replacement_that_does_not_fit(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, MOST);
	_cleanup_process_ struct process next = make_process(f, 100, MOST);
	struct wire_process entry;
	uint32_t at;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	uint32_t rest = WIRE_SEGMENT_WORDS - 1 - MOST * 3;
	assert_int_equal(kernel_arena_take(f->arena, rest, &at), 0);
	assert_int_equal(tables_publish(f->tables, &next), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
	assert_int_equal(tables_n_processes(f->tables), 0);
	reclaim_all(f);
	assert_int_equal(tables_publish(f->tables, &next), 0);
	check_published(f, &next);
	kernel_arena_give_unseen(f->arena, at, rest);
}

static void test_nothing_to_publish(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	_cleanup_process_ struct process empty = make_process(f, 100, 0);
	struct process unread = { .pid = 100 };
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &empty), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &unread), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
}

/* More than the search reaches; nobody looks at them. */
static void test_more_than_the_search_reaches(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mappings m = { .n_refs = 1, .n = WIRE_MAX_PROCESS_MAPPINGS + 1 };
	struct process p = { .pid = 100, .mappings = &m };
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &p), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
	assert_int_equal(m.n_refs, 1);
}

/* Files are held as long as an array names them: then their slots may go to others. */
static void test_files_are_held(void **state)
{
	static const struct mapping_spec specs[] = { { 0x10000, 0x20000, 0, 7 },
						     { 0x20000, 0x30000, 0, 0 },
						     { 0x30000, 0x40000, 0x10000, 7 },
						     { 0x50000, 0x60000, 0, 8 } };
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = { .pid = 100,
					       .mappings = make_mappings(f->files, specs, 4) };
	struct object_tables_stats stats;
	uint64_t later = clock_mono_ns() + 2 * OBJECT_TABLES_IDLE_NS;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	check_published(f, &a);
	object_tables_tick(f->objects, later);
	object_tables_stats(f->objects, &stats);
	assert_int_equal(stats.n_files, 2);
	tables_retract(f->tables, 100);
	object_tables_tick(f->objects, later + 2 * OBJECT_TABLES_IDLE_NS);
	object_tables_stats(f->objects, &stats);
	assert_int_equal(stats.n_files, 0);
}

/* The kernel half refuses: nothing is left of it. */
static void test_map_is_refused(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	const struct tables_options o = { .processes_fd = -1,
					  .max_processes = N_PROCESSES,
					  .arena = f->arena,
					  .objects = f->objects,
					  .telemetry = f->telemetry };
	struct tables *t = NULL;

	assert_int_equal(tables_new(&o, &t), 0);
	assert_int_equal(tables_publish(t, &a), -EBADF);
	assert_int_equal(tables_n_processes(t), 0);
	assert_int_equal(tables_n_mappings(t), 0);
	assert_int_equal(a.mappings->n_refs, 1);
	tables_free(t);
	tables_free(NULL);
}

/* Of one control group, until everybody is forgiven, or the process is published after all. */
static void test_refused(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	_cleanup_process_ struct process b = make_process(f, 101, 2);
	struct wire_process entry = { 0 };

	assert_int_equal(tables_refuse(f->tables, a.pid, 0x100000007), 0);
	assert_true(look_up(f, a.pid, &entry));
	assert_int_equal(entry.generation, 0);
	assert_int_equal(entry.refused_cgroup, 7);
	assert_null(tables_mappings(f->tables, a.pid, 0));
	assert_int_equal(tables_publish(f->tables, &a), 0);
	entry = check_published(f, &a);
	assert_int_equal(tables_publish(f->tables, &b), 0);
	assert_int_equal(tables_refuse(f->tables, a.pid, 7), 0);
	/* Samples of the last moments still name it. */
	assert_ptr_equal(tables_mappings(f->tables, a.pid, entry.generation), a.mappings);
	tables_forgive(f->tables);
	assert_false(look_up(f, a.pid, &entry));
	(void)check_published(f, &b);
	assert_int_equal(tables_n_processes(f->tables), 1);
}

/* They make room for those who are wanted. */
static void test_refused_are_evicted_first(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process first = make_process(f, 100, 2);
	_cleanup_process_ struct process last = make_process(f, 101, 2);
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &first), 0);
	for (uint32_t i = 0; i < N_PROCESSES + 5; i++)
		assert_int_equal(tables_refuse(f->tables, 200 + i, 7), 0);
	assert_int_equal(tables_publish(f->tables, &last), 0);
	assert_int_equal(tables_n_processes(f->tables), N_PROCESSES);
	assert_true(look_up(f, first.pid, &entry));
	assert_true(look_up(f, last.pid, &entry));
	tables_forgive(f->tables);
	assert_int_equal(tables_n_processes(f->tables), 2);
}

static void test_runtime(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	_cleanup_process_ struct process next = make_process(f, 100, 3);

	f->runtimes.kind = 3;
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(check_published(f, &a).runtime, 3);
	assert_int_equal(f->runtimes.n_published, 1);
	/* The entry speaks of what is there before it. */
	assert_false(f->runtimes.was_known);
	/* Nothing has changed. */
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(f->runtimes.n_published, 1);
	f->runtimes.kind = 4;
	assert_int_equal(tables_publish(f->tables, &next), 0);
	assert_int_equal(check_published(f, &next).runtime, 4);
	assert_int_equal(f->runtimes.n_published, 2);
	assert_int_equal(f->runtimes.n_retracted, 0);
	tables_retract(f->tables, 100);
	assert_int_equal(f->runtimes.n_retracted, 1);
	assert_int_equal(f->runtimes.retracted_pid, 100);
	tables_retract(f->tables, 100);
	assert_int_equal(f->runtimes.n_retracted, 1);
}

struct seen {
	struct tables *tables;
	const struct process *anew;
	unsigned int n;
};

static void see(uint32_t pid, void *data)
{
	struct seen *seen = data;

	seen->n++;
	if (pid == seen->anew->pid)
		assert_int_equal(tables_publish_anew(seen->tables, seen->anew), 0);
	else
		tables_retract(seen->tables, pid);
}

/* By what is known of its runtime now: the same mappings, another generation. Who is refused is not asked. */
static void test_published_anew(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	_cleanup_process_ struct process b = make_process(f, 101, 2);
	struct seen seen = { .tables = f->tables, .anew = &a };
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &b), 0);
	assert_int_equal(tables_refuse(f->tables, 102, 7), 0);
	uint32_t generation = check_published(f, &a).generation;
	f->runtimes.kind = 3;
	tables_each(f->tables, see, &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(check_published(f, &a).runtime, 3);
	assert_int_not_equal(check_published(f, &a).generation, generation);
	assert_ptr_equal(tables_mappings(f->tables, 100, generation), a.mappings);
	assert_false(look_up(f, 101, &entry));
	assert_true(look_up(f, 102, &entry));
}

/* Who has none costs no call. */
static void test_no_runtime(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	struct tables_options o = tables_options(f);
	struct tables *t = NULL;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(check_published(f, &a).runtime, RUNTIME_NONE);
	tables_retract(f->tables, 100);
	assert_int_equal(f->runtimes.n_published, 1);
	assert_int_equal(f->runtimes.n_retracted, 0);
	/* Nobody asks. */
	o.runtimes = (struct tables_runtimes){ 0 };
	assert_int_equal(tables_new(&o, &t), 0);
	assert_int_equal(tables_publish(t, &a), 0);
	tables_retract(t, 100);
	tables_free(t);
	assert_int_equal(f->runtimes.n_published, 1);
}

static void test_runtime_of_who_is_evicted(void **state)
{
	struct fixture *f = fixture_of(state);
	struct process p[N_PROCESSES + 1];

	f->runtimes.kind = 3;
	for (uint32_t i = 0; i <= N_PROCESSES; i++) {
		p[i] = make_process(f, 100 + i, 1);
		assert_int_equal(tables_publish(f->tables, &p[i]), 0);
	}
	assert_int_equal(f->runtimes.n_retracted, 1);
	assert_int_equal(f->runtimes.retracted_pid, 100);
	for (uint32_t i = 0; i <= N_PROCESSES; i++)
		drop_process(&p[i]);
}

static void test_runtime_of_who_is_refused(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	struct wire_process entry = { 0 };

	f->runtimes.kind = 3;
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_refuse(f->tables, a.pid, 7), 0);
	assert_true(look_up(f, a.pid, &entry));
	assert_int_equal(entry.runtime, RUNTIME_NONE);
	tables_forgive(f->tables);
	assert_int_equal(f->runtimes.n_retracted, 1);
	assert_int_equal(f->runtimes.retracted_pid, 100);
}

/* Another image of the process has none: what was said of the one before is taken back, by its end at the latest. */
static void test_runtime_that_is_gone(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	_cleanup_process_ struct process next = make_process(f, 100, 3);

	f->runtimes.kind = 3;
	assert_int_equal(tables_publish(f->tables, &a), 0);
	f->runtimes.kind = RUNTIME_NONE;
	next.exec_id = 8;
	assert_int_equal(tables_publish(f->tables, &next), 0);
	assert_int_equal(check_published(f, &next).runtime, RUNTIME_NONE);
	tables_retract(f->tables, 100);
	assert_int_equal(f->runtimes.n_retracted, 1);
	assert_int_equal(f->runtimes.retracted_pid, 100);
}

/* The kernel half does not know the process after all. */
static void test_runtime_of_who_is_not_published(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	struct tables_options o = tables_options(f);
	struct tables *t = NULL;

	o.processes_fd = -1;
	f->runtimes.kind = 3;
	assert_int_equal(tables_new(&o, &t), 0);
	assert_int_equal(tables_publish(t, &a), -EBADF);
	tables_free(t);
	assert_int_equal(f->runtimes.n_published, 1);
	assert_int_equal(f->runtimes.n_retracted, 1);
	assert_int_equal(f->runtimes.retracted_pid, 100);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_publish_and_retract),
	FIXTURE_TEST(test_forks_share),
	FIXTURE_TEST(test_replace),
	FIXTURE_TEST(test_the_same_mappings_again),
	FIXTURE_TEST(test_another_image),
	FIXTURE_TEST(test_back_again),
	FIXTURE_TEST(test_retired_are_forgotten_in_the_end),
	FIXTURE_TEST(test_too_many_processes),
	FIXTURE_TEST(test_arena_is_full),
	FIXTURE_TEST(test_replacement_that_does_not_fit),
	FIXTURE_TEST(test_nothing_to_publish),
	FIXTURE_TEST(test_more_than_the_search_reaches),
	FIXTURE_TEST(test_files_are_held),
	FIXTURE_TEST(test_map_is_refused),
	FIXTURE_TEST(test_refused),
	FIXTURE_TEST(test_refused_are_evicted_first),
	FIXTURE_TEST(test_runtime),
	FIXTURE_TEST(test_published_anew),
	FIXTURE_TEST(test_no_runtime),
	FIXTURE_TEST(test_runtime_of_who_is_evicted),
	FIXTURE_TEST(test_runtime_of_who_is_refused),
	FIXTURE_TEST(test_runtime_that_is_gone),
	FIXTURE_TEST(test_runtime_of_who_is_not_published),
};

TEST_MAIN(tests)
