/* SPDX-License-Identifier: Apache-2.0 */
/* Names of an interval, file by file: what that saves where memory is short, and where its own memory ends. */
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"
#include "tests/unit/agent/profile/context.h"

#include <errno.h>

#include "agent/util/macro.h"

#define N_FILES 3
/* Less than the indices of two of the files, more than that of one and all names. */
#define STORE_BYTES ((size_t)96 << 10)
/* Less than all names. */
#define SMALL_STORE_BYTES ((size_t)256 << 10)

/* Of 128 KiB an eighth is for 2,048 frames: these are more than three quarters of that, and with the others more than all. */
#define N_RECURSIONS 20
#define DEEPEST_RECURSION 110

struct files {
	struct fixture_dir dir;
	struct telemetry *telemetry;
	struct symbol_store *store;
	struct file_table *table;
	struct interval *interval;
	struct labels *labels;
	uint32_t ids[N_FILES];
	uint64_t text_off; /* of the first function */
};

/* 4,000 functions of 16 bytes; an index of 32 KiB. */
static bool build_files(struct files *f)
{
	return fixture_run(
		&f->dir, "{ echo .text; for i in $(seq 1000 4999); do "
			 "echo \".type f$i,@function; f$i: .skip 16,0x90; .size f$i,16\"; done; } "
			 "> p.s && for k in 0 1 2; do gcc -nostdlib -shared -Wl,--build-id=none "
			 "-o lib$k.so p.s && head -c $((k + 1)) /dev/zero >> lib$k.so; done");
}

static void add_file(struct files *f, unsigned int i)
{
	char name[16], path[FIXTURE_PATH_BYTES];
	struct mapped_file *file = NULL;

	(void)snprintf(name, sizeof(name), "lib%u.so", i);
	const struct file_facts facts = {
		.key = { 1, i + 1 },
		.path = str_from(fixture_path(&f->dir, name, path)),
	};
	assert_int_equal(file_table_get(f->table, &facts, &file), 0);
	mapped_file_take_fd(file, open(path, O_RDONLY | O_CLOEXEC));
	assert_int_equal(interval_add_file(f->interval, file), 0);
	f->ids[i] = file->id;
	mapped_file_unref(file);
}

static void set_up(struct files *f)
{
	assert_true(fixture_dir_init(&f->dir));
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->table), 0);
	assert_int_equal(interval_new(PERIOD_NS, (size_t)4 << 20, &f->interval), 0);
	f->labels = make_service("web");
}

static void tear_down(struct files *f)
{
	symbol_store_free(f->store);
	interval_free(f->interval);
	labels_unref(f->labels);
	file_table_free(f->table);
	telemetry_free(f->telemetry);
	fixture_dir_fini(&f->dir);
}

FIXTURE(struct files, set_up, tear_down)

static void open_store(struct files *f, size_t max_bytes)
{
	struct symbol_store_options o = SYMBOL_STORE_OPTIONS_INIT;

	o.kallsyms_path = "/nonexistent";
	o.telemetry = f->telemetry;
	o.max_bytes = max_bytes;
	assert_int_equal(symbol_store_new(&o, &f->store), 0);
	symbol_store_begin(f->store);
}

static struct frame_ref frame_of(const struct files *f, unsigned int file, unsigned int function)
{
	return frame_ref_of_file(f->ids[file], f->text_off + function * 16 + 4);
}

/* Each stack goes through all files: asked for one by one, each frame would need another index. */
static void add_stacks(struct files *f, unsigned int n)
{
	bool is_new;

	if (!build_files(f)) {
		print_message("no gcc\n");
		skip();
	}
	f->text_off = fixture_hex(&f->dir, "readelf -WS lib0.so | awk '/ .text /{print $(NF-6)}'");
	assert_true(f->text_off > 0);
	for (unsigned int i = 0; i < N_FILES; i++)
		add_file(f, i);
	for (unsigned int i = 0; i < n; i++) {
		const struct frame_ref user[] = { frame_of(f, 0, i), frame_of(f, 1, i),
						  frame_of(f, 2, i) };

		assert_int_equal(
			add_sample(f->interval, f->labels, NO_FRAMES, 0, user, N_FILES, &is_new),
			0);
	}
}

/* Returns the most that the store held. */
static size_t check_names(struct files *f, struct namer *namer)
{
	struct named_stack named;
	size_t i = f->interval->series->n_stacks;
	size_t most = 0;

	/* The last one that was added is the first. */
	for (const struct stack *s = f->interval->series->stacks; s; s = s->next) {
		char expected[16];

		(void)snprintf(expected, sizeof(expected), "f%zu", 1000 + --i);
		assert_int_equal(namer_stack(namer, s, &named), 0);
		assert_int_equal(named.n, N_FILES);
		for (uint32_t k = 0; k < N_FILES; k++)
			assert_string_equal(named.items[k]->items[0].function, expected);
		most = MAX_OF(most, symbol_store_object_bytes(f->store));
	}
	return most;
}

static void test_each_index_is_made_once(void **state)
{
	struct files *f = *state;
	_cleanup_(namer_freep) struct namer *namer = NULL;

	add_stacks(f, 40);
	open_store(f, STORE_BYTES);
	assert_int_equal(namer_new(f->interval, f->store, (size_t)1 << 20, &namer), 0);
	namer_name_all(namer);
	check_names(f, namer);
	/* Each makes way for the next. */
	assert_in_range(telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions), 1, N_FILES);
	symbol_store_end(f->store);
}

/* Stacks of one frame over and over, which come first: the list begins with what was added last. */
static void add_recursion(struct files *f)
{
	struct frame_ref user[DEEPEST_RECURSION];
	bool is_new;

	for (size_t i = 0; i < ARRAY_SIZE(user); i++)
		user[i] = frame_of(f, 0, 0);
	for (uint16_t i = 0; i < N_RECURSIONS; i++)
		assert_int_equal(add_sample(f->interval, f->labels, NO_FRAMES, 0, user,
					    (uint16_t)(DEEPEST_RECURSION - i), &is_new),
				 0);
}

/* A frame that comes more often than there is room for frames takes the place of one. */
static void test_recursion_leaves_room(void **state)
{
	struct files *f = *state;
	_cleanup_(namer_freep) struct namer *namer = NULL;
	struct named_stack named;

	add_stacks(f, 40);
	add_recursion(f);
	open_store(f, STORE_BYTES);
	assert_int_equal(namer_new(f->interval, f->store, (size_t)128 << 10, &namer), 0);
	namer_name_all(namer);
	for (const struct stack *s = f->interval->series->stacks; s; s = s->next)
		assert_int_equal(namer_stack(namer, s, &named), 0);
	assert_in_range(telemetry_get(f->telemetry, TELEMETRY_symbol_cache_evictions), 1, N_FILES);
	symbol_store_end(f->store);
}

/* What has no place in the order is named as it comes, and what is forgotten for want of memory again. */
static void test_little_memory(void **state)
{
	struct files *f = *state;
	_cleanup_(namer_freep) struct namer *namer = NULL;

	add_stacks(f, 600);
	open_store(f, SYMBOL_STORE_MAX_BYTES);
	assert_int_equal(namer_new(f->interval, f->store, (size_t)128 << 10, &namer), 0);
	namer_name_all(namer);
	check_names(f, namer);
	namer_freep(&namer);
	assert_int_equal(namer_new(f->interval, f->store, 0, &namer), 0);
	namer_name_all(namer);
	symbol_store_end(f->store);
}

/* Names that no table of addresses holds any more go while the interval is open, so that all of it keeps its bound. */
static void test_names_stay_within_the_store(void **state)
{
	const size_t files_bytes = SMALL_STORE_BYTES - SMALL_STORE_BYTES / SYMBOL_STORE_JIT_SHARE;
	struct files *f = *state;
	_cleanup_(namer_freep) struct namer *namer = NULL;

	/* 6,000 names of some 70 bytes. */
	add_stacks(f, 2000);
	open_store(f, SMALL_STORE_BYTES);
	assert_int_equal(namer_new(f->interval, f->store, (size_t)4 << 20, &namer), 0);
	namer_name_all(namer);
	assert_in_range(symbol_store_object_bytes(f->store), files_bytes / 2, files_bytes);
	assert_in_range(check_names(f, namer), files_bytes / 2, files_bytes);
	symbol_store_end(f->store);
}

/* A stack that alone has more names than there is room for is said to find none, and the next is named all the same. */
static void test_a_stack_beyond_the_store(void **state)
{
	struct files *f = *state;
	_cleanup_(namer_freep) struct namer *namer = NULL;
	struct named_stack named;
	const struct stack *s;

	add_stacks(f, 2);
	open_store(f, 1);
	s = f->interval->series->stacks;
	assert_int_equal(namer_new(f->interval, f->store, (size_t)1 << 20, &namer), 0);
	namer_name_all(namer);
	assert_int_equal(namer_stack(namer, s, &named), -ENOMEM);
	assert_int_equal(namer_stack(namer, s->next, &named), -ENOMEM);
	assert_int_equal(namer_leaf(namer, s, &named), 0);
	assert_int_equal(named.n, 1);
	symbol_store_end(f->store);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_each_index_is_made_once),
	FIXTURE_TEST(test_recursion_leaves_room),
	FIXTURE_TEST(test_little_memory),
	FIXTURE_TEST(test_names_stay_within_the_store),
	FIXTURE_TEST(test_a_stack_beyond_the_store),
};

TEST_MAIN(tests)
