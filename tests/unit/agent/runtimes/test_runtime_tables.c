/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half is told of runtimes, written into real BPF maps and read back from them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* Runtimes of this test's own. */
#define RUNTIMES(X, what) X(what, PLAIN, plain) X(what, HOOKED, hooked)

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/process/file_table.h"
#include "agent/runtimes/runtime_tables.h"
#include "agent/util/macro.h"

#define N_PROCESSES 4
#define PID 100
#define LINKED 0x1a2340ULL
#define LINKED_PAGE 0x1a2000ULL
#define IMAGE 0xabcdef12345678ULL

/* Of the runtime that keeps something of processes: ours is the memory of all. */
static bool is_ready;
static uint64_t said;
static unsigned int n_kept, n_retracted;
static uint32_t retracted_pid;

/* Its words are addresses when they are published, but for what the process says itself. */
static bool keep(struct wire_runtime *runtime, uint32_t pid, const struct runtime_memory *memory)
{
	runtime->words[0] += runtime->base;
	if (pid == (uint32_t)getpid())
		assert_int_equal(memory->read(memory->data, (uintptr_t)&said, &runtime->words[1],
					      sizeof(said)),
				 0);
	n_kept += is_ready;
	return is_ready;
}

static void retract(uint32_t pid)
{
	n_retracted++;
	retracted_pid = pid;
}

/* What another file tells is added to the first word. */
static void join(struct wire_runtime *runtime, const struct wire_runtime *part)
{
	runtime->words[0] += part->words[0];
}

static const struct runtime plain = { .kind = RUNTIME_PLAIN, .name = "plain" };
static const struct runtime hooked = {
	.kind = RUNTIME_HOOKED, .name = "hooked", .join = join, .publish = keep, .retract = retract
};

const struct runtime *runtime_of(uint32_t kind)
{
	return kind == RUNTIME_PLAIN ? &plain : kind == RUNTIME_HOOKED ? &hooked : NULL;
}

struct fixture {
	int runtimes_fd;
	int images_fd;
	int libraries_fd;
	struct file_table *files;
	struct runtime_tables *tables;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	is_ready = true;
	said = n_kept = n_retracted = retracted_pid = 0;
	f->runtimes_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "t_runtimes", sizeof(uint64_t),
					sizeof(struct wire_runtime), N_PROCESSES, NULL);
	f->images_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "t_images", sizeof(uint64_t),
				      sizeof(struct wire_runtime), RUNTIME_TABLES_MAX_IMAGES, NULL);
	f->libraries_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "t_libraries", sizeof(uint64_t),
					 sizeof(uint64_t), RUNTIME_TABLES_MAX_FILES + 1, NULL);
	if (f->runtimes_fd < 0 || f->images_fd < 0 || f->libraries_fd < 0) {
		printf("skip: bpf(2) refuses to make maps: %s\n", strerror(errno));
		return 0;
	}
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	const struct runtime_tables_options o = { .runtimes_fd = f->runtimes_fd,
						  .images_fd = f->images_fd,
						  .libraries_fd = f->libraries_fd };
	assert_int_equal(runtime_tables_new(&o, &f->tables), 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_tables_free(f->tables);
	runtime_tables_free(NULL);
	file_table_free(f->files);
	cleanup_close_p(&f->runtimes_fd);
	cleanup_close_p(&f->images_fd);
	cleanup_close_p(&f->libraries_fd);
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

struct spec {
	uint64_t begin;
	const char *path; /* NULL: memory without a file */
};

/* The same path is the same file. */
static struct mapped_file *file_at(struct fixture *f, const char *path)
{
	struct file_facts facts = { .key = { .dev = 1 }, .path = str_from(path) };
	struct mapped_file *file = NULL;

	for (const char *c = path; *c; c++)
		facts.key.inode = facts.key.inode * 131 + (unsigned char)*c;
	assert_int_equal(file_table_get(f->files, &facts, &file), 0);
	return file;
}

static struct process make_process(struct fixture *f, const struct spec *specs, uint32_t n)
{
	struct mappings *m = calloc(1, sizeof(*m) + n * sizeof(m->items[0]));

	assert_non_null(m);
	m->n_refs = 1;
	m->n = n;
	for (uint32_t i = 0; i < n; i++)
		m->items[i] = (struct mapping){
			.begin = specs[i].begin,
			.end = specs[i].begin + 0x10000,
			.kind = specs[i].path ? MAPPING_FILE : MAPPING_ANON,
			.file = specs[i].path ? file_at(f, specs[i].path) : NULL,
		};
	return (struct process){ .pid = PID, .mappings = m };
}

#define PROCESS(f, ...)                                         \
	make_process((f), (const struct spec[]){ __VA_ARGS__ }, \
		     sizeof((const struct spec[]){ __VA_ARGS__ }) / sizeof(struct spec))

static void drop_process(struct process *p)
{
	mappings_unref(p->mappings);
}

#define _cleanup_process_ _cleanup_(drop_process)

static void add_with_image(struct fixture *f, const char *path, uint32_t kind, uint64_t image,
			   int expected)
{
	const struct runtime_file found = {
		.wire = { .kind = kind, .base = LINKED, .words = { 5, 6 } }, .image = image
	};
	struct mapped_file *file = file_at(f, path);

	assert_int_equal(runtime_tables_add(f->tables, file, &found), expected);
	mapped_file_unref(file);
}

/* The file at the path holds the runtime. */
static void add(struct fixture *f, const char *path, uint32_t kind)
{
	add_with_image(f, path, kind, 0, 0);
}

/* What is told of it; all that the process has is told, or nothing is. */
static enum runtime_kind publish(struct fixture *f, const struct process *p)
{
	uint64_t files = runtime_tables_files(f->tables, p);
	bool is_all;
	enum runtime_kind kind = runtime_tables_publish(f->tables, p, &is_all);

	assert_int_equal(is_all, kind != RUNTIME_NONE || !files);
	return kind;
}

static bool look_up_at(const struct fixture *f, uint32_t place, struct wire_runtime *ret_runtime)
{
	const uint64_t key = wire_runtime_key(PID, place);

	return bpf_map_lookup_elem(f->runtimes_fd, &key, ret_runtime) == 0;
}

static bool look_up(const struct fixture *f, struct wire_runtime *ret_runtime)
{
	return look_up_at(f, 0, ret_runtime);
}

static bool look_up_elf_symbols(const struct fixture *f, uint64_t image,
				struct wire_runtime *ret_runtime)
{
	return bpf_map_lookup_elem(f->images_fd, &image, ret_runtime) == 0;
}

static void test_publish_and_retract(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x555500002000, "/bin/py" }, { 0x7f0000000000, "/lib/c" });
	struct wire_runtime found = { 0 };

	add(f, "/bin/py", RUNTIME_PLAIN);
	assert_int_equal(publish(f, &p), RUNTIME_PLAIN);
	assert_true(look_up(f, &found));
	assert_int_equal(found.kind, RUNTIME_PLAIN);
	/* The first executable segment begins somewhere in its first page. */
	assert_int_equal(found.base, 0x555500002000 - LINKED_PAGE);
	assert_int_equal(found.words[0], 5);
	assert_int_equal(found.words[1], 6);
	runtime_tables_retract(f->tables, PID);
	assert_false(look_up(f, &found));
	runtime_tables_retract(f->tables, PID);
}

/* A library may lie below what it is linked at. */
static void test_base_below_zero(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x10000, "/bin/py" });
	struct wire_runtime found = { 0 };

	add(f, "/bin/py", RUNTIME_PLAIN);
	assert_int_equal(publish(f, &p), RUNTIME_PLAIN);
	assert_true(look_up(f, &found));
	assert_true(found.base + LINKED_PAGE == 0x10000);
}

/* The runtime makes of the words what the kernel half wants. */
static void test_publish_hook(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x7f0000000000, "/lib/py" });
	struct wire_runtime found = { 0 };

	add(f, "/lib/py", RUNTIME_HOOKED);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
		assert_true(look_up(f, &found));
		assert_int_equal(found.words[0], 5 + 0x7f0000000000 - LINKED_PAGE);
		assert_int_equal(found.words[1], 6);
	}
}

static void test_what_the_process_says(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x7f0000000000, "/lib/py" });
	const uint64_t key = wire_runtime_key((uint32_t)getpid(), 0);
	struct wire_runtime found = { 0 };

	said = 1234;
	p.pid = (uint32_t)getpid();
	add(f, "/lib/py", RUNTIME_HOOKED);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	assert_int_equal(bpf_map_lookup_elem(f->runtimes_fd, &key, &found), 0);
	assert_int_equal(found.words[1], 1234);
}

/* However often it was published; and once. */
static void test_retract_hook(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/lib/py" });

	add(f, "/lib/py", RUNTIME_HOOKED);
	for (int i = 0; i < 2; i++)
		assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	assert_int_equal(n_kept, 2);
	assert_int_equal(n_retracted, 0);
	for (int i = 0; i < 2; i++)
		runtime_tables_retract(f->tables, PID);
	assert_int_equal(n_retracted, 1);
	assert_int_equal(retracted_pid, PID);
}

/* Its process has another runtime, none that is ready, or found no room. */
static void test_retract_of_who_has_it_no_more(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/lib/py" });
	_cleanup_process_ struct process other = PROCESS(f, { 0x30000000, "/bin/x" });
	struct wire_runtime found;

	add(f, "/lib/py", RUNTIME_HOOKED);
	add(f, "/bin/x", RUNTIME_PLAIN);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	assert_int_equal(publish(f, &other), RUNTIME_PLAIN);
	assert_int_equal(n_retracted, 1);
	assert_true(look_up(f, &found));
	assert_int_equal(found.kind, RUNTIME_PLAIN);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	is_ready = false;
	assert_int_equal(publish(f, &p), RUNTIME_NONE);
	assert_int_equal(n_retracted, 2);
	assert_false(look_up(f, &found));
	is_ready = true;
	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		other.pid = 200 + i;
		assert_int_equal(publish(f, &other), RUNTIME_PLAIN);
	}
	assert_int_equal(publish(f, &p), RUNTIME_NONE);
	assert_int_equal(n_retracted, 3);
}

static void add_generating(struct fixture *f, const char *path, uint32_t kind)
{
	const struct runtime_file found = {
		.wire = { .kind = kind, .flags = WIRE_RUNTIME_GENERATES, .base = LINKED }
	};
	struct mapped_file *file = file_at(f, path);

	assert_int_equal(runtime_tables_add(f->tables, file, &found), 0);
	mapped_file_unref(file);
}

/* The one with a list of frames is the first, wherever it lies. */
static void test_two(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x30000000, "/lib/jvm" }, { 0x40000000, "/lib/py" });
	struct wire_runtime found;

	add_generating(f, "/lib/jvm", RUNTIME_HOOKED);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	uint64_t before = runtime_tables_files(f->tables, &p);
	add(f, "/lib/py", RUNTIME_PLAIN);
	assert_true(runtime_tables_files(f->tables, &p) != before);
	assert_int_equal(publish(f, &p), RUNTIME_PLAIN);
	assert_true(look_up(f, &found));
	assert_int_equal(found.kind, RUNTIME_PLAIN);
	assert_true(found.flags & WIRE_RUNTIME_IS_FIRST);
	assert_true(look_up_at(f, 1, &found));
	assert_int_equal(found.kind, RUNTIME_HOOKED);
	assert_int_equal(found.base, 0x30000000 - LINKED_PAGE);
	/* It has gone to another place, and what is kept of it stays. */
	assert_int_equal(n_retracted, 0);
	assert_true(runtime_tables_of(f->tables, PID, RUNTIME_HOOKED, &found));
	assert_true(runtime_tables_of(f->tables, PID, RUNTIME_PLAIN, &found));
	runtime_tables_retract(f->tables, PID);
	assert_int_equal(n_retracted, 1);
	assert_false(look_up(f, &found));
	assert_false(look_up_at(f, 1, &found));
}

/* One of the two is not ready, or unloaded: the other one is told. */
static void test_one_of_two(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x30000000, "/lib/jvm" }, { 0x40000000, "/lib/py" });
	_cleanup_process_ struct process without = PROCESS(f, { 0x30000000, "/lib/jvm" });
	struct wire_runtime found;
	bool is_all = true;

	add_generating(f, "/lib/jvm", RUNTIME_HOOKED);
	add(f, "/lib/py", RUNTIME_PLAIN);
	is_ready = false;
	assert_int_equal(runtime_tables_publish(f->tables, &p, &is_all), RUNTIME_PLAIN);
	assert_false(is_all);
	assert_true(look_up(f, &found));
	assert_false(found.flags & WIRE_RUNTIME_IS_FIRST);
	assert_false(look_up_at(f, 1, &found));
	is_ready = true;
	assert_int_equal(publish(f, &p), RUNTIME_PLAIN);
	assert_true(look_up_at(f, 1, &found));
	assert_int_equal(publish(f, &without), RUNTIME_HOOKED);
	assert_int_equal(n_retracted, 0);
	assert_true(look_up(f, &found));
	assert_int_equal(found.kind, RUNTIME_HOOKED);
	assert_false(found.flags & WIRE_RUNTIME_IS_FIRST);
	assert_false(look_up_at(f, 1, &found));
}

/* There is room for one: the first is told, without the other. */
static void test_no_room_for_two(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x30000000, "/lib/jvm" }, { 0x40000000, "/lib/py" });
	_cleanup_process_ struct process other = PROCESS(f, { 0x40000000, "/lib/py" });
	struct wire_runtime found;
	bool is_all = true;

	add_generating(f, "/lib/jvm", RUNTIME_HOOKED);
	add(f, "/lib/py", RUNTIME_PLAIN);
	assert_int_equal(publish(f, &other), RUNTIME_PLAIN);
	for (uint32_t i = 1; i < N_PROCESSES; i++) {
		other.pid = 200 + i;
		assert_int_equal(publish(f, &other), RUNTIME_PLAIN);
	}
	assert_int_equal(runtime_tables_publish(f->tables, &p, &is_all), RUNTIME_PLAIN);
	assert_false(is_all);
	assert_int_equal(n_retracted, 1);
	assert_true(look_up(f, &found));
	assert_false(found.flags & WIRE_RUNTIME_IS_FIRST);
}

/* By address, and only its own. */
static void test_first_mapping_of_the_file(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x10000, "/bin/x" }, { 0x20000, NULL }, { 0x30000000, "/lib/py" },
			{ 0x40000000, "/lib/py" }, { 0x50000000, "/lib/c" });
	struct wire_runtime found = { 0 };

	add(f, "/lib/py", RUNTIME_PLAIN);
	assert_int_equal(publish(f, &p), RUNTIME_PLAIN);
	assert_true(look_up(f, &found));
	assert_int_equal(found.base, 0x30000000 - LINKED_PAGE);
}

static void test_no_runtime(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x10000, "/bin/x" }, { 0x20000, NULL });
	struct process unread = { .pid = PID };
	struct wire_runtime found;

	assert_int_equal(publish(f, &p), RUNTIME_NONE);
	assert_false(look_up(f, &found));
	add(f, "/bin/py", RUNTIME_PLAIN);
	assert_int_equal(publish(f, &p), RUNTIME_NONE);
	assert_int_equal(publish(f, &unread), RUNTIME_NONE);
	assert_false(look_up(f, &found));
}

/* A kind that nobody has is handed on as it is: the kernel half knows none of it either. */
static void test_unknown_kind(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/lib/py" });
	struct wire_runtime found = { 0 };

	add(f, "/lib/py", RUNTIME_MAX + 5);
	(void)publish(f, &p);
	assert_true(look_up(f, &found));
	assert_int_equal(found.words[0], 5);
}

/* The kernel half has no room: what it does not know is not claimed. */
static void test_map_is_full(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/lib/py" });
	struct wire_runtime found;

	add(f, "/lib/py", RUNTIME_PLAIN);
	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		p.pid = 200 + i;
		assert_int_equal(publish(f, &p), RUNTIME_PLAIN);
	}
	p.pid = PID;
	assert_int_equal(publish(f, &p), RUNTIME_NONE);
	assert_false(look_up(f, &found));
	runtime_tables_retract(f->tables, 200);
	assert_int_equal(publish(f, &p), RUNTIME_PLAIN);
	assert_true(look_up(f, &found));
}

static void test_epoch(void **state)
{
	struct fixture *f = fixture_of(state);
	uint32_t epoch = runtime_tables_epoch(f->tables);

	add(f, "/a", RUNTIME_PLAIN);
	assert_int_equal(runtime_tables_epoch(f->tables), epoch + 1);
	/* Known already. */
	add(f, "/a", RUNTIME_PLAIN);
	assert_int_equal(runtime_tables_epoch(f->tables), epoch + 1);
	add(f, "/b", RUNTIME_PLAIN);
	assert_int_equal(runtime_tables_epoch(f->tables), epoch + 2);
}

static void add_part(struct fixture *f, const char *path, uint32_t kind)
{
	const struct runtime_file found = {
		.wire = { .kind = kind,
			  .flags = WIRE_RUNTIME_PART,
			  .base = LINKED,
			  .words = { 1000 } },
		.image = IMAGE,
		.library = 77,
	};
	struct mapped_file *file = file_at(f, path);

	assert_int_equal(runtime_tables_add(f->tables, file, &found), 0);
	mapped_file_unref(file);
}

/* Two files of a process tell of one runtime, in any order. */
static void test_part(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x30000000, "/lib/part" }, { 0x40000000, "/bin/py" });
	_cleanup_process_ struct process without = PROCESS(f, { 0x40000000, "/bin/py" });
	struct wire_runtime found;

	add(f, "/bin/py", RUNTIME_HOOKED);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	uint64_t before = runtime_tables_files(f->tables, &p);
	uint32_t epoch = runtime_tables_epoch(f->tables);
	add_part(f, "/lib/part", RUNTIME_HOOKED);
	/* So that it is published anew. */
	assert_int_not_equal(runtime_tables_epoch(f->tables), epoch);
	assert_true(runtime_tables_files(f->tables, &p) != before);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	assert_true(look_up(f, &found));
	assert_int_equal(found.base, 0x40000000 - LINKED_PAGE);
	assert_int_equal(found.words[0], 5 + 1000 + found.base);
	/* Of another process nothing is known by it. */
	assert_true(runtime_tables_files(f->tables, &without) == before);
	assert_int_equal(publish(f, &without), RUNTIME_HOOKED);
	assert_true(look_up(f, &found));
	assert_int_equal(found.words[0], 5 + found.base);
}

static void test_part_of_another_runtime(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x30000000, "/lib/part" }, { 0x40000000, "/bin/py" });
	struct wire_runtime found;

	add(f, "/bin/py", RUNTIME_HOOKED);
	add_part(f, "/lib/part", RUNTIME_PLAIN);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
	assert_true(look_up(f, &found));
	assert_int_equal(found.words[0], 5 + found.base);
}

/* By itself it is no runtime, nor an executable or a library with one. */
static void test_part_alone(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/lib/part" });
	struct wire_runtime found;
	const uint64_t library = 77;
	uint64_t base;

	add_part(f, "/lib/part", RUNTIME_HOOKED);
	assert_int_equal(publish(f, &p), RUNTIME_NONE);
	assert_true(runtime_tables_files(f->tables, &p) == 0);
	assert_false(look_up(f, &found));
	runtime_tables_publish_library(f->tables, &p, 0x30000000, IMAGE);
	assert_false(look_up_elf_symbols(f, IMAGE, &found));
	assert_int_not_equal(bpf_map_lookup_elem(f->libraries_fd, &library, &base), 0);
}

/* What was found anew is what is known. */
static void test_file_again(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/lib/py" });

	add(f, "/lib/py", RUNTIME_PLAIN);
	add(f, "/lib/py", RUNTIME_HOOKED);
	assert_int_equal(publish(f, &p), RUNTIME_HOOKED);
}

static void test_too_many_files(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process first = PROCESS(f, { 0x30000000, "/0" });
	_cleanup_process_ struct process second = PROCESS(f, { 0x30000000, "/1" });
	char path[16];

	for (unsigned int i = 0; i <= RUNTIME_TABLES_MAX_FILES; i++) {
		(void)snprintf(path, sizeof(path), "/%u", i);
		/* The last one tells that another is to be found again. */
		add_with_image(f, path, RUNTIME_PLAIN, 0, i == RUNTIME_TABLES_MAX_FILES);
	}
	assert_int_equal(runtime_tables_epoch(f->tables), RUNTIME_TABLES_MAX_FILES + 1);
	/* The one that nobody had for the longest time has made room, and is found again; who is asked for stays. */
	assert_int_equal(publish(f, &first), RUNTIME_NONE);
	assert_int_equal(publish(f, &second), RUNTIME_PLAIN);
	add_with_image(f, "/0", RUNTIME_PLAIN, 0, 1);
	assert_int_equal(publish(f, &first), RUNTIME_PLAIN);
	assert_int_equal(publish(f, &second), RUNTIME_PLAIN);
	assert_int_not_equal(runtime_tables_files(f->tables, &first),
			     runtime_tables_files(f->tables, &second));
}

static void test_image(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/bin/py" });
	struct wire_runtime found = { 0 };

	add(f, "/bin/py", RUNTIME_HOOKED);
	runtime_tables_publish_image(f->tables, &p, "/bin/py", IMAGE);
	assert_true(look_up_elf_symbols(f, IMAGE, &found));
	assert_int_equal(found.kind, RUNTIME_HOOKED);
	/* As linked: where it lies is the kernel half's to say. */
	assert_int_equal(found.base, LINKED);
	assert_false(look_up(f, &found));
}

/* Where its number was told by the file itself nobody has to be sampled first. */
static void test_image_of_a_file(void **state)
{
	struct fixture *f = fixture_of(state);
	struct wire_runtime found = { 0 };

	add_with_image(f, "/bin/py", RUNTIME_PLAIN, IMAGE, 0);
	assert_true(look_up_elf_symbols(f, IMAGE, &found));
	assert_int_equal(found.kind, RUNTIME_PLAIN);
	assert_int_equal(found.base, LINKED);
	/* Written to, and looked at again. */
	add_with_image(f, "/bin/py", RUNTIME_HOOKED, IMAGE + 1, 0);
	assert_true(look_up_elf_symbols(f, IMAGE + 1, &found));
	assert_int_equal(found.kind, RUNTIME_HOOKED);
}

/* Neither of a library, nor of a file that the process has only mapped, nor of no number. */
static void test_image_of_the_executable_alone(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x10000, "/bin/x" }, { 0x20000, NULL }, { 0x30000000, "/lib/py" });
	_cleanup_process_ struct process other = PROCESS(f, { 0x10000, "/bin/py" });
	struct process unread = { .pid = PID };
	struct wire_runtime found;

	add(f, "/lib/py", RUNTIME_PLAIN);
	add(f, "/bin/py", RUNTIME_PLAIN);
	runtime_tables_publish_image(f->tables, &p, "/bin/x", IMAGE);
	runtime_tables_publish_image(f->tables, &p, "/bin/py", IMAGE);
	runtime_tables_publish_image(f->tables, &p, "", IMAGE);
	runtime_tables_publish_image(f->tables, &unread, "/bin/py", IMAGE);
	assert_false(look_up_elf_symbols(f, IMAGE, &found));
	runtime_tables_publish_image(f->tables, &other, "/bin/py", 0);
	assert_false(look_up_elf_symbols(f, 0, &found));
	runtime_tables_publish_image(f->tables, &other, "/bin/py", IMAGE);
	assert_true(look_up_elf_symbols(f, IMAGE, &found));
}

static void add_library(struct fixture *f, const char *path, uint64_t library)
{
	const struct runtime_file found = { .wire = { .kind = RUNTIME_PLAIN, .base = LINKED },
					    .library = library };
	struct mapped_file *file = file_at(f, path);

	assert_true(runtime_tables_add(f->tables, file, &found) >= 0);
	mapped_file_unref(file);
}

static bool look_up_library(const struct fixture *f, uint64_t library, uint64_t *ret_text)
{
	return bpf_map_lookup_elem(f->libraries_fd, &library, ret_text) == 0;
}

/* Looked for by its key; which file that is a sample has told, of an address in it. */
static void test_library(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p =
		PROCESS(f, { 0x10000, "/bin/x" }, { 0x20000, NULL }, { 0x30000000, "/lib/py" });
	struct process unread = { .pid = PID };
	struct wire_runtime found = { 0 };
	uint64_t text = 0;

	assert_false(look_up_library(f, 0, &text));
	add_library(f, "/lib/py", 77);
	assert_true(look_up_library(f, 77, &text));
	assert_int_equal(text, LINKED);
	/* There is one. */
	assert_true(look_up_library(f, 0, &text));
	runtime_tables_publish_library(f->tables, &p, 0x10100, IMAGE);
	runtime_tables_publish_library(f->tables, &p, 0x20100, IMAGE);
	runtime_tables_publish_library(f->tables, &p, 0x99999999, IMAGE);
	runtime_tables_publish_library(f->tables, &p, 0x30000100, 0);
	runtime_tables_publish_library(f->tables, &unread, 0x30000100, IMAGE);
	assert_false(look_up_elf_symbols(f, IMAGE, &found));
	runtime_tables_publish_library(f->tables, &p, 0x30000100, IMAGE);
	assert_true(look_up_elf_symbols(f, IMAGE, &found));
	assert_int_equal(found.base, LINKED);
}

/* The key goes with the last file that has it. */
static void test_library_of_several_files(void **state)
{
	struct fixture *f = fixture_of(state);
	uint64_t text;
	char path[16];

	add_library(f, "/a/lib", 77);
	add_library(f, "/b/lib", 77);
	for (unsigned int i = 0; i < RUNTIME_TABLES_MAX_FILES; i++) {
		assert_true(look_up_library(f, 77, &text));
		(void)snprintf(path, sizeof(path), "/%u", i);
		add_library(f, path, 1000 + i);
	}
	assert_false(look_up_library(f, 77, &text));
	assert_true(look_up_library(f, 1000, &text));
}

/* A number that is known is not written again: it comes with each user-unwound sample. */
static void test_image_again(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/bin/py" });
	const uint64_t image = IMAGE;
	struct wire_runtime found;

	add(f, "/bin/py", RUNTIME_PLAIN);
	runtime_tables_publish_image(f->tables, &p, "/bin/py", image);
	assert_int_equal(bpf_map_delete_elem(f->images_fd, &image), 0);
	runtime_tables_publish_image(f->tables, &p, "/bin/py", image);
	assert_false(look_up_elf_symbols(f, image, &found));
}

static void test_oldest_image_gives_way(void **state)
{
	struct fixture *f = fixture_of(state);
	_cleanup_process_ struct process p = PROCESS(f, { 0x30000000, "/bin/py" });
	struct wire_runtime found;

	add(f, "/bin/py", RUNTIME_PLAIN);
	for (uint64_t i = 1; i <= RUNTIME_TABLES_MAX_IMAGES + 2; i++)
		runtime_tables_publish_image(f->tables, &p, "/bin/py", i);
	assert_false(look_up_elf_symbols(f, 1, &found));
	assert_false(look_up_elf_symbols(f, 2, &found));
	for (uint64_t i = 3; i <= RUNTIME_TABLES_MAX_IMAGES + 2; i++)
		assert_true(look_up_elf_symbols(f, i, &found));
	/* And comes back in the place of the next. */
	runtime_tables_publish_image(f->tables, &p, "/bin/py", 1);
	assert_true(look_up_elf_symbols(f, 1, &found));
	assert_false(look_up_elf_symbols(f, 3, &found));
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_publish_and_retract),
		FIXTURE_TEST(test_base_below_zero),
		FIXTURE_TEST(test_publish_hook),
		FIXTURE_TEST(test_what_the_process_says),
		FIXTURE_TEST(test_retract_hook),
		FIXTURE_TEST(test_retract_of_who_has_it_no_more),
		FIXTURE_TEST(test_two),
		FIXTURE_TEST(test_one_of_two),
		FIXTURE_TEST(test_no_room_for_two),
		FIXTURE_TEST(test_first_mapping_of_the_file),
		FIXTURE_TEST(test_no_runtime),
		FIXTURE_TEST(test_unknown_kind),
		FIXTURE_TEST(test_map_is_full),
		FIXTURE_TEST(test_epoch),
		FIXTURE_TEST(test_part),
		FIXTURE_TEST(test_part_of_another_runtime),
		FIXTURE_TEST(test_part_alone),
		FIXTURE_TEST(test_file_again),
		FIXTURE_TEST(test_too_many_files),
		FIXTURE_TEST(test_image),
		FIXTURE_TEST(test_image_of_a_file),
		FIXTURE_TEST(test_image_of_the_executable_alone),
		FIXTURE_TEST(test_library),
		FIXTURE_TEST(test_library_of_several_files),
		FIXTURE_TEST(test_image_again),
		FIXTURE_TEST(test_oldest_image_gives_way),
	};

	return cmocka_run_group_tests_name("agent/runtimes/runtime_tables", tests, NULL, NULL);
}
