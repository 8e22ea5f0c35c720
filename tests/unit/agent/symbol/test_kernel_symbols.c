/* SPDX-License-Identifier: Apache-2.0 */
/* When the kernel's symbols are read again. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/symbol/kallsyms.h"
#include "agent/symbol/kernel_changes.h"
#include "agent/symbol/kernel_symbols.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define BEFORE "ffffffff81000000 T old_function\nffffffff81000100 T _etext\n"
#define MODULE "ffffffffc0000000 t new_function\t[fresh]\n"

struct fixture {
	struct fixture_dir dir;
	struct arena names;
	struct kernel_symbols *symbols;
	char path[FIXTURE_PATH_BYTES];
	char modules[FIXTURE_PATH_BYTES];
};

static void set_up(struct fixture *f)
{
	assert_true(fixture_dir_init(&f->dir));
	arena_init(&f->names, (size_t)1 << 20);
	assert_true(fixture_write(&f->dir, "kallsyms", BEFORE));
	assert_true(fixture_write(&f->dir, "modules", ""));
	assert_int_equal(
		kernel_symbols_new(
			&(struct kernel_symbols_options){
				.path = fixture_path(&f->dir, "kallsyms", f->path),
				.modules_path = fixture_path(&f->dir, "modules", f->modules),
				.max_bytes = KALLSYMS_MAX_BYTES,
				.names = &f->names },
			&f->symbols),
		0);
	kernel_symbols_set_demangle(f->symbols, DEMANGLE_SIMPLIFIED);
}

static void tear_down(struct fixture *f)
{
	kernel_symbols_free(f->symbols);
	arena_fini(&f->names);
	fixture_dir_fini(&f->dir);
}

FIXTURE(struct fixture, set_up, tear_down)

/* "-" when there is none. */
static const char *name_of(struct fixture *f, uint64_t pc)
{
	struct frames frames;

	return kernel_symbols_resolve(f->symbols, pc, &frames) ? frames.items[0].function : "-";
}

static void new_modules_are_found(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	kernel_symbols_set_time(f->symbols, now);
	const char *old = name_of(f, 0xffffffff81000000);
	assert_string_equal(old, "old_function");
	assert_true(fixture_write(&f->dir, "kallsyms", BEFORE MODULE));
	/* Too early. */
	assert_string_equal(name_of(f, 0xffffffffc0000010), "-");
	kernel_symbols_end(f->symbols);
	kernel_symbols_set_time(f->symbols, now + KERNEL_SYMBOLS_RELOAD_NS - 1);
	assert_string_equal(name_of(f, 0xffffffffc0000010), "-");
	old = name_of(f, 0xffffffff81000000);
	kernel_symbols_end(f->symbols);
	/* Due; and a name of the index before stays valid until the end. */
	kernel_symbols_set_time(f->symbols, now + KERNEL_SYMBOLS_RELOAD_NS);
	old = name_of(f, 0xffffffff81000000);
	assert_string_equal(name_of(f, 0xffffffffc0000010), "new_function");
	assert_string_equal(old, "old_function");
	kernel_symbols_end(f->symbols);
}

static void useless_reading_gets_rare(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;
	uint64_t pause = KERNEL_SYMBOLS_RELOAD_NS;

	kernel_symbols_set_time(f->symbols, now);
	assert_string_equal(name_of(f, 0xffffffff81000000), "old_function");
	for (int i = 0; i < 12; i++) {
		/* Due: read, in vain. */
		now += pause;
		kernel_symbols_set_time(f->symbols, now);
		assert_string_equal(name_of(f, 0xffffffffc0000010), "-");
		kernel_symbols_end(f->symbols);
		pause = MIN_OF(2 * pause, KERNEL_SYMBOLS_MAX_RELOAD_NS);
		/* What appears now is not seen before the pause is over. */
		assert_true(fixture_write(&f->dir, "kallsyms", BEFORE MODULE));
		kernel_symbols_set_time(f->symbols, now + pause - 1);
		assert_string_equal(name_of(f, 0xffffffffc0000010), "-");
		kernel_symbols_end(f->symbols);
		assert_true(fixture_write(&f->dir, "kallsyms", BEFORE));
	}
	assert_int_equal(pause, KERNEL_SYMBOLS_MAX_RELOAD_NS);
}

#define FIRST BEFORE "ffffffffc0000000 t first_function\t[first]\n"
#define SECOND BEFORE "ffffffffc0000000 t second_function\t[second]\n"
#define PC 0xffffffffc0000010

static void at(struct fixture *f, uint64_t now_ns)
{
	kernel_symbols_end(f->symbols);
	kernel_symbols_set_time(f->symbols, now_ns);
}

/* Modules at the same addresses, one after the other. */
static void a_module_takes_anothers_place(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", FIRST));
	assert_true(fixture_write(&f->dir, "modules", "first 4096 0 - Live 0xffffffffc0000000\n"));
	at(f, now);
	assert_string_equal(name_of(f, PC), "first_function");
	/* References are no change. */
	assert_true(fixture_write(&f->dir, "kallsyms", SECOND));
	assert_true(
		fixture_write(&f->dir, "modules", "first 4096 2 x,y, Live 0xffffffffc0000000\n"));
	at(f, now += KERNEL_SYMBOLS_MAX_CHANGE_NS);
	assert_string_equal(name_of(f, PC), "first_function");
	assert_true(fixture_write(&f->dir, "modules", "second 4096 0 - Live 0xffffffffc0000000\n"));
	/* Seen once an interval; and a name that was given out stays. */
	assert_string_equal(name_of(f, PC), "first_function");
	at(f, now += NS_PER_S);
	assert_string_equal(name_of(f, 0xffffffff81000010), "old_function");
	assert_string_equal(name_of(f, PC), "second_function");
	/* The next change is seen no sooner than it may be read. */
	assert_true(fixture_write(&f->dir, "kallsyms", FIRST));
	assert_true(fixture_write(&f->dir, "modules", "first 4096 0 - Live 0xffffffffc0000000\n"));
	at(f, now += KERNEL_SYMBOLS_CHANGE_NS - 1);
	assert_string_equal(name_of(f, PC), "second_function");
	at(f, now += 1);
	assert_string_equal(name_of(f, PC), "first_function");
}

/* Something may have come or gone. */
static void lose(struct fixture *f)
{
	kernel_symbols_changed(f->symbols, &(struct kernel_text){ .is_incomplete = true });
}

static void a_lost_change_is_read(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", FIRST));
	at(f, now);
	assert_string_equal(name_of(f, PC), "first_function");
	assert_true(fixture_write(&f->dir, "kallsyms", SECOND));
	at(f, now += KERNEL_SYMBOLS_MAX_CHANGE_NS);
	assert_string_equal(name_of(f, PC), "first_function");
	kernel_symbols_end(f->symbols);
	lose(f);
	kernel_symbols_set_time(f->symbols, now);
	assert_string_equal(name_of(f, PC), "second_function");
}

#define PROGRAM BEFORE "ffffffffc0000000 t bpf_prog_1_first\t[bpf]\n"

static void tell(struct fixture *f, uint64_t time_ns, uint64_t begin, const char *name,
		 bool is_gone)
{
	struct kernel_text text;

	kernel_text_init(&text);
	kernel_text_add(
		&text,
		&(struct kernel_text_change){
			.time_ns = time_ns, .begin = begin, .n_bytes = 64, .is_gone = is_gone },
		name);
	kernel_symbols_changed(f->symbols, &text);
	kernel_text_fini(&text);
}

static void tell_out_of_line(struct fixture *f, uint64_t begin, const char *name)
{
	struct kernel_text text;

	kernel_text_init(&text);
	kernel_text_add(&text,
			&(struct kernel_text_change){
				.begin = begin, .n_bytes = 64, .kind = KERNEL_TEXT_OUT_OF_LINE },
			name);
	kernel_symbols_changed(f->symbols, &text);
	kernel_text_fini(&text);
}

/* Of two changes one was lost: the other one was told, and holds until the file may be read. */
static void what_was_told_beside_a_lost_change_holds(void **state)
{
	struct fixture *f = *state;
	struct kernel_text text;

	assert_true(fixture_write(&f->dir, "kallsyms", PROGRAM));
	at(f, NS_PER_S);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	kernel_symbols_end(f->symbols);
	kernel_text_init(&text);
	kernel_text_add(&text,
			&(struct kernel_text_change){
				.time_ns = NS_PER_S, .begin = 0xffffffffc0000000, .n_bytes = 64 },
			"bpf_prog_2_next");
	text.is_incomplete = true;
	kernel_symbols_changed(f->symbols, &text);
	kernel_text_fini(&text);
	at(f, NS_PER_S + 1);
	assert_string_equal(name_of(f, PC), "bpf_prog_2_next");
	assert_int_equal(kernel_symbols_n_read(f->symbols), 1);
}

/* Nobody told that another came in its place. */
static void what_was_told_before_a_lost_change_is_read(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", PROGRAM));
	at(f, now);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	kernel_symbols_end(f->symbols);
	tell(f, now, 0xffffffffc0001000, "bpf_prog_2_here", false);
	lose(f);
	assert_true(fixture_write(&f->dir, "kallsyms",
				  PROGRAM "ffffffffc0001000 t bpf_prog_3_other\t[bpf]\n"));
	at(f, now + KERNEL_SYMBOLS_CHANGE_NS - 1);
	assert_string_equal(name_of(f, PC + 0x1000), "bpf_prog_2_here");
	at(f, now + KERNEL_SYMBOLS_CHANGE_NS);
	assert_string_equal(name_of(f, PC + 0x1000), "bpf_prog_3_other");
	assert_int_equal(kernel_symbols_n_read(f->symbols), 2);
}

/* The same for what was told to have gone. */
static void what_went_before_a_lost_change_is_read(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", PROGRAM));
	at(f, now);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	kernel_symbols_end(f->symbols);
	tell(f, now, 0xffffffffc0000000, "bpf_prog_1_first", true);
	lose(f);
	assert_true(fixture_write(&f->dir, "kallsyms",
				  BEFORE "ffffffffc0000000 t bpf_prog_3_other\t[bpf]\n"));
	kernel_symbols_set_time(f->symbols, now + KERNEL_SYMBOLS_CHANGE_NS);
	assert_string_equal(name_of(f, PC), "bpf_prog_3_other");
	assert_int_equal(kernel_symbols_n_read(f->symbols), 2);
}

/* The file never changes: it is not read. */
static void programs_are_followed_without_reading(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", PROGRAM));
	at(f, now);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	for (uint64_t i = 0; i < 100; i++) {
		kernel_symbols_end(f->symbols);
		tell(f, now, 0xffffffffc0000000, "bpf_prog_1_first", true);
		tell(f, now + 1, 0xffffffffc0000000, i % 2 ? "bpf_prog_2_odd" : "bpf_prog_3_even",
		     false);
		tell(f, now + 1, 0xffffffffc0000040, "bpf_prog_4_next", false);
		at(f, now += KERNEL_SYMBOLS_MAX_RELOAD_NS);
		assert_string_equal(name_of(f, PC), i % 2 ? "bpf_prog_2_odd" : "bpf_prog_3_even");
		assert_string_equal(name_of(f, PC + 0x40), "bpf_prog_4_next");
		assert_string_equal(name_of(f, 0xffffffff81000010), "old_function");
	}
	assert_int_equal(kernel_symbols_n_read(f->symbols), 1);
}

static void what_went_in_the_interval_has_a_name(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", PROGRAM));
	at(f, now);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	tell(f, now, 0xffffffffc0000000, "bpf_prog_1_first", true);
	tell(f, now, 0xffffffffc0001000, "bpf_prog_2_short", false);
	tell(f, now + 1, 0xffffffffc0001000, "bpf_prog_2_short", true);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	assert_string_equal(name_of(f, PC + 0x1000), "bpf_prog_2_short");
	/* A sample of that time is read later. */
	at(f, now + 1);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	assert_string_equal(name_of(f, PC + 0x1000), "bpf_prog_2_short");
	for (int i = 0; i < 3; i++) {
		at(f, now + 1);
		assert_string_equal(name_of(f, PC), "-");
		assert_string_equal(name_of(f, PC + 0x1000), "-");
	}
	assert_int_equal(kernel_symbols_n_read(f->symbols), 1);
}

/* Two programs of the file, and one that lay between them for a moment; the first reaches up to the second. */
static void what_went_between_two_has_a_name(void **state)
{
	struct fixture *f = *state;

	assert_true(fixture_write(&f->dir, "kallsyms",
				  PROGRAM "ffffffffc0001000 t bpf_prog_3_third\t[bpf]\n"));
	at(f, NS_PER_S);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	kernel_symbols_end(f->symbols);
	tell(f, NS_PER_S, 0xffffffffc0000800, "bpf_prog_2_short", false);
	tell(f, NS_PER_S + 1, 0xffffffffc0000800, "bpf_prog_2_short", true);
	kernel_symbols_set_time(f->symbols, NS_PER_S + 2);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	assert_string_equal(name_of(f, PC + 0x800), "bpf_prog_2_short");
	assert_string_equal(name_of(f, PC + 0x1000), "bpf_prog_3_third");
	/* Who was there before, and reached as far, is hidden by who is there. */
	tell(f, NS_PER_S, 0xffffffffc0000fe0, "bpf_prog_4_before", true);
	assert_string_equal(name_of(f, PC + 0x1000), "bpf_prog_3_third");
	assert_int_equal(kernel_symbols_n_read(f->symbols), 1);
}

/* Changes are told of up to the end of the interval; the file shows what is later. */
static void what_was_read_is_ahead(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", PROGRAM));
	tell(f, now - 2, 0xffffffffc0000000, "bpf_prog_0_before", false);
	at(f, now);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
	kernel_symbols_end(f->symbols);
	tell(f, now - 1, 0xffffffffc0000000, "bpf_prog_0_before", true);
	tell(f, now, 0xffffffffc0000000, "bpf_prog_1_first", false);
	at(f, now);
	assert_string_equal(name_of(f, PC), "bpf_prog_1_first");
}

static void hidden_symbols_stay_hidden(void **state)
{
	struct fixture *f = *state;

	assert_true(fixture_write(&f->dir, "kallsyms", "0000000000000000 T old_function\n"));
	at(f, NS_PER_S);
	assert_string_equal(name_of(f, PC), "-");
	tell(f, NS_PER_S, 0xffffffffc0000000, "bpf_prog_1_first", false);
	at(f, NS_PER_S);
	assert_string_equal(name_of(f, PC), "-");
	assert_true(kernel_symbols_hidden(f->symbols));
}

static void too_many_changes_are_read(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	assert_true(fixture_write(&f->dir, "kallsyms", FIRST));
	at(f, now);
	assert_string_equal(name_of(f, PC), "first_function");
	for (uint64_t i = 0; i <= KERNEL_CHANGES_MAX; i++)
		tell(f, now, 0xffffffffd0000000 + i * 64, "bpf_prog_1_x", false);
	assert_true(fixture_write(&f->dir, "kallsyms", SECOND));
	at(f, now += KERNEL_SYMBOLS_MAX_CHANGE_NS);
	assert_string_equal(name_of(f, PC), "second_function");
	assert_int_equal(kernel_symbols_n_read(f->symbols), 2);
	assert_string_equal(name_of(f, 0xffffffffd0000000), "-");
}

/* Programs come and go all the time, and none of them is ever sampled. */
static void changes_elsewhere_get_rare(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;
	uint64_t pause = KERNEL_SYMBOLS_CHANGE_NS;

	assert_true(fixture_write(&f->dir, "kallsyms", FIRST));
	at(f, now);
	assert_string_equal(name_of(f, PC), "first_function");
	for (int i = 0; i < 6; i++) {
		assert_true(fixture_write(&f->dir, "kallsyms", FIRST));
		kernel_symbols_end(f->symbols);
		lose(f);
		at(f, now += pause);
		assert_string_equal(name_of(f, PC), "first_function");
		pause = MIN_OF(2 * pause, KERNEL_SYMBOLS_MAX_CHANGE_NS);
		assert_true(fixture_write(&f->dir, "kallsyms", SECOND));
		kernel_symbols_end(f->symbols);
		lose(f);
		at(f, now + pause - 1);
		assert_string_equal(name_of(f, PC), "first_function");
	}
	assert_int_equal(pause, KERNEL_SYMBOLS_MAX_CHANGE_NS);
	at(f, now + pause);
	assert_string_equal(name_of(f, PC), "second_function");
}

/* However long nothing helped: a new module is seen at once. */
static void a_new_module_ends_the_long_pause(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	at(f, now);
	for (int i = 0; i < 12; i++) {
		at(f, now += KERNEL_SYMBOLS_MAX_RELOAD_NS);
		assert_string_equal(name_of(f, PC), "-");
	}
	assert_true(fixture_write(&f->dir, "kallsyms", FIRST));
	at(f, now += KERNEL_SYMBOLS_CHANGE_NS);
	assert_string_equal(name_of(f, PC), "-");
	assert_true(fixture_write(&f->dir, "modules", "first 4096 0 - Live 0xffffffffc0000000\n"));
	at(f, now += NS_PER_S);
	assert_string_equal(name_of(f, PC), "first_function");
}

#ifdef __SANITIZE_ADDRESS__
/* sanitizer/allocator_interface.h */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
					      void (*free_hook)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *pointer);

static struct {
	size_t now_bytes;
	size_t most_bytes;
} heap;

static void on_malloc(const volatile void *pointer, size_t n)
{
	(void)pointer;
	heap.now_bytes += n;
	heap.most_bytes = MAX_OF(heap.most_bytes, heap.now_bytes);
}

static void on_free(const volatile void *pointer)
{
	heap.now_bytes -= pointer ? __sanitizer_get_allocated_size(pointer) : 0;
}

#define N_KERNEL 40000
/* Each is loaded below the one before. */
#define N_MODULES 20
#define N_IN_MODULE 100
/* 16 bytes a function and room to grow, the new index, a module's names. */
#define MOST_BYTES_A_FUNCTION 45

static void write_kernel(struct fixture *f)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)16 << 20);

	for (uint64_t i = 0; i < N_KERNEL; i++)
		(void)buf_printf(&text, "%" PRIx64 " T kernel_function_%" PRIu64 "\n",
				 0xffffffff81000000 + i * 64, i);
	for (uint64_t m = 0; m < N_MODULES; m++)
		for (uint64_t i = 0; i < N_IN_MODULE; i++)
			(void)buf_printf(&text,
					 "%" PRIx64 " t of_a_module_%" PRIu64 "\t[m%" PRIu64 "]\n",
					 0xffffffffc0000000 - m * 65536 + i * 64, i, m);
	assert_true(fixture_write(&f->dir, "kallsyms", buf_str(&text)));
}

/* There are never two indices. (What sorting takes in the C library is not seen here: the sanitizer sorts itself.) */
static void reading_again_takes_little(void **state)
{
	struct fixture *f = *state;
	uint64_t now = NS_PER_S;

	write_kernel(f);
	kernel_symbols_set_time(f->symbols, now);
	assert_true(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) > 0);
	assert_string_equal(name_of(f, 0xffffffffc0000000), "of_a_module_0");
	kernel_symbols_end(f->symbols);
	size_t first_bytes = heap.most_bytes;
	lose(f);
	kernel_symbols_set_time(f->symbols, now + KERNEL_SYMBOLS_CHANGE_NS);
	heap.most_bytes = 0;
	assert_string_equal(name_of(f, 0xffffffffc0000000), "of_a_module_0");
	assert_true(heap.most_bytes > 0);
	assert_in_range(first_bytes, 1,
			(N_KERNEL + N_MODULES * N_IN_MODULE) * MOST_BYTES_A_FUNCTION);
	assert_in_range(heap.most_bytes, 1, first_bytes + first_bytes / 16);
}
#endif

static void objects_are_named(void **state)
{
	struct fixture *f = *state;
	struct frames frames;
	static const struct {
		uint64_t pc;
		const char *path;
	} expected[] = {
		{ 0xffffffff81000000, "[kernel]" },
		{ 0xffffffffc0000000, "[fresh]" },
		{ 0xffffffffc1000000, "[bpf]" },
		{ 0xffffffffc2000000, "[bpf]" },
		{ 0xffffffffc2000040, "[__builtin__ftrace]" },
		{ 0xffffffffc2000080, "[__builtin__kprobes]" },
	};

	assert_true(fixture_write(&f->dir, "kallsyms",
				  BEFORE MODULE "ffffffffc1000000 t bpf_prog_1_x\t[bpf]\n"));
	at(f, NS_PER_S);
	assert_string_equal(name_of(f, 0xffffffff81000000), "old_function");
	tell(f, 1, 0xffffffffc2000000, "bpf_trampoline_1", false);
	tell_out_of_line(f, 0xffffffffc2000040, "ftrace_trampoline");
	tell_out_of_line(f, 0xffffffffc2000080, "kprobe_insn_page");
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_true(kernel_symbols_resolve(f->symbols, expected[i].pc, &frames));
		assert_string_equal(frames.items[0].object->path, expected[i].path);
		assert_int_equal(frames.items[0].object->kind, FRAME_OBJECT_KERNEL);
	}
}

static void hidden_addresses_may_appear(void **state)
{
	struct fixture *f = *state;

	assert_true(fixture_write(&f->dir, "kallsyms", "0000000000000000 T old_function\n"));
	assert_false(kernel_symbols_hidden(f->symbols));
	kernel_symbols_set_time(f->symbols, NS_PER_S);
	assert_string_equal(name_of(f, 0xffffffff81000000), "-");
	assert_true(kernel_symbols_hidden(f->symbols));
	kernel_symbols_end(f->symbols);
	assert_true(fixture_write(&f->dir, "kallsyms", BEFORE));
	kernel_symbols_set_time(f->symbols, NS_PER_S + KERNEL_SYMBOLS_RELOAD_NS);
	assert_string_equal(name_of(f, 0xffffffff81000000), "old_function");
	assert_false(kernel_symbols_hidden(f->symbols));
	kernel_symbols_end(f->symbols);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(new_modules_are_found),
	FIXTURE_TEST(useless_reading_gets_rare),
	FIXTURE_TEST(a_module_takes_anothers_place),
	FIXTURE_TEST(a_lost_change_is_read),
	FIXTURE_TEST(what_was_told_beside_a_lost_change_holds),
	FIXTURE_TEST(what_was_told_before_a_lost_change_is_read),
	FIXTURE_TEST(what_went_before_a_lost_change_is_read),
	FIXTURE_TEST(programs_are_followed_without_reading),
	FIXTURE_TEST(what_went_in_the_interval_has_a_name),
	FIXTURE_TEST(what_went_between_two_has_a_name),
	FIXTURE_TEST(what_was_read_is_ahead),
	FIXTURE_TEST(hidden_symbols_stay_hidden),
	FIXTURE_TEST(too_many_changes_are_read),
	FIXTURE_TEST(changes_elsewhere_get_rare),
	FIXTURE_TEST(a_new_module_ends_the_long_pause),
#ifdef __SANITIZE_ADDRESS__
	FIXTURE_TEST(reading_again_takes_little),
#endif
	FIXTURE_TEST(objects_are_named),
	FIXTURE_TEST(hidden_addresses_may_appear),
};

TEST_MAIN(tests)
