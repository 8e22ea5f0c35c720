/* SPDX-License-Identifier: Apache-2.0 */
/* Files that processes map are looked at in the worker, each once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/process/file_table.h"
#include "agent/runtimes/runtime_search.h"
#include "agent/util/clock.h"
#include "agent/util/loop.h"
#include "agent/util/macro.h"
#include "bpf/image.h"

#define KIND 7 /* of what is found here */
#define MANY (RUNTIME_SEARCH_MAX_WAITING + 10)

static unsigned int n_detected;
static bool is_any;
static bool loses_reads;
static int open_result;
static uint64_t ahead_ns;

uint64_t __real_clock_mono_ns(void);
uint64_t __wrap_clock_mono_ns(void);
uint64_t __wrap_clock_mono_ns(void)
{
	return __real_clock_mono_ns() + ahead_ns;
}

/* Worker. Counts a call more at each look. */
uint64_t __wrap_reader_n_failed(void);
uint64_t __wrap_reader_n_failed(void)
{
	static uint64_t n;

	n += loses_reads;
	return n;
}

int __real_process_open_file(struct process_table *t, struct process *p, struct mapped_file *f);
int __wrap_process_open_file(struct process_table *t, struct process *p, struct mapped_file *f);
int __wrap_process_open_file(struct process_table *t, struct process *p, struct mapped_file *f)
{
	return open_result ? open_result : __real_process_open_file(t, p, f);
}

bool runtime_is_any(void)
{
	return is_any;
}

/* Worker. Every ELF file holds one. */
bool runtime_detect(const struct elf *elf, struct runtime_file *ret_file)
{
	assert_true(elf_n_sections(elf) > 0);
	n_detected++;
	*ret_file = (struct runtime_file){ .wire.kind = KIND };
	return true;
}

struct fixture {
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct process_table *processes;
	struct file_table *files;
	struct runtime_search *search;
	unsigned int n_found;
	uint64_t image; /* of what was found last */
};

static void on_found(struct mapped_file *f, const struct runtime_file *found, void *data)
{
	struct fixture *fix = data;

	assert_true(f->fd >= 0);
	assert_int_equal(found->wire.kind, KIND);
	fix->n_found++;
	fix->image = found->image;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	n_detected = 0;
	is_any = true;
	loses_reads = false;
	open_result = 0;
	ahead_ns = 0;
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(worker_new(f->loop, 2, &f->worker), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(
		process_table_new(&(struct process_table_options){ .telemetry = f->telemetry },
				  &f->processes),
		0);
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	const struct runtime_search_options o = {
		.worker = f->worker, .processes = f->processes, .found = on_found, .data = f
	};
	assert_int_equal(runtime_search_new(&o, &f->search), 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_search_stop(f->search);
	worker_drain(f->worker);
	runtime_search_free(f->search);
	runtime_search_free(NULL);
	file_table_free(f->files);
	process_table_free(f->processes);
	telemetry_free(f->telemetry);
	worker_free(f->worker);
	loop_free(f->loop);
	free(f);
	return 0;
}

/* Opened, under a number of its own where `inode` is not 0. A reference. */
static struct mapped_file *file_of(struct fixture *f, const char *path, uint64_t inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct mapped_file *file = NULL;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	const struct file_facts facts = { .key = { .dev = st.st_dev,
						   .inode = inode ? inode : st.st_ino },
					  .generation = 5,
					  .path = str_from(path) };
	assert_int_equal(file_table_get(f->files, &facts, &file), 0);
	if (file->fd < 0)
		mapped_file_take_fd(file, fd);
	else
		(void)close(fd);
	return file;
}

/* Of nobody's: its references are ours. */
static struct process *process_of(struct mapped_file **files, uint32_t n)
{
	struct process *p = calloc(1, sizeof(*p));
	struct mappings *m = calloc(1, sizeof(*m) + n * sizeof(m->items[0]));

	assert_true(p && m);
	m->n_refs = 1;
	m->n = n;
	for (uint32_t i = 0; i < n; i++)
		m->items[i] = (struct mapping){ .begin = 0x1000 * (i + 1),
						.end = 0x1000 * (i + 2),
						.file = files[i] };
	p->n_refs = 1;
	list_init(&p->lru);
	p->mappings = m;
	return p;
}

static void look(struct fixture *f)
{
	runtime_search_run(f->search);
	worker_drain(f->worker);
}

static void test_each_file_once(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0),
					file_of(f, "/proc/self/status", 0), NULL };
	struct process *p = process_of(files, ARRAY_SIZE(files));

	runtime_search_add(f->search, p);
	assert_int_equal(n_detected, 0);
	look(f);
	/* The other one is no ELF file, and memory has none. */
	assert_int_equal(n_detected, 1);
	assert_int_equal(f->n_found, 1);
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, 1);
	process_unref(p);
}

/* As the kernel half numbers it. */
static void test_number(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0) };
	struct process *p = process_of(files, 1);
	struct stat st;

	assert_int_equal(stat("/proc/self/exe", &st), 0);
	const struct image_inode i = {
		.number = st.st_ino,
		.dev = (uint64_t)(st.st_dev >> 8 & 0xfff) << 20 |
		       ((st.st_dev & 0xff) | (st.st_dev >> 12 & 0xfff00)),
		.generation = 5,
		.n_bytes = (uint64_t)st.st_size,
		.changed_ns = (uint64_t)st.st_ctim.tv_sec * NS_PER_S + (uint64_t)st.st_ctim.tv_nsec,
	};
	runtime_search_add(f->search, p);
	look(f);
	assert_true(f->image == image_number(&i));
	process_unref(p);
}

/* What was opened is not the inode that the kernel told of: it tells nothing of that one's number. */
static void test_number_of_another_inode(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 12345) };
	struct process *p = process_of(files, 1);

	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(f->n_found, 1);
	assert_int_equal(f->image, 0);
	process_unref(p);
}

/* A limit of the reader says nothing of the file: it is looked at again soon, though nobody maps it anew. */
static void test_content_that_does_not_come(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0) };
	struct process *p = process_of(files, 1);

	loses_reads = true;
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, 1);
	loses_reads = false;
	look(f);
	assert_int_equal(n_detected, 1);
	assert_int_equal(f->n_found, 0);
	ahead_ns += RUNTIME_SEARCH_REFUSED_NS;
	look(f);
	assert_int_equal(n_detected, 2);
	assert_int_equal(f->n_found, 1);
	process_unref(p);
}

static void test_file_that_cannot_be_opened_now(void **state)
{
	static const int passing[] = { -ETIMEDOUT, -EHOSTDOWN, -EAGAIN };
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0) };
	struct process *p = process_of(files, 1);

	runtime_search_add(f->search, p);
	for (size_t i = 0; i < ARRAY_SIZE(passing); i++) {
		open_result = passing[i];
		look(f);
		ahead_ns += RUNTIME_SEARCH_REFUSED_NS << i;
	}
	assert_int_equal(n_detected, 0);
	open_result = 0;
	look(f);
	assert_int_equal(n_detected, 1);
	assert_int_equal(f->n_found, 1);
	process_unref(p);
}

/* Each time later, and not for ever; it is looked at again when it is next seen. */
static void test_content_that_never_comes(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0) };
	struct process *p = process_of(files, 1);

	loses_reads = true;
	runtime_search_add(f->search, p);
	for (unsigned int i = 0; i < 1000; i++) {
		look(f);
		ahead_ns += RUNTIME_SEARCH_REFUSED_NS;
	}
	assert_int_equal(n_detected, 1 + RUNTIME_SEARCH_MAX_REFUSED);
	assert_int_equal(f->n_found, 0);
	loses_reads = false;
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(f->n_found, 1);
	process_unref(p);
}

static void test_no_runtime(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0) };
	struct process *p = process_of(files, 1);

	is_any = false;
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, 0);
	process_unref(p);
}

/* A process that has ended before its file was opened: whoever shows it next. */
static void test_file_that_cannot_be_opened(void **state)
{
	struct fixture *f = *state;
	const struct file_facts facts = { .key = { .dev = 1, .inode = 77 },
					  .path = STR_LIT("/is/not/there") };
	struct mapped_file *file = NULL;

	assert_int_equal(file_table_get(f->files, &facts, &file), 0);
	struct process *p = process_of(&file, 1);
	p->exited = true;
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, 0);
	assert_int_equal(file->searched, 0);
	mapped_file_take_fd(file, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, 1);
	process_unref(p);
}

/* So many at a time, and no more than so many wait; the others come when they are seen again. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[MANY];

	for (unsigned int i = 0; i < MANY; i++)
		files[i] = file_of(f, "/proc/self/exe", 1000 + i);
	struct process *p = process_of(files, MANY);
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, RUNTIME_SEARCH_MAX_OPENED);
	for (unsigned int i = 0; i < MANY; i++)
		look(f);
	assert_int_equal(n_detected, RUNTIME_SEARCH_MAX_WAITING);
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, MANY);
	process_unref(p);
}

/* Something was forgotten: but not all the time. */
static void test_again(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0) };
	struct process *p = process_of(files, 1);
	uint64_t now_ns = RUNTIME_SEARCH_AGAIN_NS;

	for (unsigned int i = 0; i < 3; i++) {
		runtime_search_add(f->search, p);
		look(f);
		runtime_search_again(f->search, now_ns);
	}
	assert_int_equal(n_detected, 2);
	runtime_search_again(f->search, now_ns + RUNTIME_SEARCH_AGAIN_NS);
	runtime_search_add(f->search, p);
	look(f);
	assert_int_equal(n_detected, 3);
	process_unref(p);
}

static void test_stopped(void **state)
{
	struct fixture *f = *state;
	struct mapped_file *files[] = { file_of(f, "/proc/self/exe", 0) };
	struct process *p = process_of(files, 1);

	runtime_search_add(f->search, p);
	runtime_search_stop(f->search);
	look(f);
	assert_int_equal(n_detected, 0);
	process_unref(p);
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_each_file_once),
		FIXTURE_TEST(test_number),
		FIXTURE_TEST(test_number_of_another_inode),
		FIXTURE_TEST(test_no_runtime),
		FIXTURE_TEST(test_file_that_cannot_be_opened),
		FIXTURE_TEST(test_file_that_cannot_be_opened_now),
		FIXTURE_TEST(test_content_that_does_not_come),
		FIXTURE_TEST(test_content_that_never_comes),
		FIXTURE_TEST(test_many),
		FIXTURE_TEST(test_again),
		FIXTURE_TEST(test_stopped),
	};

	return cmocka_run_group_tests_name("agent/runtimes/runtime_search", tests, NULL, NULL);
}
