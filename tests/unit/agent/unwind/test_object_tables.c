/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables of real files: built by the worker, placed, shared, withdrawn; and the same rules before and after. */
#include "tests/support/unit.h"
#include "tests/unit/agent/process/lost_call.h"
#include "tests/unit/agent/unwind/elf_files.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "agent/unwind/debug_elf.h"
#include "agent/unwind/object_tables_private.h"
#include "agent/unwind/row_table.h"
#include "agent/util/clock.h"
#include "agent/util/loop.h"
#include "agent/util/macro.h"

#define N_SLOTS 16

static const char source[] =
	"#include <stddef.h>\n"
	"int g(int *);\n"
	"int f1(int x) { int a[50]; a[0] = x; return g(a) + a[1]; }\n"
	"int f2(int x) { int a[900]; for (int i = 0; i < x; i++) a[i] = g(a); return a[x] + f1(x); "
	"}\n"
	"int f3(int n, int x) { int a[n]; a[0] = x; return g(a) * f2(a[1]) + f1(x); }\n"
	"int f4(int a, int b, int c) { return f1(a) * f2(b) + f3(c, a) * f1(b) + f1(c); }\n"
	"#ifdef MORE\n"
	"#define F(n) int m##n(int x) { int a[30 + n]; a[0] = x; return g(a) + f4(a[1], a[n], x); "
	"}\n"
	"F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16)\n"
	"#endif\n"
	"#ifdef FAR\n"
	"__attribute__((section(\".far\"))) int f5(int x) { int a[70]; return g(a) + f2(a[x]); }\n"
	"#endif\n"
	"int main(void) { return f4(1, 2, 3); }\n"
	"int g(int *p) { return p != NULL; }\n";

static const char build_all[] =
	"gcc -O1 -fno-inline -shared -fPIC -Wl,--build-id=0x0a -o a.so a.c && cp a.so copy.so && "
	"gcc -O1 -fno-inline -shared -fPIC -Wl,--build-id=0x0b -DMORE -o large.so a.c && "
	"gcc -O1 -fno-inline -shared -fPIC -Wl,--build-id=none -o nameless.so a.c && "
	"cp nameless.so nameless2.so && "
	"gcc -O1 -fno-inline -shared -fPIC -fno-asynchronous-unwind-tables -o nocfi.so a.c && "
	"sed -e 's/a.50./a[60]/; s/a.900./a[910]/' a.c > forged.c && "
	"gcc -O1 -fno-inline -shared -fPIC -Wl,--build-id=0x0a -o forged.so forged.c && "
	"gcc -O1 -fno-inline -no-pie -Wl,--build-id=0x0c -o fixed a.c && "
	"gcc -O1 -fno-inline -shared -fPIC -Wl,--build-id=0x0d -Wl,-Ttext-segment=0x7000000 -o "
	"high.so a.c && "
	"gcc -O1 -fno-inline -no-pie -DFAR -Wl,--build-id=0x0e -Wl,--section-start=.far=0x9000000 "
	"-o shifted a.c && "
	"echo '#!/bin/sh' > script";

/* Of the reads to come: the one that is given up, 1 the next; 0: none. */
static atomic_int given_up_read;
static atomic_int n_given_up;

ssize_t __real_reader_pread(int fd, void *dst, size_t n, uint64_t file_off);
ssize_t __wrap_reader_pread(int fd, void *dst, size_t n, uint64_t file_off);
ssize_t __wrap_reader_pread(int fd, void *dst, size_t n, uint64_t file_off)
{
	if (given_up_read > 0 && --given_up_read == 0) {
		n_given_up++;
		return -ETIMEDOUT;
	}
	return __real_reader_pread(fd, dst, n, file_off);
}

uint64_t __wrap_reader_n_failed(void);
uint64_t __wrap_reader_n_failed(void)
{
	return (uint64_t)n_given_up;
}

/* How often a debug file cannot be looked for. */
static int n_hidden_debug;

int __real_debug_elf_find(struct elf *elf, const struct process *p, const struct mapped_file *f,
			  int *ret_fd);
int __wrap_debug_elf_find(struct elf *elf, const struct process *p, const struct mapped_file *f,
			  int *ret_fd);
int __wrap_debug_elf_find(struct elf *elf, const struct process *p, const struct mapped_file *f,
			  int *ret_fd)
{
	if (n_hidden_debug > 0) {
		n_hidden_debug--;
		return -ETIMEDOUT;
	}
	return __real_debug_elf_find(elf, p, f, ret_fd);
}

struct fixture {
	struct fixture_dir dir;
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct file_table *files;
	struct kernel_arena *arena;
	struct object_tables *tables;
	struct object_tables_options options;
	uint64_t reuse_count;
	uint64_t now_ns;
	struct mapped_file *opened[8]; /* references */
	size_t n_opened;
	struct process process; /* maps all of them */
};

static void make_tables(struct fixture *f)
{
	const struct kernel_arena_options arena = { .segments_fd = -1,
						    .max_segments = 1,
						    .reuse_count = &f->reuse_count };

	assert_int_equal(kernel_arena_new(&arena, &f->arena), 0);
	f->options.arena = f->arena;
	f->options.worker = f->worker;
	f->options.telemetry = f->telemetry;
	assert_int_equal(object_tables_new(&f->options, &f->tables), 0);
	f->now_ns = f->tables->now_ns;
}

/* Some member of the options smaller than usual. */
static void remake_tables(struct fixture *f)
{
	object_tables_free(f->tables);
	kernel_arena_free(f->arena);
	make_tables(f);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	assert_true(fixture_dir_init(&f->dir));
	if (!fixture_write(&f->dir, "a.c", source) || !fixture_run(&f->dir, build_all)) {
		printf("skip: no gcc, or of another machine\n");
		return 0;
	}
	assert_int_equal(loop_new(&f->loop), 0);
	assert_int_equal(worker_new(f->loop, 4, &f->worker), 0);
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	assert_int_equal(file_table_new(&(struct file_table_options){ 0 }, &f->files), 0);
	f->options = (struct object_tables_options){ .objects_fd = -1,
						     .max_objects = N_SLOTS,
						     .max_table_bytes = WIRE_SEGMENT_BYTES,
						     .max_build_bytes = (size_t)16 << 20 };
	make_tables(f);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->tables) {
		object_tables_stop(f->tables);
		worker_drain(f->worker);
	}
	object_tables_free(f->tables);
	for (size_t i = 0; i < f->n_opened; i++)
		mapped_file_unref(f->opened[i]);
	kernel_arena_free(f->arena);
	file_table_free(f->files);
	telemetry_free(f->telemetry);
	worker_free(f->worker);
	loop_free(f->loop);
	fixture_dir_fini(&f->dir);
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

static struct mapped_file *open_file(struct fixture *f, const char *name)
{
	assert_true(f->n_opened < ARRAY_SIZE(f->opened));
	return f->opened[f->n_opened++] = elf_file(f->files, &f->dir, name);
}

static struct unwind_rule rule_at(struct fixture *f, struct mapped_file *file, uint64_t off,
				  bool wanted)
{
	struct unwind_rule rule;

	(void)object_tables_rule(f->tables, &f->process, file, off, wanted, &rule);
	return rule;
}

/* A walk wants the table, and the worker gets its time. */
static void want(struct fixture *f, struct mapped_file *file)
{
	(void)rule_at(f, file, 0, true);
	object_tables_tick(f->tables, f->now_ns);
	worker_drain(f->worker);
}

/* A tick after the grace time. */
static void tick_after(struct fixture *f, uint64_t ns)
{
	f->now_ns += ns;
	kernel_arena_reclaim(f->arena, f->now_ns);
	object_tables_tick(f->tables, f->now_ns);
	worker_drain(f->worker);
}

static struct object_tables_stats stats_of(const struct fixture *f)
{
	struct object_tables_stats stats;

	object_tables_stats(f->tables, &stats);
	return stats;
}

#define N_IN(f, state) ((int)stats_of(f).n_by_state[OBJECT_##state])

static uint64_t count_of(const struct fixture *f, enum telemetry_counter counter)
{
	return telemetry_get(f->telemetry, counter);
}

/* What the kernel half finds by the slot. */
static struct unwind_rule rule_in_slot(const struct fixture *f, uint32_t slot, uint64_t off)
{
	struct unwind_rule rule;

	row_table_lookup(f->arena, &f->tables->objects[slot], off, &rule);
	return rule;
}

static bool is_published(const struct fixture *f, uint32_t slot)
{
	return f->tables->objects[slot].n_rule_words != 0;
}

/* Every byte of a piece of text: the same from the file, from the arena, and by the slot. */
static void check_piece(void **state, const char *name, size_t piece, bool has_rules)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *file = open_file(f, name);
	uint32_t slot = object_tables_hold(f->tables, file);
	_cleanup_free_ struct unwind_rule *before = NULL;
	uint64_t begin = 0, n_bytes = 0;
	uint64_t n_rules = 0;

	assert_in_range(slot, WIRE_OBJECT_FIRST, N_SLOTS - 1);
	assert_false(is_published(f, slot));
	assert_true(elf_text_piece(file, piece, &begin, &n_bytes));
	before = calloc(n_bytes, sizeof(*before));
	assert_non_null(before);
	for (uint64_t i = 0; i < n_bytes; i++) {
		before[i] = rule_at(f, file, begin + i, false);
		n_rules += before[i].cfa != RULE_CFA_NONE;
	}
	assert_true(has_rules ? n_rules > n_bytes / 2 : n_rules == 0);
	assert_int_equal(N_IN(f, IDLE), 1);
	want(f, file);
	assert_int_equal(N_IN(f, LOADED), 1);
	assert_true(is_published(f, slot));
	for (uint64_t i = 0; i < n_bytes; i++) {
		struct unwind_rule loaded = rule_at(f, file, begin + i, true);
		struct unwind_rule by_slot = rule_in_slot(f, slot, begin + i);

		if (memcmp(&loaded, &before[i], sizeof(loaded)) != 0 && before[i].cfa)
			fail_msg("%s: another rule at offset 0x%llx", name,
				 (unsigned long long)(begin + i));
		assert_memory_equal(&loaded, &by_slot, sizeof(loaded));
	}
	object_tables_give(f->tables, file);
}

static void check_file(void **state, const char *name, bool has_rules)
{
	check_piece(state, name, 0, has_rules);
}

static void test_rules_of_a_library(void **state)
{
	check_file(state, "a.so", true);
}

/* Linked to an address that is not the offset in the file. */
static void test_rules_of_a_fixed_program(void **state)
{
	check_file(state, "fixed", true);
}

static void test_rules_of_a_library_linked_high(void **state)
{
	check_file(state, "high.so", true);
}

/* Two pieces of text whose distances from their bytes in the file differ. */
static void test_rules_of_shifted_segments(void **state)
{
	check_piece(state, "shifted", 0, true);
}

static void test_rules_of_the_other_segment(void **state)
{
	check_piece(state, "shifted", 1, true);
}

static void test_file_without_rules(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *script = open_file(f, "script");
	uint32_t slot = object_tables_hold(f->tables, script);

	want(f, script);
	/* A table that says so: frame pointers are followed there, by the kernel half. */
	assert_int_equal(N_IN(f, LOADED), 1);
	assert_true(is_published(f, slot));
	assert_int_equal(rule_in_slot(f, slot, 10).cfa, RULE_CFA_NONE);
	assert_int_equal(rule_at(f, script, 10, true).cfa, RULE_CFA_NONE);
	assert_int_equal(stats_of(f).table_bytes, 0);
}

static void test_vdso(void **state)
{
	struct fixture *f = fixture_of(state);
	const struct file_facts facts = { .vdso = true, .path = STR_LIT("[vdso]") };
	struct mapped_file *vdso = NULL;
	uint64_t n = 0;

	assert_int_equal(file_table_get(f->files, &facts, &vdso), 0);
	f->opened[f->n_opened++] = vdso;
	uint32_t slot = object_tables_hold(f->tables, vdso);
	for (uint64_t off = 0; off < 8192; off++)
		n += rule_at(f, vdso, off, false).cfa != RULE_CFA_NONE;
	if (n == 0)
		skip(); /* no vDSO, or one without CFI */
	want(f, vdso);
	assert_true(is_published(f, slot));
	for (uint64_t off = 0; off < 8192; off++)
		n -= rule_in_slot(f, slot, off).cfa != RULE_CFA_NONE;
	/* But for padding. */
	assert_true((int64_t)n > -600 && (int64_t)n <= 0);
	uint8_t magic[4];
	assert_int_equal(object_tables_code(f->tables, &f->process, vdso, 0, magic, 4), 0);
	assert_memory_equal(magic, ELFMAG, 4);
}

static void test_code(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	uint64_t begin = 0, n_bytes = 0;
	uint8_t expected[16], found[16];

	elf_text(a, &begin, &n_bytes);
	assert_int_equal(pread(a->fd, expected, 16, (off_t)begin), 16);
	assert_int_equal(object_tables_code(f->tables, &f->process, a, begin, found, 16), 0);
	assert_memory_equal(found, expected, 16);
	assert_int_equal(object_tables_code(f->tables, &f->process, a, 1ULL << 40, found, 16),
			 -ENODATA);
}

/* Two files of equal rules: one table; each has its slot. */
static void test_equal_tables_are_one(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct mapped_file *copy = open_file(f, "copy.so");
	uint32_t slot_a = object_tables_hold(f->tables, a);
	uint32_t slot_copy = object_tables_hold(f->tables, copy);

	assert_int_not_equal(slot_a, slot_copy);
	want(f, a);
	uint64_t used = kernel_arena_used_bytes(f->arena);
	uint64_t bytes = stats_of(f).table_bytes;
	assert_true(bytes > 0 && bytes <= used);
	assert_false(is_published(f, slot_copy));
	want(f, copy);
	assert_true(is_published(f, slot_copy));
	assert_int_equal(N_IN(f, LOADED), 2);
	assert_int_equal(stats_of(f).n_tables, 1);
	assert_int_equal(stats_of(f).table_bytes, bytes);
	assert_int_equal(kernel_arena_used_bytes(f->arena), used);
	/* The one goes, the other keeps the table. */
	object_tables_give(f->tables, a);
	f->now_ns += OBJECT_TABLES_IDLE_NS + NS_PER_S;
	(void)rule_at(f, copy, 0, true);
	tick_after(f, 0);
	assert_int_equal(stats_of(f).n_files, 1);
	assert_false(is_published(f, slot_a));
	assert_true(is_published(f, slot_copy));
	assert_int_equal(kernel_arena_used_bytes(f->arena), used);
	/* And with the last one it goes, too. */
	object_tables_give(f->tables, copy);
	tick_after(f, 2 * OBJECT_TABLES_IDLE_NS);
	assert_int_equal(stats_of(f).n_files, 0);
	assert_int_equal(stats_of(f).n_tables, 0);
	assert_int_equal(stats_of(f).table_bytes, 0);
	tick_after(f, NS_PER_S);
	assert_int_equal(kernel_arena_used_bytes(f->arena), 0);
}

/* Both are wanted before the first one is built. */
static void test_shared_while_it_is_built(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct mapped_file *copy = open_file(f, "copy.so");

	(void)rule_at(f, a, 0, true);
	(void)rule_at(f, copy, 0, true);
	assert_int_equal(N_IN(f, WANTED), 2);
	tick_after(f, NS_PER_MS);
	tick_after(f, NS_PER_MS);
	assert_int_equal(N_IN(f, LOADED), 2);
	assert_int_equal(stats_of(f).n_tables, 1);
}

static void test_without_build_id_all_the_same(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "nameless.so");
	struct mapped_file *b = open_file(f, "nameless2.so");

	want(f, a);
	want(f, b);
	assert_int_equal(N_IN(f, LOADED), 2);
	assert_int_equal(stats_of(f).n_tables, 1);
}

static void assert_own_rules(struct fixture *f, struct mapped_file *file, uint32_t slot)
{
	_cleanup_(object_rules_freep) struct object_rules *own = NULL;
	uint64_t begin = 0, n_bytes = 0;
	int debug_fd = DEBUG_ELF_NONE;

	assert_int_equal(object_rules_new(&f->process, file, &debug_fd, &own), 0);
	elf_text(file, &begin, &n_bytes);
	for (uint64_t off = begin; off < begin + n_bytes; off++) {
		struct unwind_rule rule, by_slot = rule_in_slot(f, slot, off);

		assert_int_equal(object_rules_at(own, off, &rule), 0);
		if (rule.cfa)
			assert_memory_equal(&by_slot, &rule, sizeof(rule));
	}
}

/* Another user's file that claims to be another: its build id, its text at the same place and of the same size, other frames. Each is unwound by
 * its own rules, whoever came first. */
static void check_forged(void **state, const char *first, const char *second)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, first);
	struct mapped_file *b = open_file(f, second);
	uint32_t slot_a = object_tables_hold(f->tables, a);
	uint32_t slot_b = object_tables_hold(f->tables, b);
	uint64_t begin_a, begin_b, n_a, n_b;

	elf_text(a, &begin_a, &n_a);
	elf_text(b, &begin_b, &n_b);
	assert_int_equal(begin_a, begin_b);
	assert_int_equal(n_a, n_b);
	want(f, a);
	want(f, b);
	assert_int_equal(N_IN(f, LOADED), 2);
	assert_int_equal(stats_of(f).n_tables, 2);
	assert_own_rules(f, a, slot_a);
	assert_own_rules(f, b, slot_b);
}

static void test_forged_build_id_came_first(void **state)
{
	check_forged(state, "forged.so", "a.so");
}

static void test_forged_build_id_came_second(void **state)
{
	check_forged(state, "a.so", "forged.so");
}

/* Bytes of the table of a file, found by loading it alone. */
static uint64_t bytes_of_table(struct fixture *f, struct mapped_file *file)
{
	uint64_t before = stats_of(f).table_bytes;

	want(f, file);
	uint64_t bytes = stats_of(f).table_bytes - before;
	remake_tables(f);
	return bytes;
}

/* The limit holds one of the two: what is in use stays, what nobody came by goes. */
static void test_eviction(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct mapped_file *large = open_file(f, "large.so");

	f->options.max_table_bytes = bytes_of_table(f, large);
	remake_tables(f);
	uint32_t slot_a = object_tables_hold(f->tables, a);
	uint32_t slot_large = object_tables_hold(f->tables, large);
	want(f, large);
	assert_true(is_published(f, slot_large));
	tick_after(f, OBJECT_TABLES_KEEP_NS - NS_PER_S);
	want(f, a);
	assert_int_equal(N_IN(f, NO_ROOM), 1);
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 1);
	assert_int_equal(count_of(f, TELEMETRY_unwind_table_evictions), 0);
	/* Its samples go on being finished here; it is tried again later, not at once. */
	tick_after(f, OBJECT_TABLES_RETRY_NS - NS_PER_S);
	want(f, a);
	assert_int_equal(N_IN(f, NO_ROOM), 1);
	assert_true(is_published(f, slot_large));
	tick_after(f, 2 * NS_PER_S);
	want(f, a);
	tick_after(f, NS_PER_S);
	assert_int_equal(count_of(f, TELEMETRY_unwind_table_evictions), 1);
	assert_false(is_published(f, slot_large));
	assert_true(is_published(f, slot_a));
	assert_int_equal(N_IN(f, LOADED), 1);
	/* The other way round, with walks that keep coming by. */
	for (unsigned int i = 0; i < 50; i++) {
		object_tables_touch(f->tables, a->id);
		tick_after(f, NS_PER_S);
		want(f, large);
	}
	assert_true(is_published(f, slot_a));
	assert_int_equal(count_of(f, TELEMETRY_unwind_table_evictions), 1);
}

/* Room until nothing is left. */
static void fill_arena(struct fixture *f)
{
	uint32_t at;

	for (uint32_t n = WIRE_SEGMENT_WORDS; n > 0; n /= 2)
		while (kernel_arena_take(f->arena, n, &at) == 0)
			;
}

/* What is withdrawn can be overwritten after the grace time only: the new table waits for it. */
static void test_eviction_waits_for_its_room(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct mapped_file *large = open_file(f, "large.so");
	uint32_t slot_a = object_tables_hold(f->tables, a);

	want(f, large);
	assert_int_equal(N_IN(f, LOADED), 1);
	fill_arena(f);
	f->now_ns += OBJECT_TABLES_KEEP_NS + NS_PER_S;
	object_tables_tick(f->tables, f->now_ns);
	want(f, a);
	assert_int_equal(count_of(f, TELEMETRY_unwind_table_evictions), 1);
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 0);
	assert_false(is_published(f, slot_a));
	uint64_t count = f->reuse_count;
	tick_after(f, NS_PER_S);
	assert_true(is_published(f, slot_a));
	assert_true(f->reuse_count > count);
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 0);
}

/* Every attempt that fails is counted. */
static void assert_not_built_again(struct fixture *f, struct mapped_file *file)
{
	for (unsigned int i = 0; i < 5; i++) {
		tick_after(f, OBJECT_TABLES_RETRY_NS + NS_PER_S);
		want(f, file);
		assert_int_equal(N_IN(f, NO_ROOM), 1);
		assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 1);
	}
}

/* Nothing could be withdrawn: nothing is. */
static void test_no_room_at_all(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");

	f->options.max_table_bytes = 16;
	remake_tables(f);
	want(f, a);
	assert_int_equal(N_IN(f, NO_ROOM), 1);
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 1);
	assert_int_equal(kernel_arena_used_bytes(f->arena), 0);
	assert_not_built_again(f, a);
}

static void test_building_takes_too_much(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "large.so");

	f->options.max_build_bytes = 64;
	remake_tables(f);
	want(f, a);
	assert_int_equal(N_IN(f, NO_ROOM), 1);
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 1);
	assert_not_built_again(f, a);
}

/* What is in use stays, and what did not fit beside it is not built again and again meanwhile; it comes when there may be room. */
static void test_no_room_until_there_is(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct mapped_file *large = open_file(f, "large.so");

	f->options.max_table_bytes = bytes_of_table(f, large);
	remake_tables(f);
	(void)object_tables_hold(f->tables, a);
	(void)object_tables_hold(f->tables, large);
	want(f, large);
	want(f, a);
	for (uint64_t ns = 0; ns < 3 * OBJECT_TABLES_RETRY_NS; ns += OBJECT_TABLES_KEEP_NS / 2) {
		object_tables_touch(f->tables, large->id);
		tick_after(f, OBJECT_TABLES_KEEP_NS / 2);
		want(f, a);
	}
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 1);
	assert_int_equal(count_of(f, TELEMETRY_unwind_table_evictions), 0);
	tick_after(f, OBJECT_TABLES_RETRY_NS + NS_PER_S);
	want(f, a);
	tick_after(f, NS_PER_S);
	assert_int_equal(count_of(f, TELEMETRY_unwind_table_evictions), 1);
	assert_int_equal(N_IN(f, LOADED), 1);
}

/* Programs that are started again and again stay, others are forgotten; what is held stays in any case. */
static void test_idle_files(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	uint32_t slot = object_tables_hold(f->tables, a);

	want(f, a);
	tick_after(f, 2 * OBJECT_TABLES_IDLE_NS);
	assert_int_equal(stats_of(f).n_files, 1);
	object_tables_touch(f->tables, a->id);
	object_tables_give(f->tables, a);
	tick_after(f, OBJECT_TABLES_IDLE_NS - NS_PER_S);
	assert_int_equal(stats_of(f).n_files, 1);
	assert_int_equal(object_tables_hold(f->tables, a), slot);
	assert_true(is_published(f, slot));
	object_tables_give(f->tables, a);
	tick_after(f, 12 * NS_PER_S);
	assert_int_equal(stats_of(f).n_files, 0);
	assert_false(is_published(f, slot));
	/* Nobody knows it any more; that is no harm. */
	object_tables_touch(f->tables, a->id);
}

static void test_slots_run_out(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct mapped_file *large = open_file(f, "large.so");

	f->options.max_objects = WIRE_OBJECT_FIRST + 1;
	remake_tables(f);
	assert_int_equal(object_tables_hold(f->tables, a), WIRE_OBJECT_FIRST);
	assert_int_equal(object_tables_hold(f->tables, large), WIRE_OBJECT_ABSENT);
	/* Its rules are found all the same, its table is not wanted. */
	uint64_t begin = 0, n_bytes = 0;
	elf_text(large, &begin, &n_bytes);
	assert_int_not_equal(rule_at(f, large, begin + n_bytes / 2, true).cfa, RULE_CFA_NONE);
	want(f, large);
	assert_int_equal(N_IN(f, IDLE), 2);
	assert_false(is_published(f, WIRE_OBJECT_ABSENT));
	object_tables_give(f->tables, a);
	tick_after(f, 2 * OBJECT_TABLES_IDLE_NS);
	tick_after(f, NS_PER_S);
	assert_int_equal(object_tables_hold(f->tables, large), WIRE_OBJECT_FIRST);
}

/* When it can be opened is known elsewhere, and not put off here. */
static void test_cannot_be_opened(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	int fd = a->fd;

	a->fd = -1;
	a->open_error = -EACCES;
	want(f, a);
	assert_int_equal(N_IN(f, UNREADABLE), 1);
	/* Of the process, not of the file. */
	a->open_error = 0;
	f->process.opens_after_ns = UINT64_MAX;
	want(f, a);
	assert_int_equal(N_IN(f, UNREADABLE), 1);
	a->fd = fd;
	want(f, a);
	assert_int_equal(N_IN(f, LOADED), 1);
}

static void test_unreadable(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	int fd = a->fd;

	a->fd = open(f->dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(a->fd >= 0);
	want(f, a);
	assert_int_equal(N_IN(f, UNREADABLE), 1);
	/* Not at each walk, though it could be by now. */
	(void)close(a->fd);
	a->fd = fd;
	want(f, a);
	assert_int_equal(N_IN(f, UNREADABLE), 1);
	tick_after(f, OBJECT_TABLES_RETRY_NS + NS_PER_S);
	want(f, a);
	assert_int_equal(N_IN(f, LOADED), 1);
}

/* Looked for twice, and until then nothing that its rules may be missing in is kept. */
static void check_debug_file(void **state, int n_hidden)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct unwind_rule rule;
	uint64_t begin = 0, n_bytes = 0;

	elf_text(a, &begin, &n_bytes);
	n_hidden_debug = n_hidden;
	want(f, a);
	assert_int_equal(N_IN(f, IDLE), 1);
	assert_int_equal(object_tables_rule(f->tables, &f->process, a, 0, true, &rule), -EAGAIN);
	assert_int_not_equal(rule_at(f, a, begin + n_bytes / 2, true).cfa, RULE_CFA_NONE);
	tick_after(f, NS_PER_S);
	assert_int_equal(object_tables_rule(f->tables, &f->process, a, 0, true, &rule), 0);
	want(f, a);
	assert_int_equal(N_IN(f, LOADED), 1);
	assert_int_equal(n_hidden_debug, 0);
}

static void test_debug_file_that_could_not_be_looked_for(void **state)
{
	check_debug_file(state, 1);
}

static void test_debug_file_that_cannot_be_looked_for(void **state)
{
	check_debug_file(state, 2);
}

static void test_debug_file_of_who_is_avoided(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");

	f->process.pid = UINT32_MAX;
	int fd = lost_call_make(
		&(struct reader_subject){ .reason = READER_memory, .pid = f->process.pid });
	want(f, a);
	lost_call_release(fd);
	assert_int_equal(N_IN(f, IDLE), 1);
	tick_after(f, NS_PER_S);
	want(f, a);
	assert_int_equal(N_IN(f, LOADED), 1);
}

/* The first read of all that is given up at the n-th one. False: there are not so many. */
static bool begin_given_up(struct fixture *f, int n, int n_before)
{
	if (n > 1 && n_given_up == n_before)
		return false;
	remake_tables(f);
	given_up_read = n;
	return true;
}

/* Whatever read is given up, the table lacks nothing, and comes soon. */
static void test_read_given_up_while_building(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *file = open_file(f, "nocfi.so");
	int n_before = 0;

	want(f, file);
	assert_int_equal(N_IN(f, LOADED), 1);
	uint64_t n_rows = stats_of(f).n_rows;
	for (int n = 1; begin_given_up(f, n, n_before); n++) {
		n_before = n_given_up;
		want(f, file);
		if (N_IN(f, LOADED) == 0) {
			assert_int_equal(N_IN(f, UNREADABLE), 1);
			tick_after(f, OBJECT_TABLES_PASSING_NS);
			want(f, file);
		}
		assert_int_equal(N_IN(f, LOADED), 1);
		assert_int_equal(stats_of(f).n_rows, n_rows);
	}
}

/* Whatever read is given up, a rule is the right one or none, and the right one soon. */
static void test_read_given_up_while_looking_up(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *file = open_file(f, "nocfi.so");
	struct unwind_rule right, rule, none = { 0 };
	uint64_t begin = 0, n_bytes = 0;
	int n_before = 0;

	elf_text(file, &begin, &n_bytes);
	right = rule_at(f, file, begin + n_bytes / 2, false);
	if (right.cfa == RULE_CFA_NONE)
		skip(); /* instructions of that machine are not read */
	for (int n = 1; begin_given_up(f, n, n_before); n++) {
		n_before = n_given_up;
		rule = rule_at(f, file, begin + n_bytes / 2, false);
		if (rule.cfa != RULE_CFA_NONE)
			assert_memory_equal(&rule, &right, sizeof(rule));
		else
			assert_memory_equal(&rule, &none, sizeof(rule));
		tick_after(f, OBJECT_TABLES_PASSING_NS);
		rule = rule_at(f, file, begin + n_bytes / 2, false);
		assert_memory_equal(&rule, &right, sizeof(rule));
	}
}

/* The end may come while a table is being built, is in the queue, or waits for room. */
static void test_stop(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");
	struct mapped_file *large = open_file(f, "large.so");

	(void)rule_at(f, a, 0, true);
	(void)rule_at(f, large, 0, true);
	object_tables_tick(f->tables, f->now_ns);
	object_tables_stop(f->tables);
	worker_drain(f->worker);
	object_tables_tick(f->tables, f->now_ns);
	assert_int_equal(worker_n_jobs(f->worker), 0);
	assert_int_equal(N_IN(f, WANTED), 1);
}

static void test_worker_is_busy(void **state)
{
	struct fixture *f = fixture_of(state);
	struct mapped_file *a = open_file(f, "a.so");

	worker_free(f->worker);
	assert_int_equal(worker_new(f->loop, 0, &f->worker), 0);
	remake_tables(f);
	want(f, a);
	tick_after(f, NS_PER_S);
	assert_int_equal(N_IN(f, WANTED), 1);
	assert_int_equal(count_of(f, TELEMETRY_unwind_tables_no_room), 0);
	worker_free(f->worker);
	assert_int_equal(worker_new(f->loop, 1, &f->worker), 0);
	f->tables->options.worker = f->worker;
	tick_after(f, NS_PER_S);
	assert_int_equal(N_IN(f, LOADED), 1);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_rules_of_a_library),
	FIXTURE_TEST(test_rules_of_a_fixed_program),
	FIXTURE_TEST(test_rules_of_a_library_linked_high),
	FIXTURE_TEST(test_rules_of_shifted_segments),
	FIXTURE_TEST(test_rules_of_the_other_segment),
	FIXTURE_TEST(test_file_without_rules),
	FIXTURE_TEST(test_vdso),
	FIXTURE_TEST(test_code),
	FIXTURE_TEST(test_equal_tables_are_one),
	FIXTURE_TEST(test_shared_while_it_is_built),
	FIXTURE_TEST(test_without_build_id_all_the_same),
	FIXTURE_TEST(test_forged_build_id_came_first),
	FIXTURE_TEST(test_forged_build_id_came_second),
	FIXTURE_TEST(test_eviction),
	FIXTURE_TEST(test_eviction_waits_for_its_room),
	FIXTURE_TEST(test_no_room_at_all),
	FIXTURE_TEST(test_building_takes_too_much),
	FIXTURE_TEST(test_no_room_until_there_is),
	FIXTURE_TEST(test_idle_files),
	FIXTURE_TEST(test_slots_run_out),
	FIXTURE_TEST(test_cannot_be_opened),
	FIXTURE_TEST(test_unreadable),
	FIXTURE_TEST(test_debug_file_that_could_not_be_looked_for),
	FIXTURE_TEST(test_debug_file_that_cannot_be_looked_for),
	FIXTURE_TEST(test_debug_file_of_who_is_avoided),
	FIXTURE_TEST(test_read_given_up_while_building),
	FIXTURE_TEST(test_read_given_up_while_looking_up),
	FIXTURE_TEST(test_stop),
	FIXTURE_TEST(test_worker_is_busy),
};

TEST_MAIN(tests)
