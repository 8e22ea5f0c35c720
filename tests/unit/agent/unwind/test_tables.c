/* SPDX-License-Identifier: Apache-2.0 */
/* The tables, written into real BPF maps and read back from them. */
#include "tests/unit/agent/unwind/make_mappings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/unwind/tables.h"
#include "agent/unwind/wire_mapping.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define N_PROCESSES 4
#define N_MAPPINGS 16
#define PAGE 4096ULL

struct fixture {
	int processes_fd;
	int mappings_fd;
	struct file_table *files;
	struct telemetry *telemetry;
	struct tables *tables;
	bool refused;
};

static int setup(void **state)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	f->processes_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "t_processes", sizeof(uint32_t),
					 sizeof(struct wire_process), N_PROCESSES, NULL);
	f->mappings_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_mappings", sizeof(uint32_t),
					sizeof(struct wire_mapping), N_MAPPINGS, &mmapable);
	if (f->processes_fd < 0 || f->mappings_fd < 0) {
		printf("skip: bpf(2) refuses to make maps: %s\n", strerror(errno));
		f->refused = true;
		return 0;
	}
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	struct tables_options o = {
		.processes_fd = f->processes_fd,
		.mappings_fd = f->mappings_fd,
		.max_processes = N_PROCESSES,
		.max_mappings = N_MAPPINGS,
		.telemetry = f->telemetry,
	};
	assert_int_equal(tables_new(&o, &f->tables), 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tables_free(f->tables);
	telemetry_free(f->telemetry);
	file_table_free(f->files);
	cleanup_close_p(&f->processes_fd);
	cleanup_close_p(&f->mappings_fd);
	free(f);
	return 0;
}

static struct fixture *fixture_of(void **state)
{
	struct fixture *f = *state;

	if (f->refused)
		skip();
	return f;
}

/* A process with n mappings of its own. */
static struct process make_process(struct fixture *f, uint32_t pid, uint32_t n)
{
	struct mapping_spec specs[N_MAPPINGS + 1];

	assert_true(n <= ARRAY_SIZE(specs));
	for (uint32_t i = 0; i < n; i++)
		specs[i] = (struct mapping_spec){ (i + 1) * 16 * PAGE, (i + 2) * 16 * PAGE,
						  i * PAGE, pid };
	return (struct process){ .pid = pid,
				 .generation = 1,
				 .mappings = make_mappings(f->files, specs, n) };
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

/* The kernel half finds exactly the process's mappings. */
static struct wire_process check_published(const struct fixture *f, const struct process *p)
{
	struct wire_process entry = { 0 };

	assert_true(look_up(f, p->pid, &entry));
	assert_int_equal(entry.n_mappings, p->mappings->n);
	assert_int_equal(entry.generation, p->generation);
	assert_int_equal(entry.flags, 0);
	for (uint32_t i = 0; i < entry.n_mappings; i++) {
		uint32_t index = entry.first + i;
		struct wire_mapping expected = wire_mapping_from(&p->mappings->items[i]);
		struct wire_mapping found;

		assert_int_equal(bpf_map_lookup_elem(f->mappings_fd, &index, &found), 0);
		assert_memory_equal(&found, &expected, sizeof(found));
	}
	return entry;
}

static void reclaim_all(struct fixture *f)
{
	tables_reclaim(f->tables, clock_mono_ns() + TABLES_GRACE_NS);
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
	_cleanup_process_ struct process b = { .pid = 101,
					       .generation = 9,
					       .mappings = mappings_ref(a.mappings) };

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &b), 0);
	uint32_t first = check_published(f, &a).first;
	assert_int_equal(check_published(f, &b).first, first);
	assert_int_equal(tables_n_mappings(f->tables), 3);
	tables_retract(f->tables, 100);
	reclaim_all(f);
	assert_int_equal(tables_n_mappings(f->tables), 3);
	check_published(f, &b);
	tables_retract(f->tables, 101);
	reclaim_all(f);
	assert_int_equal(tables_n_mappings(f->tables), 0);
}

static void test_replace(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	uint32_t first = check_published(f, &a).first;
	_cleanup_process_ struct process next = make_process(f, 100, 4);
	next.generation = 2;
	assert_int_equal(tables_publish(f->tables, &next), 0);
	/* A walk may still be reading the old array: it stays as it is for now. */
	assert_true(check_published(f, &next).first >= first + 3);
	assert_int_equal(tables_n_mappings(f->tables), 7);
	assert_int_equal(tables_n_processes(f->tables), 1);
	reclaim_all(f);
	assert_int_equal(tables_n_mappings(f->tables), 4);
	check_published(f, &next);
}

static void test_new_generation_of_the_same_mappings(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	uint32_t first = check_published(f, &a).first;
	a.generation = 8;
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(check_published(f, &a).first, first);
	assert_int_equal(tables_n_mappings(f->tables), 3);
	reclaim_all(f);
	assert_int_equal(tables_n_mappings(f->tables), 3);
}

static void test_grace_time(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 3);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	uint64_t before = clock_mono_ns();
	tables_retract(f->tables, 100);
	tables_reclaim(f->tables, before);
	tables_reclaim(f->tables, before + TABLES_GRACE_NS - 1);
	assert_int_equal(tables_n_mappings(f->tables), 3);
	/* Given up and wanted again meanwhile: another array. */
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_n_mappings(f->tables), 6);
	reclaim_all(f);
	assert_int_equal(tables_n_mappings(f->tables), 3);
	check_published(f, &a);
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
	/* Publishing one that is there anyway needs no room. */
	assert_int_equal(tables_publish(f->tables, &p[2]), 0);
	assert_int_equal(tables_n_processes(f->tables), N_PROCESSES);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_mapping_table_full), 0);
	for (uint32_t i = 0; i <= N_PROCESSES; i++)
		drop_process(&p[i]);
}

static void test_array_is_full(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 10);
	_cleanup_process_ struct process b = make_process(f, 200, 4);
	_cleanup_process_ struct process c = make_process(f, 300, 5);
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &b), 0);
	assert_int_equal(tables_publish(f->tables, &c), -ENOSPC);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_mapping_table_full), 1);
	/* Room was made, but a walk may still be reading there. */
	assert_false(look_up(f, 100, &entry));
	assert_false(look_up(f, 300, &entry));
	check_published(f, &b);
	reclaim_all(f);
	assert_int_equal(tables_publish(f->tables, &c), 0);
	check_published(f, &b);
	check_published(f, &c);
	assert_int_equal(tables_n_mappings(f->tables), 9);
}

/* Only the process itself could be evicted: it is not, but its old entry is not left to lie. */
static void test_replacement_that_does_not_fit(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 10);
	_cleanup_process_ struct process next = make_process(f, 100, 11);
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &next), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
	reclaim_all(f);
	assert_int_equal(tables_publish(f->tables, &next), 0);
	check_published(f, &next);
}

static void test_nothing_to_publish(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, 2);
	_cleanup_process_ struct process empty = make_process(f, 100, 0);
	struct process unread = { .pid = 100, .generation = 2 };
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &empty), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(tables_publish(f->tables, &unread), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
}

/* More than the search reaches; it would not fit here anyway, so only the count of mappings is that large. */
static void test_more_than_the_search_reaches(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mappings m = { .n_refs = 1, .n = WIRE_MAX_PROCESS_MAPPINGS + 1 };
	struct process p = { .pid = 100, .generation = 1, .mappings = &m };
	struct wire_process entry;

	assert_int_equal(tables_publish(f->tables, &p), -ENOSPC);
	assert_false(look_up(f, 100, &entry));
	assert_int_equal(m.n_refs, 1);
}

/* The whole array is one process's. */
static void test_fills_the_array(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process a = make_process(f, 100, N_MAPPINGS);

	assert_int_equal(tables_publish(f->tables, &a), 0);
	assert_int_equal(check_published(f, &a).first, 0);
	assert_int_equal(tables_n_mappings(f->tables), N_MAPPINGS);
}

static void test_map_is_refused(void **state)
{
	struct fixture *f = fixture_of(state);
	struct tables_options o = {
		.processes_fd = f->processes_fd,
		.mappings_fd = f->processes_fd, /* cannot be memory-mapped */
		.max_processes = N_PROCESSES,
		.max_mappings = N_MAPPINGS,
		.telemetry = f->telemetry,
	};
	struct tables *t = NULL;

	assert_true(tables_new(&o, &t) < 0);
	assert_null(t);
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_publish_and_retract),
		FIXTURE_TEST(test_forks_share),
		FIXTURE_TEST(test_replace),
		FIXTURE_TEST(test_new_generation_of_the_same_mappings),
		FIXTURE_TEST(test_grace_time),
		FIXTURE_TEST(test_too_many_processes),
		FIXTURE_TEST(test_array_is_full),
		FIXTURE_TEST(test_replacement_that_does_not_fit),
		FIXTURE_TEST(test_nothing_to_publish),
		FIXTURE_TEST(test_more_than_the_search_reaches),
		FIXTURE_TEST(test_fills_the_array),
		FIXTURE_TEST(test_map_is_refused),
	};

	return cmocka_run_group_tests_name("agent/unwind/tables", tests, NULL, NULL);
}
