/* SPDX-License-Identifier: Apache-2.0 */
/* Side-band records as bytes. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/process/sideband_decode.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define TIME_NS 987654321098ULL

static void put32(struct buf *b, uint32_t v)
{
	assert_int_equal(buf_append(b, &v, sizeof(v)), 0);
}

static void put64(struct buf *b, uint64_t v)
{
	assert_int_equal(buf_append(b, &v, sizeof(v)), 0);
}

static void put_padded(struct buf *b, const char *s)
{
	assert_int_equal(buf_append(b, s, strlen(s) + 1), 0);
	while (b->len % 8)
		(void)buf_append_char(b, '\0');
}

static void begin(struct buf *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	assert_int_equal(buf_append(b, &h, sizeof(h)), 0);
}

static void end(struct buf *b)
{
	put32(b, 1);
	put32(b, 2);
	put64(b, TIME_NS);
	((struct perf_event_header *)b->data)->size = (uint16_t)b->len;
}

static void make_task(struct buf *b, uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid)
{
	begin(b, type, 0);
	put32(b, pid);
	put32(b, ppid);
	put32(b, tid);
	put32(b, ppid);
	put64(b, TIME_NS);
	end(b);
}

static void make_mmap2(struct buf *b, uint16_t misc, uint32_t pid, uint32_t prot, const char *path)
{
	begin(b, PERF_RECORD_MMAP2, misc);
	put32(b, pid);
	put32(b, pid + 1);
	put64(b, 0x7f0000001000);
	put64(b, 0x2000);
	put64(b, 0x3000);
	put32(b, 254);
	put32(b, 1);
	put64(b, 4711);
	put64(b, 99);
	put32(b, prot);
	put32(b, MAP_PRIVATE);
	put_padded(b, path);
	end(b);
}

static void make_comm(struct buf *b, uint16_t misc, uint32_t pid, const char *comm)
{
	begin(b, PERF_RECORD_COMM, misc);
	put32(b, pid);
	put32(b, pid);
	put_padded(b, comm);
	end(b);
}

static void make_ksymbol(struct buf *b, uint64_t at, uint32_t n_bytes, uint16_t type,
			 uint16_t flags, const char *name)
{
	begin(b, PERF_RECORD_KSYMBOL, 0);
	put64(b, at);
	put32(b, n_bytes);
	put32(b, type | (uint32_t)flags << 16);
	put_padded(b, name);
	end(b);
}

static enum sideband_outcome decode(const struct buf *b, struct process_event *ev, uint32_t *tid)
{
	return sideband_decode(b->data, b->len, ev, tid);
}

struct row {
	const char *name;
	enum sideband_outcome outcome;
	enum process_event_kind kind;
	uint32_t type;
	uint16_t misc;
	uint32_t pid, ppid, tid;
};

static const struct row task_rows[] = {
	{ "fork of a process", SIDEBAND_EVENT, PROCESS_EVENT_FORK, PERF_RECORD_FORK, 0, 10, 9, 10 },
	{ "fork of a thread", SIDEBAND_THREAD_START, PROCESS_EVENT_FORK, PERF_RECORD_FORK, 0, 10,
	  10, 11 },
	{ "exit of a leader", SIDEBAND_THREAD_EXIT, PROCESS_EVENT_EXIT, PERF_RECORD_EXIT, 0, 10, 9,
	  10 },
	{ "exit of a thread", SIDEBAND_THREAD_EXIT, PROCESS_EVENT_EXIT, PERF_RECORD_EXIT, 0, 10, 9,
	  11 },
	{ "fork in another pid namespace", SIDEBAND_SKIPPED, 0, PERF_RECORD_FORK, 0, 0, 9, 0 },
	{ "exit in another pid namespace", SIDEBAND_SKIPPED, 0, PERF_RECORD_EXIT, 0, UINT32_MAX, 9,
	  UINT32_MAX },
	{ "throttle", SIDEBAND_SKIPPED, 0, PERF_RECORD_THROTTLE, 0, 10, 9, 10 },
	{ "unknown type", SIDEBAND_SKIPPED, 0, 999, 0, 10, 9, 10 },
};

static void test_task(void **state)
{
	const struct row *row = *state;
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct process_event ev;
	uint32_t tid = 0;

	make_task(&b, row->type, row->pid, row->ppid, row->tid);
	assert_int_equal(decode(&b, &ev, &tid), row->outcome);
	if (row->outcome == SIDEBAND_SKIPPED)
		return;
	assert_int_equal(ev.kind, row->kind);
	assert_int_equal(ev.pid, row->pid);
	assert_int_equal(ev.parent_pid, row->ppid);
	assert_int_equal(ev.time_ns, TIME_NS);
	assert_int_equal(tid, row->tid);
}

static void test_invisible_parent(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct process_event ev;
	uint32_t tid;

	(void)state;
	make_task(&b, PERF_RECORD_FORK, 10, UINT32_MAX, 10);
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_EVENT);
	assert_int_equal(ev.parent_pid, 0);
}

static void test_comm(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct process_event ev;
	uint32_t tid;

	(void)state;
	make_comm(&b, PERF_RECORD_MISC_COMM_EXEC, 10, "nginx");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_EVENT);
	assert_int_equal(ev.kind, PROCESS_EVENT_EXEC);
	assert_int_equal(ev.pid, 10);
	assert_string_equal(ev.comm, "nginx");
	buf_reset(&b);
	make_comm(&b, 0, 10, "renamed");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_SKIPPED);
	buf_reset(&b);
	make_comm(&b, PERF_RECORD_MISC_COMM_EXEC, 10, "a name longer than any kernel's");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_EVENT);
	assert_string_equal(ev.comm, "a name longer t");
	buf_reset(&b);
	make_comm(&b, PERF_RECORD_MISC_COMM_EXEC, 0, "x");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_SKIPPED);
}

static void test_mmap2(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct process_event ev;
	uint32_t tid;

	(void)state;
	make_mmap2(&b, 0, 10, PROT_READ | PROT_EXEC, "/usr/lib/libc.so.6");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_EVENT);
	assert_int_equal(ev.kind, PROCESS_EVENT_MMAP);
	assert_int_equal(ev.pid, 10);
	assert_int_equal(ev.begin, 0x7f0000001000);
	assert_int_equal(ev.len, 0x2000);
	assert_int_equal(ev.file_off, 0x3000);
	assert_int_equal(ev.dev_major, 254);
	assert_int_equal(ev.dev_minor, 1);
	assert_int_equal(ev.inode, 4711);
	assert_int_equal(ev.inode_generation, 99);
	assert_int_equal(ev.time_ns, TIME_NS);
	assert_string_equal(ev.path, "/usr/lib/libc.so.6");
	buf_reset(&b);
	make_mmap2(&b, 0, 10, PROT_READ, "/data");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_SKIPPED);
	buf_reset(&b);
	make_mmap2(&b, 0, 0, PROT_EXEC, "/x");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_SKIPPED);
	buf_reset(&b);
	make_mmap2(&b, PERF_RECORD_MISC_MMAP_BUILD_ID, 10, PROT_EXEC, "/x");
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_MALFORMED);
}

static void test_mmap(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct process_event ev;
	uint32_t tid;

	(void)state;
	for (unsigned int data = 0; data < 2; data++) {
		buf_reset(&b);
		begin(&b, PERF_RECORD_MMAP, data ? PERF_RECORD_MISC_MMAP_DATA : 0);
		put32(&b, 10);
		put32(&b, 10);
		put64(&b, 0x1000);
		put64(&b, 0x2000);
		put64(&b, 0);
		put_padded(&b, "//anon");
		end(&b);
		assert_int_equal(decode(&b, &ev, &tid), data ? SIDEBAND_SKIPPED : SIDEBAND_EVENT);
	}
	buf_reset(&b);
	begin(&b, PERF_RECORD_MMAP, 0);
	put32(&b, 10);
	put32(&b, 10);
	put64(&b, UINT64_MAX - 4);
	put64(&b, 0x2000);
	put64(&b, 0);
	put_padded(&b, "//anon");
	end(&b);
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_MALFORMED);
}

static void test_lost(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct process_event ev;
	uint32_t tid;

	(void)state;
	begin(&b, PERF_RECORD_LOST, 0);
	put64(&b, 5);
	put64(&b, 77);
	end(&b);
	assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_EVENT);
	assert_int_equal(ev.kind, PROCESS_EVENT_LOST);
	assert_int_equal(ev.lost, 77);
}

/* Any prefix of a record is malformed, with whatever size its header says. */
static void test_cut(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct process_event ev;
	uint32_t tid;

	(void)state;
	make_mmap2(&b, 0, 10, PROT_EXEC, "/usr/lib/libc.so.6");
	for (size_t n = 0; n < b.len; n++) {
		_cleanup_free_ char *copy = malloc(n ? n : 1);

		memcpy(copy, b.data, n);
		assert_int_equal(sideband_decode(copy, n, &ev, &tid), SIDEBAND_MALFORMED);
		if (n < sizeof(struct perf_event_header))
			continue;
		((struct perf_event_header *)copy)->size = (uint16_t)n;
		/* 72 bytes of fields, the path's first byte and the trailer are the least; no NUL
		 * before its end. */
		assert_int_equal(sideband_decode(copy, n, &ev, &tid),
				 n < 72 + 16 + strlen("/usr/lib/libc.so.6") + 1 ? SIDEBAND_MALFORMED
										: SIDEBAND_EVENT);
	}
}

static void test_bodies_cut(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_FORK, PERF_RECORD_EXIT,  PERF_RECORD_COMM,
					  PERF_RECORD_MMAP, PERF_RECORD_MMAP2, PERF_RECORD_LOST };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1024);
		struct process_event ev;
		uint32_t tid;

		begin(&b, types[i], 0);
		end(&b);
		assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_MALFORMED);
	}
}

static const struct {
	uint16_t type, flags;
	enum kernel_text_kind kind;
	bool is_gone;
} ksymbol_rows[] = {
	{ PERF_RECORD_KSYMBOL_TYPE_BPF, 0, KERNEL_TEXT_BPF, false },
	{ PERF_RECORD_KSYMBOL_TYPE_BPF, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, KERNEL_TEXT_BPF,
	  true },
	{ PERF_RECORD_KSYMBOL_TYPE_OOL, 0, KERNEL_TEXT_OUT_OF_LINE, false },
};

static void test_kernel_text(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct kernel_text_change change;
	struct process_event ev;
	const char *name;
	uint32_t tid;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ksymbol_rows); i++) {
		buf_reset(&b);
		make_ksymbol(&b, 0xffffffffc0001000, 300, ksymbol_rows[i].type,
			     ksymbol_rows[i].flags, "bpf_prog_1_x");
		assert_int_equal(decode(&b, &ev, &tid), SIDEBAND_KERNEL_TEXT);
		assert_true(sideband_decode_kernel_text(b.data, b.len, &change, &name));
		assert_int_equal(change.begin, 0xffffffffc0001000);
		assert_int_equal(change.n_bytes, 300);
		assert_int_equal(change.time_ns, TIME_NS);
		assert_int_equal(change.kind, ksymbol_rows[i].kind);
		assert_int_equal(change.is_gone, ksymbol_rows[i].is_gone);
		assert_string_equal(name, "bpf_prog_1_x");
	}
}

/* As the kernel writes it for who comes second. */
static void test_kernel_text_with_room_behind(void **state)
{
	static const size_t n_behind[] = { 16, 32, 8 };
	struct kernel_text_change change;
	const char *name;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(n_behind); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1024);
		bool is_whole = n_behind[i] % 16 == 0;

		make_ksymbol(&b, 0xffffffffc0001000, 300, PERF_RECORD_KSYMBOL_TYPE_BPF, 0,
			     "bpf_prog_1_abcd");
		for (size_t n = 0; n < n_behind[i]; n++)
			(void)buf_append_char(&b, '\0');
		((struct perf_event_header *)b.data)->size = (uint16_t)b.len;
		assert_int_equal(sideband_decode_kernel_text(b.data, b.len, &change, &name),
				 is_whole);
		if (is_whole)
			assert_int_equal(change.time_ns, TIME_NS);
	}
}

static void test_malformed_kernel_text(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	struct kernel_text_change change;
	const char *name;

	(void)state;
	make_ksymbol(&b, UINT64_MAX - 10, 300, 1, 0, "around the end of memory");
	assert_false(sideband_decode_kernel_text(b.data, b.len, &change, &name));
	buf_reset(&b);
	make_ksymbol(&b, 0xffffffffc0001000, 300, 1, 0, "");
	assert_false(sideband_decode_kernel_text(b.data, b.len, &change, &name));
	buf_reset(&b);
	make_task(&b, PERF_RECORD_FORK, 10, 9, 10);
	assert_false(sideband_decode_kernel_text(b.data, b.len, &change, &name));
	buf_reset(&b);
	begin(&b, PERF_RECORD_KSYMBOL, 0);
	put64(&b, 1);
	end(&b);
	assert_false(sideband_decode_kernel_text(b.data, b.len, &change, &name));
}

static const struct unit_test tests[] = {
	TEST_ROWS(test_task, task_rows, name),
	TEST(test_invisible_parent),
	TEST(test_comm),
	TEST(test_mmap2),
	TEST(test_mmap),
	TEST(test_lost),
	TEST(test_cut),
	TEST(test_bodies_cut),
	TEST(test_kernel_text),
	TEST(test_kernel_text_with_room_behind),
	TEST(test_malformed_kernel_text),
};

TEST_MAIN(tests)
