/* SPDX-License-Identifier: Apache-2.0 */
/* From when on what /proc/PID/maps shows holds: it is read while events and samples of before are still to be handled. */
#include <stdio.h>

#include "agent/process/process_private.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define PID 10
#define CHILD 11
#define AT 0x400000ULL

/* Inodes of what is mapped there in turn. */
enum { FIRST = 21, SECOND, THIRD, READ };

struct fixture {
	struct proc_tree tree;
	struct telemetry *telemetry;
	struct process_table *table;
	/* Events and samples are older than whatever is read, each by a millisecond younger than the one before. */
	uint64_t time_ns;
};

static void add_to_proc(struct fixture *f, uint32_t pid)
{
	char maps[128];

	(void)snprintf(maps, sizeof(maps), "%llx-%llx r-xp 00001000 08:01 %d /lib/%d\n", AT,
		       AT + 0x2000, READ, READ);
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = pid,
						     .parent_pid = 9,
						     .comm = "host",
						     .start_ticks = ticks_now() - 500,
						     .maps = maps,
						     .exe = "/bin/host",
						     .cmdline = "",
						     .cgroup = "0::/\n" });
}

static void apply(struct fixture *f, struct process_event ev)
{
	ev.time_ns = f->time_ns += NS_PER_MS;
	process_table_apply(f->table, &ev);
}

static void map(struct fixture *f, uint64_t inode)
{
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_MMAP,
					 .pid = PID,
					 .begin = AT,
					 .len = 0x2000,
					 .file_off = 0x1000,
					 .inode = inode,
					 .dev_major = 8,
					 .dev_minor = 1,
					 .path = "/lib/x" });
}

static void start(struct fixture *f)
{
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_FORK, .pid = PID, .parent_pid = 9 });
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_EXEC, .pid = PID });
	map(f, FIRST);
}

static void lose(struct fixture *f)
{
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_LOST, .lost = 1 });
}

static struct process *sample(struct fixture *f, uint32_t pid)
{
	return process_table_get_at(f->table, pid, NULL, f->time_ns += NS_PER_MS);
}

static void set_up(struct fixture *f)
{
	proc_tree_init(&f->tree);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	const struct process_table_options o = { .proc_root = f->tree.root,
						 .telemetry = f->telemetry };
	assert_int_equal(process_table_new(&o, &f->table), 0);
	f->time_ns = clock_mono_ns() - NS_PER_S;
	add_to_proc(f, PID);
}

static void tear_down(struct fixture *f)
{
	process_table_free(f->table);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

static uint64_t inode_of(const struct mappings *m)
{
	const struct mapping *at = mappings_find(m, AT);

	return at ? at->file->key.inode : 0;
}

/* Nothing else is known of who was there before us. */
static void test_unknown_process_is_as_it_was_read(void **state)
{
	struct fixture *f = *state;
	struct process *p = sample(f, PID);

	assert_int_equal(inode_of(p->mappings), READ);
	assert_null(p->mappings_ahead);
	/* In what was read, or undone since. */
	map(f, SECOND);
	assert_int_equal(inode_of(sample(f, PID)->mappings), READ);
}

static void test_samples_of_before_are_by_events(void **state)
{
	struct fixture *f = *state;

	start(f);
	lose(f);
	struct process *p = sample(f, PID);
	assert_int_equal(inode_of(p->mappings), FIRST);
	assert_int_equal(inode_of(p->mappings_ahead), READ);
	map(f, SECOND);
	assert_int_equal(inode_of(sample(f, PID)->mappings), SECOND);
	map(f, THIRD);
	assert_int_equal(inode_of(sample(f, PID)->mappings), THIRD);
}

static void test_samples_from_then_on_are_as_read(void **state)
{
	struct fixture *f = *state;

	start(f);
	lose(f);
	struct process *p = sample(f, PID);
	f->time_ns = p->ahead_ns - NS_PER_MS;
	assert_int_equal(inode_of(sample(f, PID)->mappings), READ);
	assert_null(p->mappings_ahead);
	map(f, SECOND);
	assert_int_equal(inode_of(sample(f, PID)->mappings), SECOND);
}

/* An event is what comes first. */
static void test_events_from_then_on_change_what_was_read(void **state)
{
	struct fixture *f = *state;

	start(f);
	lose(f);
	struct process *p = sample(f, PID);
	uint32_t generation = p->generation;
	f->time_ns = p->ahead_ns - NS_PER_MS;
	map(f, SECOND);
	assert_null(p->mappings_ahead);
	assert_int_equal(inode_of(p->mappings), SECOND);
	assert_int_equal(p->generation, generation + 2);
}

static void test_who_asks_without_a_time_gets_what_is_now(void **state)
{
	struct fixture *f = *state;

	start(f);
	lose(f);
	assert_int_equal(inode_of(sample(f, PID)->mappings), FIRST);
	assert_int_equal(inode_of(process_table_get(f->table, PID, NULL)->mappings), READ);
}

/* Waiting for its time, it is not read once more; later losses are none of it. */
static void test_read_once_until_its_time(void **state)
{
	struct fixture *f = *state;

	start(f);
	lose(f);
	struct process *p = sample(f, PID);
	uint64_t ahead_ns = p->ahead_ns;
	p->reread_after_ns = 0;
	lose(f);
	(void)sample(f, PID);
	assert_int_equal(p->ahead_ns, ahead_ns);
	f->time_ns = ahead_ns;
	(void)sample(f, PID);
	assert_true(p->ahead_ns > ahead_ns);
}

/* The same set, so that nobody has to look at it twice. */
static void test_nothing_new_was_read(void **state)
{
	struct fixture *f = *state;
	struct process *p = process_table_get(f->table, PID, NULL);
	uint32_t generation = p->generation;

	lose(f);
	(void)sample(f, PID);
	assert_ptr_equal(p->mappings_ahead, p->mappings);
	f->time_ns = p->ahead_ns;
	(void)sample(f, PID);
	assert_null(p->mappings_ahead);
	assert_int_equal(p->generation, generation);
}

/* What was read may be of this image, or of a later one. */
static void test_exec_drops_what_was_read(void **state)
{
	struct fixture *f = *state;

	start(f);
	lose(f);
	struct process *p = sample(f, PID);
	assert_non_null(p->mappings_ahead);
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_EXEC, .pid = PID });
	assert_null(p->mappings_ahead);
	map(f, SECOND);
	f->time_ns = clock_mono_ns();
	assert_int_equal(inode_of(sample(f, PID)->mappings), SECOND);
}

/* A new image is known by what was told since: what was lost before does not matter. */
static void test_exec_ends_the_doubt(void **state)
{
	struct fixture *f = *state;

	start(f);
	lose(f);
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_FLOOD, .pid = PID });
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_EXEC, .pid = PID });
	map(f, SECOND);
	struct process *p = sample(f, PID);
	assert_null(p->mappings_ahead);
	assert_int_equal(inode_of(p->mappings), SECOND);
	lose(f);
	assert_non_null(sample(f, PID)->mappings_ahead);
}

/* By the order of time it got what its parent had, as far as that is known; and the doubt with it. */
static void test_child_of_a_parent_in_doubt(void **state)
{
	struct fixture *f = *state;

	add_to_proc(f, CHILD);
	start(f);
	lose(f);
	(void)sample(f, PID);
	apply(f, (struct process_event){
			 .kind = PROCESS_EVENT_FORK, .pid = CHILD, .parent_pid = PID });
	struct process *child = process_table_find(f->table, CHILD);
	assert_int_equal(inode_of(child->mappings), FIRST);
	assert_null(child->mappings_ahead);
	(void)sample(f, CHILD);
	assert_int_equal(inode_of(child->mappings), FIRST);
	assert_int_equal(inode_of(child->mappings_ahead), READ);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_unknown_process_is_as_it_was_read),
	FIXTURE_TEST(test_samples_of_before_are_by_events),
	FIXTURE_TEST(test_samples_from_then_on_are_as_read),
	FIXTURE_TEST(test_events_from_then_on_change_what_was_read),
	FIXTURE_TEST(test_who_asks_without_a_time_gets_what_is_now),
	FIXTURE_TEST(test_read_once_until_its_time),
	FIXTURE_TEST(test_nothing_new_was_read),
	FIXTURE_TEST(test_exec_drops_what_was_read),
	FIXTURE_TEST(test_exec_ends_the_doubt),
	FIXTURE_TEST(test_child_of_a_parent_in_doubt),
};

TEST_MAIN(tests)
