/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own walk, over this very process: a recursion without frame pointers, out of the C library, to the outermost frame. */
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/unwind/host_walk.h"
#include "tests/support/assert_frame.h"
#include "tests/support/unit.h"

#define LEVELS 20
#define MAX_FRAMES 200

struct fixture {
	struct telemetry *telemetry;
	struct process_table *processes;
	struct process *process; /* this one */
	struct kernel_arena *arena;
	struct object_tables *objects;
	/* Where each level of the recursion returns to, the innermost first. */
	uint64_t returns_to[LEVELS];
	uint64_t pc;
	uint64_t sp;
	/* Of the walk. */
	struct host_walk_options options;
	struct frame_ref frames[MAX_FRAMES];
	uint64_t pcs[MAX_FRAMES];
	size_t n;
	size_t max_frames;
	/* What each frame has of the stack, and the last word of it. */
	uint64_t begins[MAX_FRAMES];
	uint64_t ends[MAX_FRAMES];
	uint64_t last_words[MAX_FRAMES];
	size_t n_extents;
	size_t max_extents;
	uint64_t readable_end; /* what lies above cannot be read */
	enum stop_reason end;
};

static int read_self(void *data, uint64_t addr, void *dst, size_t n)
{
	const struct fixture *f = data;
	const struct iovec to = { dst, n };
	const struct iovec from = { (void *)addr, n };

	if (addr + n > f->readable_end)
		return -EFAULT;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

static bool on_frame(void *data, struct frame_ref frame, uint64_t pc)
{
	struct fixture *f = data;

	if (f->n == f->max_frames)
		return false;
	f->frames[f->n] = frame;
	f->pcs[f->n++] = pc;
	return true;
}

/* Told behind the frame that it is of. */
static bool on_extent(void *data, uint64_t begin, uint64_t end)
{
	struct fixture *f = data;

	assert_int_equal(f->n, f->n_extents + 1);
	if (f->n_extents == f->max_extents)
		return false;
	f->begins[f->n_extents] = begin;
	f->ends[f->n_extents] = end;
	assert_int_equal(read_self(f, end - 8, &f->last_words[f->n_extents++], 8), 0);
	return true;
}

static void set_up(struct fixture *f)
{
	assert_int_equal(telemetry_new(&f->telemetry), 0);
	const struct process_table_options processes = { .telemetry = f->telemetry };
	assert_int_equal(process_table_new(&processes, &f->processes), 0);
	f->process = process_table_get(f->processes, (uint32_t)getpid(), NULL);
	assert_non_null(f->process);
	assert_non_null(f->process->mappings);
	const struct kernel_arena_options arena = { .segments_fd = -1, .max_segments = 8 };
	assert_int_equal(kernel_arena_new(&arena, &f->arena), 0);
	const struct object_tables_options objects = { .objects_fd = -1,
						       .max_objects = 64,
						       .arena = f->arena,
						       .max_table_bytes = 8 * WIRE_SEGMENT_BYTES,
						       .max_build_bytes = (size_t)64 << 20,
						       .processes = f->processes,
						       .telemetry = f->telemetry };
	assert_int_equal(object_tables_new(&objects, &f->objects), 0);
	f->readable_end = UINT64_MAX;
	f->max_frames = f->max_extents = MAX_FRAMES;
	f->options = (struct host_walk_options){ .process = f->process,
						 .mappings = f->process->mappings,
						 .objects = f->objects,
						 .read = read_self,
						 .on_frame = on_frame,
						 .data = f,
						 .flags = WIRE_USER_UNWOUND_EXACT,
						 .user_mask = UINT64_MAX };
}

static void tear_down(struct fixture *f)
{
	object_tables_free(f->objects);
	kernel_arena_free(f->arena);
	process_table_free(f->processes);
	telemetry_free(f->telemetry);
}

FIXTURE(struct fixture, set_up, tear_down)

/* Registers as they are here. */
static inline __attribute__((always_inline)) void take_regs(struct wire_regs *to)
{
#if defined(__x86_64__)
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 0(%0)\n\t"
			 "movq %%rbx, 8+3*8(%0)\n\t"
			 "movq %%rbp, 8+6*8(%0)\n\t"
			 "movq %%rsp, 8+7*8(%0)\n\t"
			 "movq %%r8, 8+8*8(%0)\n\t"
			 "movq %%r9, 8+9*8(%0)\n\t"
			 "movq %%r10, 8+10*8(%0)\n\t"
			 "movq %%r12, 8+12*8(%0)\n\t"
			 "movq %%r13, 8+13*8(%0)\n\t"
			 "movq %%r14, 8+14*8(%0)\n\t"
			 "movq %%r15, 8+15*8(%0)\n\t"
			 :
			 : "D"(to)
			 : "rax", "memory");
#else
	__asm__ volatile("adr x9, .\n\t"
			 "str x9, [%0]\n\t"
			 "str x29, [%0, #(8 + 29 * 8)]\n\t"
			 "str x30, [%0, #(8 + 30 * 8)]\n\t"
			 "mov x9, sp\n\t"
			 "str x9, [%0, #(8 + 31 * 8)]\n\t"
			 :
			 : "r"(to)
			 : "x9", "memory");
#endif
}

/* Without frame pointers, however the tests are compiled. */
#define FRAMELESS \
	__attribute__((noinline, optimize("omit-frame-pointer", "no-optimize-sibling-calls")))

/* The walk happens here, while all that it walks through is still on the stack. */
static FRAMELESS void walk_here(struct fixture *f)
{
	struct wire_regs regs = { 0 };

	f->returns_to[0] = (uint64_t)__builtin_return_address(0);
	take_regs(&regs);
	f->pc = regs.pc;
	f->sp = regs.reg[WIRE_ABI_SP];
	f->end = host_walk(&f->options, &regs);
}

static FRAMELESS unsigned int recurse(struct fixture *f, unsigned int level)
{
	volatile unsigned char room[100];

	room[level % sizeof(room)] = (unsigned char)level;
	f->returns_to[level] = (uint64_t)__builtin_return_address(0);
	if (level == 1)
		walk_here(f);
	else
		(void)recurse(f, level - 1);
	return room[level % sizeof(room)];
}

static void check_levels(const struct fixture *f, size_t n_levels)
{
	assert_true(f->n > n_levels);
	assert_int_equal(f->pcs[0], f->pc);
	for (size_t i = 0; i < n_levels; i++)
		assert_int_equal(f->pcs[i + 1], f->returns_to[i]);
	for (size_t i = 0; i < f->n; i++)
		assert_frame(f->frames[i], host_frame(f->process->mappings, f->pcs[i] - (i > 0)));
}

static void test_recursion(void **state)
{
	struct fixture *f = *state;
	struct object_tables_stats stats;

	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_ROOT);
	check_levels(f, LEVELS);
	/* cmocka, main, the C library's start. */
	assert_in_range(f->n, LEVELS + 4, LEVELS + 40);
	/* Ours, cmocka, the C library; no table was wanted. */
	object_tables_stats(f->objects, &stats);
	assert_in_range(stats.n_files, 2, 8);
	assert_int_equal(stats.n_by_state[OBJECT_WANTED], 0);
}

static void test_tables_are_wanted(void **state)
{
	struct fixture *f = *state;
	struct object_tables_stats stats;

	f->options.wanted = true;
	(void)recurse(f, 3);
	assert_int_equal(f->end, STOP_REASON_ROOT);
	object_tables_stats(f->objects, &stats);
	assert_in_range(stats.n_by_state[OBJECT_WANTED], 2, 8);
}

/* Whether there are rules is not known at the moment; of a file that cannot be opened at all there are none. */
static void test_file_that_cannot_be_opened(void **state)
{
	struct fixture *f = *state;
	const struct mapping *m =
		mappings_find(f->process->mappings, (uint64_t)&test_file_that_cannot_be_opened);

	f->process->opens_after_ns = UINT64_MAX;
	(void)recurse(f, 3);
	assert_int_equal(f->end, STOP_REASON_NO_TABLE);
	assert_int_equal(f->n, 1);
	f->process->opens_after_ns = 0;
	m->file->open_error = -EACCES;
	(void)recurse(f, 3);
	assert_int_not_equal(f->end, STOP_REASON_NO_TABLE);
	m->file->open_error = 0;
	f->n = 0;
	(void)recurse(f, 3);
	assert_int_equal(f->end, STOP_REASON_ROOT);
}

static void test_too_deep(void **state)
{
	struct fixture *f = *state;

	f->max_frames = 5;
	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_DEPTH);
	assert_int_equal(f->n, 5);
	check_levels(f, 4);
}

/* Frames lie on the stack without gaps, and each caller's begins behind the address that it is returned to by. */
static void test_extents(void **state)
{
	struct fixture *f = *state;

	f->options.on_extent = on_extent;
	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_ROOT);
	check_levels(f, LEVELS);
	/* The outermost has no caller. */
	assert_int_equal(f->n_extents, f->n - 1);
	assert_int_equal(f->begins[0], f->sp);
	for (size_t i = 0; i < f->n_extents; i++) {
		assert_true(f->ends[i] > f->begins[i]);
		if (i > 0)
			assert_int_equal(f->begins[i], f->ends[i - 1]);
#if defined(__x86_64__)
		assert_int_equal(f->last_words[i], f->pcs[i + 1]);
#endif
	}
}

static void test_extent_ends_the_walk(void **state)
{
	struct fixture *f = *state;

	f->options.on_extent = on_extent;
	f->max_extents = 5;
	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_DEPTH);
	assert_int_equal(f->n, 6);
	assert_int_equal(f->n_extents, 5);
	/* A frame that found no room has none. */
	f->n = f->n_extents = 0;
	f->max_frames = 4;
	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_DEPTH);
	assert_int_equal(f->n_extents, 4);
}

/* Nor has one that the walk could not leave. */
static void test_extent_of_the_last(void **state)
{
	struct fixture *f = *state;

	f->options.on_extent = on_extent;
	f->readable_end = 0;
	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_COPY_END);
	assert_int_equal(f->n, 1);
	assert_int_equal(f->n_extents, 0);
}

/* Of the stack so much can be read as a copy may hold. */
static void test_end_of_what_is_readable(void **state)
{
	struct fixture *f = *state;

	f->readable_end = (uint64_t)__builtin_frame_address(0) - 300;
	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_COPY_END);
	assert_true(f->n > 5 && f->n <= LEVELS);
	check_levels(f, f->n - 1);
	f->readable_end = 0;
	f->n = 0;
	(void)recurse(f, LEVELS - 1);
	assert_int_equal(f->end, STOP_REASON_COPY_END);
	assert_int_equal(f->n, 1);
}

/* Where code was interrupted is a fact, where it would return to must be code. */
static void test_pc_outside_of_all_mappings(void **state)
{
	struct fixture *f = *state;
	struct wire_regs regs = { .pc = 0x1234 };

	f->end = host_walk(&f->options, &regs);
	assert_int_equal(f->end, STOP_REASON_NO_MAPPING);
	assert_int_equal(f->n, 1);
	assert_frame(f->frames[0], frame_ref_of(FRAME_KIND_UNKNOWN, 0));
	assert_int_equal(f->pcs[0], 0x1234);
	f->n = 0;
	f->options.flags = 0;
	assert_int_equal(host_walk(&f->options, &regs), STOP_REASON_NO_MAPPING);
	assert_int_equal(f->n, 0);
}

static void test_after_a_system_call(void **state)
{
	struct fixture *f = *state;
	struct wire_regs regs = { .pc = (uint64_t)&test_after_a_system_call };

	f->options.after_syscall = true;
	f->max_frames = 1;
	(void)host_walk(&f->options, &regs);
	/* It is the call that is shown, and the return address that is told. */
	assert_frame(f->frames[0], host_frame(f->process->mappings, regs.pc - 1));
	assert_int_equal(f->pcs[0], regs.pc);
}

static void test_frames(void **state)
{
	struct fixture *f = *state;
	struct mapped_file file = { .id = 5 };
	struct mappings *m = calloc(1, sizeof(*m) + 2 * sizeof(m->items[0]));

	(void)f;
	assert_non_null(m);
	m->n = 2;
	m->items[0] = (struct mapping){
		.begin = 0x1000, .end = 0x2000, .file_off = 0x7000, .file = &file
	};
	m->items[1] = (struct mapping){ .begin = 0x3000, .end = 0x4000, .kind = MAPPING_ANON };
	assert_frame(host_frame(m, 0x1010), frame_ref_of_file(5, 0x7010));
	assert_frame(host_frame(m, 0x3010), frame_ref_of(FRAME_KIND_MEMORY, 0x3010));
	assert_true(frame_ref_is_none(host_frame(m, 0x2000)));
	assert_true(frame_ref_is_none(host_frame(NULL, 0x1000)));
	free(m);
}

static const struct unit_test tests[] = {
	FIXTURE_TEST(test_recursion),
	FIXTURE_TEST(test_tables_are_wanted),
	FIXTURE_TEST(test_file_that_cannot_be_opened),
	FIXTURE_TEST(test_too_deep),
	FIXTURE_TEST(test_extents),
	FIXTURE_TEST(test_extent_ends_the_walk),
	FIXTURE_TEST(test_extent_of_the_last),
	FIXTURE_TEST(test_end_of_what_is_readable),
	FIXTURE_TEST(test_pc_outside_of_all_mappings),
	FIXTURE_TEST(test_after_a_system_call),
	FIXTURE_TEST(test_frames),
};

TEST_MAIN(tests)
