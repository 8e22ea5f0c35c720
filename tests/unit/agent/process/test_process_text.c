/* SPDX-License-Identifier: Apache-2.0 */
/* Anonymous memory in place of a file's text: a mapping of the file when it is a copy, and never
 * else. */
#include <sys/sysmacros.h>

#include "agent/process/process.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/process/proc_tree.h"

#define PID 10
#define CHILD 11
#define FILE_BYTES 0x9000
#define TEXT 0x402000ULL
#define TEXT_END 0x407000ULL
#define TEXT_OFF 0x2000ULL

struct fixture {
	struct proc_tree tree;
	struct telemetry *telemetry;
	struct process_table *table;
	char file[512];
	struct stat st;
	uint8_t bytes[FILE_BYTES];
	uint64_t now;
	int n_mappings;
};

static void on_mappings(struct process *p, void *data)
{
	(void)p;
	((struct fixture *)data)->n_mappings++;
}

/* Different everywhere, so that no other place equals it. */
static void make_file(struct fixture *f)
{
	uint64_t x = 1;

	for (size_t i = 0; i < sizeof(f->bytes); i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		f->bytes[i] = (uint8_t)(x >> 56);
	}
	proc_tree_write(&f->tree, PID, "root/app", (const char *)f->bytes, sizeof(f->bytes));
	(void)snprintf(f->file, sizeof(f->file), "%s", proc_tree_path(&f->tree, PID, "root/app"));
	assert_int_equal(stat(f->file, &f->st), 0);
}

static void set_up(struct fixture *f)
{
	proc_tree_init(&f->tree);
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = PID, .start_ticks = 5, .maps = "" });
	proc_tree_dir(&f->tree, PID, "root");
	proc_tree_dir(&f->tree, PID, "map_files");
	make_file(f);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	struct process_table_options o = { .proc_root = f->tree.root,
					   .telemetry = f->telemetry,
					   .hooks = { .on_mappings = on_mappings, .data = f } };
	assert_int_equal(process_table_new(&o, &f->table), 0);
	f->now = clock_mono_ns() + NS_PER_S;
}

static void tear_down(struct fixture *f)
{
	process_table_free(f->table);
	telemetry_free(f->telemetry);
	proc_tree_fini(&f->tree);
}

FIXTURE(struct fixture, set_up, tear_down)

/* The process's memory, of which all but this is a hole. */
static void write_memory(struct fixture *f, uint32_t pid, uint64_t addr, const void *bytes,
			 size_t n)
{
	int fd = open(proc_tree_path(&f->tree, pid, "mem"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, (off_t)addr), n);
	(void)close(fd);
}

static void copy_text(struct fixture *f, uint32_t pid)
{
	write_memory(f, pid, TEXT, f->bytes + TEXT_OFF, TEXT_END - TEXT);
}

/* Lines "RANGE PERMS OFF *" are of the file, those that end in "-" anonymous. */
static void write_maps(struct fixture *f, const char *lines, const char *name)
{
	char text[2048] = "";
	size_t n = 0;

	for (; *lines; lines++) {
		if (*lines == '*')
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%x:%x %llu %s",
					      major(f->st.st_dev), minor(f->st.st_dev),
					      (unsigned long long)f->st.st_ino, name);
		else if (*lines == '~')
			n += (size_t)snprintf(text + n, sizeof(text) - n, "00:00 0");
		else
			text[n++] = *lines;
	}
	proc_tree_write(&f->tree, PID, "maps", text, n);
}

#define MAPS_REMAPPED "400000-402000 r--p 0 *\n402000-407000 r-xp 0 ~\n407000-408000 r--p 7000 *\n"
#define MAPS_WHOLE "400000-402000 r--p 0 *\n402000-407000 r-xp 2000 *\n407000-408000 r--p 7000 *\n"

static struct process *get(struct fixture *f)
{
	struct process *p = process_table_get(f->table, PID, NULL);

	assert_non_null(p);
	return p;
}

static void assert_is_file(const struct fixture *f, const struct process *p, uint64_t addr)
{
	const struct mapping *m = mappings_find(p->mappings, addr);

	assert_non_null(m);
	assert_int_equal(m->kind, MAPPING_FILE);
	assert_int_equal(m->file->key.inode, f->st.st_ino);
	assert_int_equal(m->file_off + (addr - m->begin), addr - TEXT + TEXT_OFF);
}

static void assert_is_anonymous(const struct process *p, uint64_t addr)
{
	const struct mapping *m = mappings_find(p->mappings, addr);

	assert_non_null(m);
	assert_int_equal(m->kind, MAPPING_ANON);
	assert_null(m->file);
	assert_int_equal(m->file_off, 0);
}

static struct process_event anon_event(uint64_t begin, uint64_t end)
{
	return (struct process_event){ .kind = PROCESS_EVENT_MMAP,
				       .pid = PID,
				       .begin = begin,
				       .len = end - begin,
				       .path = "//anon" };
}

static void apply(struct fixture *f, struct process_event ev)
{
	f->now += NS_PER_MS;
	ev.time_ns = f->now;
	process_table_apply(f->table, &ev);
}

/* By /proc/PID/maps. */

static void test_read(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_REMAPPED, "/app");
	copy_text(f, PID);
	struct process *p = get(f);
	assert_int_equal(p->mappings->n, 1);
	assert_is_file(f, p, TEXT);
	assert_is_file(f, p, TEXT_END - 1);
	/* At once: whoever listens has seen nothing else. */
	assert_int_equal(f->n_mappings, 1);
	assert_int_equal(telemetry_get(f->telemetry, TELEMETRY_process_read_errors), 0);
}

static void test_read_again_changes_nothing(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_REMAPPED, "/app");
	copy_text(f, PID);
	uint32_t generation = get(f)->generation;
	process_table_distrust(f->table);
	assert_int_equal(get(f)->generation, generation);
	assert_is_file(f, get(f), TEXT);
}

/* The other guess is right where a page of the file is in two segments. */
static void test_shared_page(void **state)
{
	struct fixture *f = *state;

	write_maps(f, "400000-403000 r--p 0 *\n403000-407000 r-xp 0 ~\n407000-408000 r--p 6000 *\n",
		   "/app");
	write_memory(f, PID, 0x403000, f->bytes + 0x2000, 0x4000);
	const struct mapping *m = mappings_find(get(f)->mappings, 0x404000);
	assert_int_equal(m->kind, MAPPING_FILE);
	assert_int_equal(m->file_off, 0x2000);
	assert_int_equal(m->begin, 0x403000);
	assert_null(process_table_find(f->table, PID)->remapped_texts);
}

/* The program was removed: only the mapping beside it leads to the file. */
static void test_deleted(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_REMAPPED, "/old/app (deleted)");
	proc_tree_link(&f->tree, PID, "map_files/400000-402000", f->file);
	copy_text(f, PID);
	struct process *p = get(f);
	assert_is_file(f, p, TEXT);
	assert_true(p->mappings->items[0].file->deleted);
	assert_true(p->mappings->items[0].file->fd >= 0);
}

struct difference {
	const char *name;
	uint64_t at, n; /* these bytes of the memory are others */
};

static const struct difference differences[] = {
	{ "the first byte", 0, 1 },
	{ "the last byte", TEXT_END - TEXT - 1, 1 },
	{ "a page at the front", 0, 0x1000 },
	{ "a page in the middle", 0x2000, 0x1000 },
	{ "a page at the end", TEXT_END - TEXT - 0x1000, 0x1000 },
	{ "all", 0, TEXT_END - TEXT },
};

static void test_other_code(void **state)
{
	struct fixture *f = *state;
	uint8_t other[TEXT_END - TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(differences); i++) {
		const struct difference *d = &differences[i];

		write_maps(f, MAPS_REMAPPED, "/app");
		copy_text(f, PID);
		for (size_t k = 0; k < d->n; k++)
			other[k] = (uint8_t)~f->bytes[TEXT_OFF + d->at + k];
		write_memory(f, PID, TEXT + d->at, other, d->n);
		process_table_distrust(f->table);
		if (mappings_find(get(f)->mappings, TEXT)->kind != MAPPING_ANON)
			fail_msg("not seen: %s", d->name);
	}
	/* It is for what differs, and not because it was compared too often. */
	copy_text(f, PID);
	process_table_distrust(f->table);
	assert_is_file(f, get(f), TEXT);
}

/* Code of the file, but not where the file would have it. */
static void test_moved(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_REMAPPED, "/app");
	write_memory(f, PID, TEXT, f->bytes + TEXT_OFF + 0x1000, TEXT_END - TEXT);
	assert_is_anonymous(get(f), TEXT);
}

/* Padding is equal everywhere, and says nothing. */
static void test_zeros(void **state)
{
	struct fixture *f = *state;

	memset(f->bytes, 0, sizeof(f->bytes));
	proc_tree_write(&f->tree, PID, "root/app", (const char *)f->bytes, sizeof(f->bytes));
	write_maps(f, MAPS_REMAPPED, "/app");
	copy_text(f, PID);
	assert_is_anonymous(get(f), TEXT);
}

static void test_memory_that_cannot_be_read(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_REMAPPED, "/app");
	assert_is_anonymous(get(f), TEXT);
}

static void test_file_that_is_gone(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_REMAPPED, "/app");
	copy_text(f, PID);
	assert_int_equal(unlink(f->file), 0);
	assert_is_anonymous(get(f), TEXT);
}

/* The end of the file comes before the end of the range. */
static void test_short_file(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(truncate(f->file, TEXT_OFF + 0x4f00), 0);
	write_maps(f, MAPS_REMAPPED, "/app");
	copy_text(f, PID);
	assert_is_anonymous(get(f), TEXT);
}

/* By events. */

static void test_event(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	assert_is_file(f, get(f), TEXT);
	copy_text(f, PID);
	apply(f, anon_event(TEXT + 0x1000, TEXT_END - 0x1000));
	/* /proc is not touched before the next sample. */
	assert_is_anonymous(process_table_find(f->table, PID), TEXT + 0x1000);
	struct process *p = get(f);
	for (uint64_t at = TEXT; at < TEXT_END; at += 0x1000)
		assert_is_file(f, p, at);
	assert_int_equal(p->mappings->n, 3);
	assert_null(p->remapped_texts);
}

static void test_event_with_other_code(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	(void)get(f);
	write_memory(f, PID, TEXT, f->bytes, TEXT_END - TEXT);
	apply(f, anon_event(TEXT, TEXT_END));
	assert_is_anonymous(get(f), TEXT);
	/* It is compared again, but not at once. */
	copy_text(f, PID);
	assert_is_anonymous(get(f), TEXT);
	/* Told anew, it is. */
	apply(f, anon_event(TEXT, TEXT_END));
	assert_is_file(f, get(f), TEXT);
}

/* A copy, and then a JIT's memory over it. */
static void test_copy_is_replaced(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	copy_text(f, PID);
	(void)get(f);
	apply(f, anon_event(TEXT, TEXT_END));
	assert_is_file(f, get(f), TEXT);
	write_memory(f, PID, TEXT + 0x1000, f->bytes, 0x1000);
	apply(f, anon_event(TEXT + 0x1000, TEXT + 0x2000));
	struct process *p = get(f);
	assert_is_file(f, p, TEXT);
	assert_is_anonymous(p, TEXT + 0x1000);
	assert_is_file(f, p, TEXT + 0x2000);
}

/* A library mapped over it before anybody looked: that is what is there. */
static void test_claim_is_overtaken(void **state)
{
	struct fixture *f = *state;
	struct process_event ev = anon_event(TEXT, TEXT_END);

	write_maps(f, MAPS_WHOLE, "/app");
	copy_text(f, PID);
	(void)get(f);
	apply(f, ev);
	ev.inode = 99;
	ev.path = "/lib/other.so";
	ev.len = 0x1000;
	apply(f, ev);
	struct process *p = get(f);
	assert_int_equal(mappings_find(p->mappings, TEXT)->file->key.inode, 99);
	assert_is_anonymous(p, TEXT + 0x1000);
}

static void test_piece_by_piece(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	(void)get(f);
	for (uint64_t at = TEXT; at < TEXT_END; at += 0x1000)
		apply(f, anon_event(at, at + 0x1000));
	copy_text(f, PID);
	struct process *p = get(f);
	assert_int_equal(p->mappings->n, 1);
	assert_is_file(f, p, TEXT);
}

/* A server that puts its code elsewhere, is never sampled, and forks its workers. */
static void test_fork(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	(void)get(f);
	apply(f, anon_event(TEXT, TEXT_END));
	apply(f, (struct process_event){
			 .kind = PROCESS_EVENT_FORK, .pid = CHILD, .parent_pid = PID });
	proc_tree_add(&f->tree, &(struct fake_proc){ .pid = CHILD, .parent_pid = PID });
	copy_text(f, CHILD);
	proc_tree_link(&f->tree, CHILD, "root", proc_tree_path(&f->tree, PID, "root"));
	struct process *child = process_table_get(f->table, CHILD, NULL);
	assert_is_file(f, child, TEXT);
	assert_is_anonymous(process_table_find(f->table, PID), TEXT);
}

static void test_exec(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	(void)get(f);
	apply(f, anon_event(TEXT, TEXT_END));
	apply(f, (struct process_event){ .kind = PROCESS_EVENT_EXEC, .pid = PID });
	copy_text(f, PID);
	assert_int_equal(get(f)->mappings->n, 0);
	assert_null(get(f)->remapped_texts);
}

static void test_gone(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	copy_text(f, PID);
	(void)get(f);
	apply(f, anon_event(TEXT, TEXT_END));
	proc_tree_remove(&f->tree, PID);
	assert_is_anonymous(get(f), TEXT);
	assert_null(get(f)->remapped_texts);
}

/* Where it was lost that the memory is a copy, what was known before tells. */
static void test_read_without_neighbours(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	(void)get(f);
	copy_text(f, PID);
	write_maps(f, "402000-407000 r-xp 0 ~\n", "");
	process_table_distrust(f->table);
	assert_is_file(f, get(f), TEXT);
}

/* One that goes on and on is compared some times a second. */
static void test_rate(void **state)
{
	struct fixture *f = *state;
	unsigned int n = 0;

	write_maps(f, MAPS_WHOLE, "/app");
	copy_text(f, PID);
	(void)get(f);
	uint64_t begin = clock_mono_ns();
	for (int i = 0; i < 100; i++) {
		apply(f, anon_event(TEXT, TEXT_END));
		n += mappings_find(get(f)->mappings, TEXT)->kind == MAPPING_FILE;
	}
	uint64_t seconds = (clock_mono_ns() - begin) / NS_PER_S;
	assert_in_range(n, 8, 8 * (seconds + 2));
}

/* Without a file's text in the way nothing is ever noted. */
static void test_jit(void **state)
{
	struct fixture *f = *state;

	write_maps(f, MAPS_WHOLE, "/app");
	struct process *p = get(f);
	for (uint64_t at = 0x10000000; at < 0x10400000; at += 0x1000) {
		apply(f, anon_event(at, at + 0x1000));
		assert_null(p->remapped_texts);
	}
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_read),
	FIXTURE_TEST(test_read_again_changes_nothing),
	FIXTURE_TEST(test_shared_page),
	FIXTURE_TEST(test_deleted),
	FIXTURE_TEST(test_other_code),
	FIXTURE_TEST(test_moved),
	FIXTURE_TEST(test_zeros),
	FIXTURE_TEST(test_memory_that_cannot_be_read),
	FIXTURE_TEST(test_file_that_is_gone),
	FIXTURE_TEST(test_short_file),
	FIXTURE_TEST(test_event),
	FIXTURE_TEST(test_event_with_other_code),
	FIXTURE_TEST(test_copy_is_replaced),
	FIXTURE_TEST(test_claim_is_overtaken),
	FIXTURE_TEST(test_piece_by_piece),
	FIXTURE_TEST(test_fork),
	FIXTURE_TEST(test_exec),
	FIXTURE_TEST(test_gone),
	FIXTURE_TEST(test_read_without_neighbours),
	FIXTURE_TEST(test_rate),
	FIXTURE_TEST(test_jit),
};

TEST_MAIN(tests)
