/* SPDX-License-Identifier: Apache-2.0 */
/* Files shared by key; ids, idle files and their descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/process/file_table.h"
#include "agent/util/clock.h"
#include "tests/support/unit.h"

static struct file_table *new_table(struct file_table_options o)
{
	struct file_table *t = NULL;

	assert_int_equal(file_table_new(&o, &t), 0);
	return t;
}

static struct mapped_file *get_facts(struct file_table *t, struct file_facts facts)
{
	struct mapped_file *f = NULL;

	assert_int_equal(file_table_get(t, &facts, &f), 0);
	return f;
}

static struct mapped_file *get(struct file_table *t, uint64_t inode)
{
	return get_facts(t, (struct file_facts){ .key = { 8, inode }, .path = STR_LIT("/bin/x") });
}

static int a_descriptor(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_shared_by_key(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });

	(void)state;
	struct mapped_file *a = get(t, 1);
	struct mapped_file *b =
		get_facts(t, (struct file_facts){ .key = { 8, 1 }, .path = STR_LIT("/other") });
	struct mapped_file *c =
		get_facts(t, (struct file_facts){ .key = { 9, 1 }, .path = STR_LIT("/bin/x") });
	assert_ptr_equal(a, b);
	assert_string_equal(a->path, "/bin/x");
	assert_ptr_not_equal(a, c);
	assert_int_equal(a->id, 1);
	assert_int_equal(c->id, 2);
	assert_int_equal(file_table_n(t), 2);
	mapped_file_unref(a);
	mapped_file_unref(b);
	mapped_file_unref(c);
}

static void test_idle_keeps_id_and_descriptor(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });

	(void)state;
	struct mapped_file *a = get(t, 1);
	uint32_t id = a->id;
	int fd = a_descriptor();
	mapped_file_take_fd(a, fd);
	for (int i = 0; i < 100; i++) {
		mapped_file_unref(a);
		assert_int_equal(file_table_n_idle(t), 1);
		a = get(t, 1);
		assert_int_equal(a->id, id);
		assert_int_equal(a->fd, fd);
		assert_int_equal(file_table_n_idle(t), 0);
	}
	mapped_file_unref(a);
}

static void test_idle_ceilings(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ .max_idle = 8, .max_idle_fds = 3 });
	int fds[20];

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		struct mapped_file *f = get(t, i);

		fds[i] = a_descriptor();
		mapped_file_take_fd(f, fds[i]);
		mapped_file_unref(f);
		if (i >= 3)
			assert_int_equal(get(t, i)->fd, fds[i]);
		mapped_file_unref(i >= 3 ? f : NULL);
	}
	assert_int_equal(file_table_n_idle(t), 8);
	assert_int_equal(file_table_n(t), 8);
	struct mapped_file *kept = get(t, 18);
	assert_int_equal(kept->id, 19);
	assert_true(is_open(kept->fd));
	struct mapped_file *closed = get(t, 13);
	assert_int_equal(closed->id, 14);
	assert_int_equal(closed->fd, -1);
	struct mapped_file *forgotten = get(t, 2);
	assert_int_equal(forgotten->id, 21);
	mapped_file_unref(kept);
	mapped_file_unref(closed);
	mapped_file_unref(forgotten);
}

static void test_default_ceilings(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });

	(void)state;
	for (unsigned int i = 0; i < FILE_TABLE_MAX_IDLE + 500; i++)
		mapped_file_unref(get(t, i));
	assert_int_equal(file_table_n(t), FILE_TABLE_MAX_IDLE);
}

static void test_files_ceiling(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ .max_files = 2 });
	struct file_facts third = { .key = { 8, 3 } };
	struct mapped_file *f = NULL;

	(void)state;
	struct mapped_file *a = get(t, 1);
	struct mapped_file *b = get(t, 2);
	assert_int_equal(file_table_get(t, &third, &f), -ENOSPC);
	assert_null(f);
	mapped_file_unref(a);
	f = get_facts(t, third);
	assert_int_equal(file_table_n(t), 2);
	mapped_file_unref(b);
	mapped_file_unref(f);
}

static void test_ids_are_reused_last(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ .max_id = 10, .max_idle = 1 });
	struct mapped_file *held[10];

	(void)state;
	held[0] = get(t, 100);
	for (unsigned int i = 2; i <= 10; i++) {
		struct mapped_file *f = get(t, i);

		assert_int_equal(f->id, i);
		mapped_file_unref(f);
	}
	/* 1 is held, 10 idle: the round begins at 2. */
	for (unsigned int i = 1; i < 9; i++) {
		held[i] = get(t, 200 + i);
		assert_int_equal(held[i]->id, i + 1);
	}
	/* The idle one makes room. */
	held[9] = get(t, 300);
	assert_int_equal(held[9]->id, 10);
	struct file_facts more = { .key = { 8, 400 } };
	struct mapped_file *f = NULL;
	assert_int_equal(file_table_get(t, &more, &f), -ENOSPC);
	for (unsigned int i = 0; i < 10; i++)
		mapped_file_unref(held[i]);
}

static void test_inode_reuse(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });

	(void)state;
	struct mapped_file *from_maps = get(t, 1);
	struct mapped_file *first =
		get_facts(t, (struct file_facts){ .key = { 8, 1 }, .generation = 70 });
	struct mapped_file *again =
		get_facts(t, (struct file_facts){ .key = { 8, 1 }, .generation = 70 });
	struct mapped_file *second =
		get_facts(t, (struct file_facts){ .key = { 8, 1 }, .generation = 71 });
	struct mapped_file *later = get(t, 1);
	assert_ptr_equal(from_maps, first);
	assert_ptr_equal(first, again);
	assert_ptr_not_equal(first, second);
	assert_ptr_equal(second, later);
	assert_int_not_equal(first->id, second->id);
	mapped_file_unref(from_maps);
	mapped_file_unref(first);
	mapped_file_unref(again);
	assert_int_equal(file_table_n(t), 1);
	mapped_file_unref(second);
	mapped_file_unref(later);
}

static void test_content_replaced(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });
	char path[] = "/tmp/test_file_table.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	(void)unlink(path);
	struct mapped_file *f = get(t, 1);
	uint32_t id = f->id;
	mapped_file_take_fd(f, dup(fd));
	mapped_file_unref(f);
	f = get(t, 1);
	assert_int_equal(f->id, id);
	assert_false(mapped_file_is_rewritten(f));
	assert_int_equal(write(fd, "new", 3), 3);
	assert_true(mapped_file_is_rewritten(f));
	/* Who holds the old one, for names of samples of then, keeps it. */
	struct mapped_file *next = get(t, 1);
	assert_int_not_equal(next->id, id);
	assert_int_equal(next->fd, -1);
	assert_int_equal(f->id, id);
	mapped_file_unref(f);
	assert_int_equal(file_table_n(t), 1);
	mapped_file_unref(next);
}

static struct mapped_file *get_mapped(struct file_table *t, uint64_t mapped_ns)
{
	return get_facts(t, (struct file_facts){ .key = { 8, 1 },
						 .path = STR_LIT("/bin/x"),
						 .mapped_ns = mapped_ns });
}

/* What mapped a file before it was looked at last has the content of then; what does so afterwards, the new one. */
static void test_one_look_a_round(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });
	char path[] = "/tmp/test_file_table.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	uint64_t before_ns = clock_mono_ns();

	(void)state;
	assert_true(fd >= 0);
	(void)unlink(path);
	struct mapped_file *f = get(t, 1);
	mapped_file_take_fd(f, dup(fd));
	uint64_t opened_ns = clock_mono_ns();
	struct mapped_file *same = get(t, 1);
	assert_ptr_equal(f, same);
	assert_int_equal(write(fd, "new", 3), 3);
	const uint64_t earlier[] = { before_ns, opened_ns };
	for (size_t i = 0; i < 2; i++) {
		struct mapped_file *of_round = get_mapped(t, earlier[i]);

		assert_ptr_equal(f, of_round);
		mapped_file_unref(of_round);
	}
	struct mapped_file *next = get_mapped(t, clock_mono_ns());
	assert_int_not_equal(f->id, next->id);
	mapped_file_unref(next);
	mapped_file_unref(same);
	mapped_file_unref(f);
}

/* Other content of the same size is told by what a file begins with; a new time alone says nothing. */
static void test_content_of_the_same_size(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });
	const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char path[] = "/tmp/test_file_table.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	(void)unlink(path);
	assert_int_equal(write(fd, "old", 3), 3);
	struct mapped_file *f = get(t, 1);
	mapped_file_take_fd(f, dup(fd));
	assert_int_equal(futimens(fd, long_ago), 0);
	assert_false(mapped_file_is_rewritten(f));
	struct mapped_file *same = get(t, 1);
	assert_ptr_equal(f, same);
	assert_int_equal(pwrite(fd, "new", 3, 0), 3);
	assert_true(mapped_file_is_rewritten(f));
	mapped_file_unref(same);
	mapped_file_unref(f);
}

static void test_vdso_is_one(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });

	(void)state;
	struct mapped_file *a =
		get_facts(t, (struct file_facts){ .vdso = true, .path = STR_LIT("[vdso]") });
	struct mapped_file *b = get_facts(t, (struct file_facts){ .vdso = true });
	struct mapped_file *file = get_facts(t, (struct file_facts){ .key = { 0, 0 } });
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, file);
	assert_true(a->vdso);
	mapped_file_unref(a);
	mapped_file_unref(b);
	mapped_file_unref(file);
}

static void test_path_and_error(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });

	(void)state;
	struct mapped_file *f = get_facts(t, (struct file_facts){ .key = { 8, 1 } });
	assert_string_equal(f->path, "");
	f->open_error = -ENOENT;
	struct mapped_file *again = get(t, 1);
	assert_string_equal(f->path, "/bin/x");
	assert_int_equal(f->open_error, 0);
	mapped_file_unref(f);
	mapped_file_unref(again);
}

static void test_files_outlive_the_table(void **state)
{
	struct file_table *t = new_table((struct file_table_options){ 0 });

	(void)state;
	struct mapped_file *f = get(t, 1);
	int fd = a_descriptor();
	mapped_file_take_fd(f, fd);
	mapped_file_unref(get(t, 2));
	file_table_free(t);
	assert_true(is_open(fd));
	assert_string_equal(f->path, "/bin/x");
	mapped_file_unref(f);
	assert_false(is_open(fd));
}

static void test_memory_names(void **state)
{
	_cleanup_(file_table_freep) struct file_table *t =
		new_table((struct file_table_options){ 0 });
	char text[FILE_TABLE_NAME_BYTES + 20];

	(void)state;
	assert_null(file_table_name(t, STR_LIT("")));
	const char *heap = file_table_name(t, STR_LIT("[heap]"));
	assert_string_equal(heap, "[heap]");
	assert_ptr_equal(file_table_name(t, STR_LIT("[heap]")), heap);
	assert_string_equal(file_table_name(t, STR_LIT("[anon:\xff]")), "[anon:\xef\xbf\xbd]");
	memset(text, 'x', sizeof(text));
	assert_int_equal(strlen(file_table_name(t, (struct str){ text, sizeof(text) })),
			 FILE_TABLE_NAME_BYTES - 1);
	for (int i = 0; i < FILE_TABLE_MAX_NAMES; i++) {
		(void)snprintf(text, sizeof(text), "[anon:%d]", i);
		assert_int_equal(file_table_name(t, str_from(text)) != NULL,
				 i < FILE_TABLE_MAX_NAMES - 3);
	}
	assert_ptr_equal(file_table_name(t, STR_LIT("[heap]")), heap);
}

static const struct unit_test tests[] = {
	TEST(test_shared_by_key),
	TEST(test_idle_keeps_id_and_descriptor),
	TEST(test_idle_ceilings),
	TEST(test_default_ceilings),
	TEST(test_files_ceiling),
	TEST(test_ids_are_reused_last),
	TEST(test_inode_reuse),
	TEST(test_content_replaced),
	TEST(test_one_look_a_round),
	TEST(test_content_of_the_same_size),
	TEST(test_vdso_is_one),
	TEST(test_path_and_error),
	TEST(test_files_outlive_the_table),
	TEST(test_memory_names),
};

TEST_MAIN(tests)
