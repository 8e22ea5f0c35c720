/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of mappings against a model that keeps one cell a page. */
#include <stdlib.h>

#include "agent/process/file_table.h"
#include "agent/process/mapping_edit.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define N_FILES 3
#define N_PAGES 64
#define PAGE 0x1000ULL

struct fixture {
	struct file_table *files;
	struct mapped_file *file[N_FILES];
};

static void set_up(struct fixture *f)
{
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	for (unsigned int i = 0; i < N_FILES; i++) {
		struct file_facts facts = { .key = { .dev = 1, .inode = i + 1 },
					    .path = STR_LIT("/x") };

		assert_int_equal(file_table_get(f->files, &facts, &f->file[i]), 0);
	}
}

static void tear_down(struct fixture *f)
{
	for (int i = 0; i < N_FILES; i++) {
		/* All mappings have given their references back. */
		assert_int_equal(f->file[i]->n_refs, 1);
		mapped_file_unref(f->file[i]);
	}
	file_table_free(f->files);
}

FIXTURE(struct fixture, set_up, tear_down)

static void put(struct mapping_edit *e, uint64_t begin, uint64_t end, struct mapped_file *file,
		uint64_t file_off)
{
	struct mapping m = { .begin = begin,
			     .end = end,
			     .file_off = file ? file_off : 0,
			     .kind = file ? MAPPING_FILE : MAPPING_ANON,
			     .file = file ? mapped_file_ref(file) : NULL };

	assert_int_equal(mapping_edit_put(e, &m), 0);
}

static void test_split(void **state)
{
	struct fixture *f = *state;
	_cleanup_mapping_edit_ struct mapping_edit e = { 0 };
	_cleanup_(mappings_unrefp) struct mappings *m = NULL;

	put(&e, 0x10000, 0x20000, f->file[0], 0x5000);
	put(&e, 0x14000, 0x16000, f->file[1], 0);
	assert_int_equal(mapping_edit_finish(&e, &m), 0);
	assert_int_equal(m->n, 3);
	assert_int_equal(m->items[0].end, 0x14000);
	assert_int_equal(m->items[0].file_off, 0x5000);
	assert_ptr_equal(m->items[1].file, f->file[1]);
	assert_int_equal(m->items[2].begin, 0x16000);
	assert_int_equal(m->items[2].file_off, 0xb000);
	assert_null(mappings_find(m, 0xffff));
	assert_ptr_equal(mappings_find(m, 0x10000), &m->items[0]);
	assert_ptr_equal(mappings_find(m, 0x13fff), &m->items[0]);
	assert_ptr_equal(mappings_find(m, 0x14000), &m->items[1]);
	assert_ptr_equal(mappings_find(m, 0x1ffff), &m->items[2]);
	assert_null(mappings_find(m, 0x20000));
	assert_null(mappings_find(NULL, 0x10000));
}

static void test_anonymous_neighbours_join(void **state)
{
	struct fixture *f = *state;
	_cleanup_mapping_edit_ struct mapping_edit e = { 0 };

	put(&e, 0x1000, 0x2000, NULL, 0);
	put(&e, 0x3000, 0x4000, NULL, 0);
	assert_int_equal(e.n, 2);
	put(&e, 0x2000, 0x3000, NULL, 0);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.items[0].begin, 0x1000);
	assert_int_equal(e.items[0].end, 0x4000);
	put(&e, 0x4000, 0x5000, f->file[0], 0);
	put(&e, 0x5000, 0x6000, f->file[0], 0x1000);
	assert_int_equal(e.n, 3);
}

static void test_cover(void **state)
{
	struct fixture *f = *state;
	_cleanup_mapping_edit_ struct mapping_edit e = { 0 };
	_cleanup_(mappings_unrefp) struct mappings *m = NULL;

	put(&e, 0x10000, 0x20000, f->file[0], 0x5000);
	put(&e, 0x30000, 0x40000, NULL, 0);
	assert_int_equal(mapping_edit_finish(&e, &m), 0);
	struct mapping same = {
		.begin = 0x10000, .end = 0x20000, .file_off = 0x5000, .file = f->file[0]
	};
	struct mapping inside = {
		.begin = 0x11000, .end = 0x12000, .file_off = 0x6000, .file = f->file[0]
	};
	struct mapping shifted = {
		.begin = 0x11000, .end = 0x12000, .file_off = 0x5000, .file = f->file[0]
	};
	struct mapping other = {
		.begin = 0x11000, .end = 0x12000, .file_off = 0x6000, .file = f->file[1]
	};
	struct mapping longer = {
		.begin = 0x11000, .end = 0x21000, .file_off = 0x6000, .file = f->file[0]
	};
	struct mapping anon = { .begin = 0x31000, .end = 0x32000, .kind = MAPPING_ANON };

	assert_true(mappings_cover(m, &same));
	assert_true(mappings_cover(m, &inside));
	assert_false(mappings_cover(m, &shifted));
	assert_false(mappings_cover(m, &other));
	assert_false(mappings_cover(m, &longer));
	assert_true(mappings_cover(m, &anon));
	assert_false(mappings_cover(NULL, &same));
}

static void test_differ(void **state)
{
	struct fixture *f = *state;
	_cleanup_mapping_edit_ struct mapping_edit e = { 0 };
	_cleanup_(mappings_unrefp) struct mappings *m = NULL;

	put(&e, 0x10000, 0x20000, f->file[0], 0x5000);
	put(&e, 0x30000, 0x40000, NULL, 0);
	assert_int_equal(mapping_edit_finish(&e, &m), 0);
	const struct {
		struct mapping m;
		bool differs;
	} rows[] = {
		{ { .begin = 0x10000, .end = 0x20000, .file_off = 0x5000, .file = f->file[0] },
		  false },
		/* Longer, on either side. */
		{ { .begin = 0xf000, .end = 0x21000, .file_off = 0x4000, .file = f->file[0] },
		  false },
		{ { .begin = 0x11000, .end = 0x12000, .file_off = 0x6000, .file = f->file[0] },
		  false },
		{ { .begin = 0x11000, .end = 0x12000, .file_off = 0x5000, .file = f->file[0] },
		  true },
		{ { .begin = 0x11000, .end = 0x12000, .file_off = 0x6000, .file = f->file[1] },
		  true },
		{ { .begin = 0x1f000, .end = 0x21000, .file = f->file[1] }, true },
		{ { .begin = 0x8000, .end = 0x11000, .kind = MAPPING_ANON }, true },
		/* Beside all of them. */
		{ { .begin = 0x8000, .end = 0x10000, .file = f->file[1] }, false },
		{ { .begin = 0x20000, .end = 0x30000, .file = f->file[1] }, false },
		{ { .begin = 0x40000, .end = 0x50000, .file = f->file[1] }, false },
		/* What is made at run time is not told apart. */
		{ { .begin = 0x31000, .end = 0x32000, .kind = MAPPING_ANON, .name = "[heap]" },
		  false },
		{ { .begin = 0x31000, .end = 0x32000, .file = f->file[1] }, true },
		/* Code that is elsewhere, too: all of it, a piece, more than that. */
		{ { .begin = 0x30000, .end = 0x40000, .file_off = 0x5000, .file = f->file[0] },
		  false },
		{ { .begin = 0x31000, .end = 0x32000, .file_off = 0x14000, .file = f->file[0] },
		  false },
		{ { .begin = 0x31000, .end = 0x33000, .file_off = 0x14000, .file = f->file[0] },
		  true },
		{ { .begin = 0x31000, .end = 0x32000, .file_off = 0x4000, .file = f->file[0] },
		  true },
		/* The second of two. */
		{ { .begin = 0x18000, .end = 0x38000, .file_off = 0xd000, .file = f->file[0] },
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(mappings_differ(m, &rows[i].m), rows[i].differs);
	assert_false(mappings_differ(NULL, &rows[3].m));
}

static void test_ceiling(void **state)
{
	struct fixture *f = *state;
	_cleanup_mapping_edit_ struct mapping_edit e = { 0 };

	/* From the top down, so that each one lands in front and the highest go. */
	for (uint64_t i = MAPPINGS_MAX + 100; i > 0; i--)
		put(&e, i * 2 * PAGE, i * 2 * PAGE + PAGE, f->file[0], 0);
	assert_int_equal(e.n, MAPPINGS_MAX);
	assert_int_equal(e.items[0].begin, 2 * PAGE);
	assert_int_equal(e.items[MAPPINGS_MAX - 1].begin, MAPPINGS_MAX * 2 * PAGE);
}

/* A cell says which file's page lies there; 0 nothing, 1 anonymous. */
struct cell {
	struct mapped_file *file;
	uint64_t file_off;
	bool used;
};

static void model_put(struct cell *model, unsigned int first, unsigned int n,
		      struct mapped_file *file, uint64_t file_off)
{
	for (unsigned int i = 0; i < n; i++)
		model[first + i] = (struct cell){ file, file ? file_off + i * PAGE : 0, true };
}

static void compare_to_model(const struct mappings *m, const struct cell *model)
{
	for (uint32_t i = 0; i < m->n; i++) {
		assert_true(m->items[i].begin < m->items[i].end);
		assert_true(i == 0 || m->items[i - 1].end <= m->items[i].begin);
	}
	for (unsigned int page = 0; page < N_PAGES; page++) {
		const struct mapping *found = mappings_find(m, page * PAGE + 5);

		assert_int_equal(found != NULL, model[page].used);
		if (!found)
			continue;
		assert_ptr_equal(found->file, model[page].file);
		if (found->file)
			assert_int_equal(found->file_off + (page * PAGE - found->begin),
					 model[page].file_off);
	}
}

static void test_against_model(void **state)
{
	struct fixture *f = *state;
	unsigned int seed = 12345;

	for (int round = 0; round < 200; round++) {
		struct cell model[N_PAGES] = { 0 };
		struct mappings *m = NULL;

		for (int step = 0; step < 40; step++) {
			_cleanup_mapping_edit_ struct mapping_edit e = { 0 };
			unsigned int first = (unsigned int)rand_r(&seed) % N_PAGES;
			unsigned int n = 1 + (unsigned int)rand_r(&seed) % (N_PAGES - first);
			unsigned int which = (unsigned int)rand_r(&seed) % (N_FILES + 1);
			struct mapped_file *file = which < N_FILES ? f->file[which] : NULL;
			uint64_t file_off = (unsigned int)rand_r(&seed) % 16 * PAGE;

			n = n > 12 ? n % 12 + 1 : n;
			assert_int_equal(mapping_edit_init(&e, m), 0);
			put(&e, first * PAGE, (first + n) * PAGE, file, file_off);
			model_put(model, first, n, file, file_off);
			mappings_unref(m);
			assert_int_equal(mapping_edit_finish(&e, &m), 0);
			compare_to_model(m, model);
		}
		mappings_unref(m);
	}
}

static void put_named(struct mapping_edit *e, uint64_t begin, uint64_t end, const char *name)
{
	const struct mapping m = { .begin = begin, .end = end, .kind = MAPPING_ANON, .name = name };

	assert_int_equal(mapping_edit_put(e, &m), 0);
}

/* Memory of another name is another mapping; an event without a name says nothing against the one that is known. */
static void test_names(void **state)
{
	_cleanup_mapping_edit_ struct mapping_edit e = { 0 };
	static const char heap[] = "[heap]", v8[] = "[anon:v8]";
	struct mappings *m = NULL;

	(void)state;
	put_named(&e, 0, 10 * PAGE, heap);
	put_named(&e, 10 * PAGE, 20 * PAGE, heap);
	put_named(&e, 20 * PAGE, 30 * PAGE, v8);
	put_named(&e, 4 * PAGE, 5 * PAGE, v8);
	assert_int_equal(mapping_edit_finish(&e, &m), 0);
	assert_int_equal(m->n, 4);
	assert_ptr_equal(m->items[1].name, v8);
	assert_ptr_equal(m->items[2].name, heap);
	assert_int_equal(m->items[2].end, 20 * PAGE);
	struct mapping again = { .begin = 21 * PAGE, .end = 22 * PAGE, .kind = MAPPING_ANON };
	assert_true(mappings_cover(m, &again));
	again.name = heap;
	assert_false(mappings_cover(m, &again));
	mappings_unref(m);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_split),
	FIXTURE_TEST(test_anonymous_neighbours_join),
	FIXTURE_TEST(test_cover),
	FIXTURE_TEST(test_differ),
	TEST(test_names),
	FIXTURE_TEST(test_ceiling),
	FIXTURE_TEST(test_against_model),
};

TEST_MAIN(tests)
