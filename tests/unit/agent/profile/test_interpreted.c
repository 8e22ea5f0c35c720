/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a runtime on its way into an interval: by the name that was told, by the process's memory, or by why it has none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* Runtimes of this test's own. */
#define RUNTIMES(X, what) X(what, QUIET, quiet) X(what, TALKING, talking)

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/profile/session_private.h"
#include "agent/util/macro.h"

#define MAX_READS 32	 /* a round */
#define MAX_READS_EACH 8 /* … and process */

/* As it lies in the memory of a process: this one. */
struct function {
	uint32_t print;
	uint32_t line;
	char name[16];
};

static bool talking_resolve(const struct wire_runtime *of, const struct runtime_memory *memory,
			    uint64_t function, uint32_t print, char *buf, size_t n_buf,
			    struct code_text *ret_text)
{
	struct function f;

	/* Nothing was published. */
	assert_null(of);
	assert_true(n_buf >= sizeof(f.name));
	if (memory->read(memory->data, function, &f, sizeof(f)) < 0 || f.print != print)
		return false;
	memcpy(buf, f.name, sizeof(f.name));
	*ret_text = (struct code_text){
		.name = buf, .n_name = strnlen(buf, sizeof(f.name)), .file = "", .line = f.line
	};
	return true;
}

static uint32_t talking_line(const struct runtime_lines *lines, uint32_t position)
{
	return lines->first_line + (lines->n ? lines->table[0] : position);
}

static uint32_t talking_column(uint32_t position)
{
	return position * 10;
}

static size_t talking_unnamed(const struct code_text *text, char *to, size_t n_to)
{
	return (size_t)snprintf(to, n_to, "at %u", text->line);
}

/* Of a source, which lies where the function does. */
struct source {
	int error;
	char scope[16];
};

static unsigned int n_sources_read;

static int talking_read_source(const struct wire_runtime *of, const struct runtime_memory *memory,
			       const struct source_function *f, struct source_facts *ret_facts)
{
	struct source s;

	assert_null(of);
	n_sources_read++;
	assert_int_equal(memory->read(memory->data, f->address, &s, sizeof(s)), 0);
	if (s.error)
		return s.error;
	*ret_facts = (struct source_facts){ strdup(s.scope), sizeof(s.scope) };
	assert_non_null(ret_facts->bytes);
	return 0;
}

static size_t talking_name_in_source(const struct source_facts *facts,
				     const struct source_function *f, const struct code_text *text,
				     char *to, size_t n_to)
{
	if (f->begin != 7)
		return 0;
	return (size_t)snprintf(to, n_to, "%s.%.*s", (const char *)facts->bytes, (int)text->n_name,
				text->name);
}

static const char *talking_source_id(const struct source_facts *facts)
{
	const char *scope = facts->bytes;

	return scope[0] == 'C' ? scope + 1 : NULL;
}

static const struct runtime quiet = { .kind = RUNTIME_QUIET, .name = "quiet" };
static const struct runtime talking = { .kind = RUNTIME_TALKING,
					.name = "talking",
					.resolve = talking_resolve,
					.line = talking_line,
					.column = talking_column,
					.unnamed = talking_unnamed,
					.read_source = talking_read_source,
					.source_id = talking_source_id,
					.name_in_source = talking_name_in_source };

const struct runtime *runtime_of(uint32_t kind)
{
	return kind == RUNTIME_QUIET ? &quiet : kind == RUNTIME_TALKING ? &talking : NULL;
}

bool runtime_detect(const struct elf *elf, struct runtime_file *ret_file)
{
	(void)elf;
	(void)ret_file;
	return false;
}

bool runtime_is_any(void)
{
	return true;
}

static int setup(void **state)
{
	struct session *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*state = s;
	assert_int_equal(telemetry_new(&s->options.telemetry), 0);
	assert_int_equal(code_names_new((size_t)1 << 20, NULL, &s->runtimes.code_names), 0);
	s->source_names.table.max_bytes = (size_t)1 << 20;
	assert_int_equal(runtime_tables_new(&(struct runtime_tables_options){ -1, -1, -1 },
					    &s->runtimes.tables),
			 0);
	assert_int_equal(interval_new(1, (size_t)1 << 20, &s->interval), 0);
	n_sources_read = 0;
	s->options.lines = true;
	s->reading.n_rounds = 1;
	return 0;
}

static int teardown(void **state)
{
	struct session *s = *state;

	interval_free(s->interval);
	runtime_tables_free(s->runtimes.tables);
	source_table_clear(&s->source_names.table);
	code_names_free(s->runtimes.code_names);
	telemetry_free(s->options.telemetry);
	free(s);
	return 0;
}

static uint64_t word_of(uint32_t kind, uint64_t address)
{
	return WIRE_FRAME_RUNTIME | (uint64_t)kind << WIRE_RUNTIME_KIND_SHIFT | address;
}

/* Of a process whose memory is ours, whoever it is taken for. */
static struct frame_ref frame_of_known(struct session *s, struct process_state *k, uint64_t word,
				       uint32_t print, uint32_t position)
{
	const struct wire_sample head = { .pid = (uint32_t)getpid(),
					  .tid = (uint32_t)getpid(),
					  .exec_id = 4 };
	struct process p = { .user = k };
	const struct wire_runtime_frame f = { word, print, position };
	struct frame_ref frame = FRAME_REF_NONE;

	assert_int_equal(session_code_frame(s, &p, &head, &f, &frame), 0);
	return frame;
}

static struct frame_ref frame_of(struct session *s, uint64_t word, uint32_t print,
				 uint32_t position)
{
	static struct process_state anybody;

	/* Another one in each round of another test. */
	if (s->name_reads.n == 0)
		anybody = (struct process_state){ 0 };
	return frame_of_known(s, &anybody, word, print, position);
}

static void check_name(struct session *s, struct frame_ref frame, const char *expected,
		       uint32_t line)
{
	const struct code_place *place = interval_code(s->interval, frame);

	assert_non_null(place);
	assert_string_equal(place->name->function, expected);
	assert_int_equal(place->line, line);
}

static void tell(struct session *s, uint64_t word, uint32_t print, const char *text, uint32_t line)
{
	struct wire_name name = { .function = word,
				  .print = print,
				  .line = line,
				  .pid = (uint32_t)getpid(),
				  .exec_id = 4,
				  .n_name = (uint16_t)strlen(text) };

	memcpy(name.texts, text, strlen(text));
	session_on_name(&name, s);
}

static uint64_t count(const struct session *s, enum telemetry_counter counter)
{
	return telemetry_get(s->options.telemetry, counter);
}

static void test_told(void **state)
{
	const uint64_t word = word_of(RUNTIME_TALKING, 0x1000);
	struct session *s = *state;

	tell(s, word, 9, "f", 100);
	struct frame_ref frame = frame_of(s, word, 9, 5);
	check_name(s, frame, "f", 105);
	assert_true(frame_ref_equal(frame, frame_of(s, word, 9, 5)));
	assert_false(frame_ref_equal(frame, frame_of(s, word, 9, 6)));
	assert_int_equal(count(s, TELEMETRY_code_names_read), 0);
	assert_int_equal(count(s, TELEMETRY_code_names_missing), 0);
}

static void test_lines(void **state)
{
	const uint64_t talks = word_of(RUNTIME_TALKING, 0x1000),
		       none = word_of(RUNTIME_QUIET, 0x1000);
	struct session *s = *state;

	tell(s, talks, 1, "without_a_line", 0);
	tell(s, talks, 2, "f", 100);
	tell(s, none, 2, "g", 100);
	check_name(s, frame_of(s, talks, 1, 5), "without_a_line", 0);
	/* The runtime cannot tell. */
	check_name(s, frame_of(s, none, 2, 5), "g", 0);
	check_name(s, frame_of(s, talks, 2, 5), "f", 105);
	/* Nobody wants them. */
	s->options.lines = false;
	check_name(s, frame_of(s, talks, 2, 5), "f", 0);
}

static void test_nothing_is_known(void **state)
{
	struct session *s = *state;

	check_name(s, frame_of(s, word_of(RUNTIME_QUIET, 0x1000), 9, 5),
		   "[quiet: name not readable]", 0);
	assert_int_equal(count(s, TELEMETRY_code_names_missing), 1);
	assert_int_equal(count(s, TELEMETRY_code_names_read), 0);
	check_name(s, frame_of(s, word_of(RUNTIME_TALKING, 0), 9, 5),
		   "[talking: frames not readable]", 0);
	assert_int_equal(count(s, TELEMETRY_code_names_missing), 1);
	assert_int_equal(count(s, TELEMETRY_code_names_read), 0);
}

static void test_unknown_runtime(void **state)
{
	static const uint32_t kinds[] = { RUNTIME_NONE, RUNTIME_MAX, WIRE_RUNTIME_KIND_MASK };
	struct session *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct frame_ref frame = frame_of(s, word_of(kinds[i], 0x1000), 9, 5);

		assert_int_equal(frame_ref_kind(frame), FRAME_KIND_UNKNOWN);
	}
	assert_int_equal(s->interval->code.places.n, 0);
}

static void test_read_from_memory(void **state)
{
	static const struct function f = { .print = 9, .line = 100, .name = "read" };
	const uint64_t word = word_of(RUNTIME_TALKING, (uintptr_t)&f);
	struct session *s = *state;

	check_name(s, frame_of(s, word, 9, 5), "read", 105);
	assert_int_equal(count(s, TELEMETRY_code_names_read), 1);
	/* It is known from then on. */
	check_name(s, frame_of(s, word, 9, 6), "read", 106);
	assert_int_equal(count(s, TELEMETRY_code_names_read), 1);
	/* Another function is there by now, or nothing is. */
	check_name(s, frame_of(s, word, 8, 5), "[talking: name not readable]", 0);
	check_name(s, frame_of(s, word_of(RUNTIME_TALKING, 0x10), 9, 5),
		   "[talking: name not readable]", 0);
	assert_int_equal(count(s, TELEMETRY_code_names_read), 3);
	assert_int_equal(count(s, TELEMETRY_code_names_missing), 2);
}

/* Each read may wait for a page: a round has so many, and one process few of them, whether they succeed or not. */
static void test_reads_are_bounded(void **state)
{
	enum { N = 64, N_PROCESSES = 3 };
	static struct function functions[N];
	struct process_state of[N_PROCESSES] = { { 0 } };
	struct session *s = *state;

	for (uint32_t i = 0; i < N; i++)
		(void)snprintf(functions[i].name, sizeof(functions[i].name), "f%u", i);
	for (uint32_t p = 0; p < N_PROCESSES; p++)
		for (uint32_t i = p * 16; i < p * 16 + 16; i++)
			(void)frame_of_known(s, &of[p],
					     word_of(RUNTIME_TALKING, (uintptr_t)&functions[i]), 0,
					     0);
	assert_int_equal(count(s, TELEMETRY_code_names_read), N_PROCESSES * MAX_READS_EACH);
	assert_int_equal(count(s, TELEMETRY_code_names_missing),
			 N_PROCESSES * (16 - MAX_READS_EACH));
	s->reading.n_rounds++;
	check_name(s,
		   frame_of_known(s, &of[0], word_of(RUNTIME_TALKING, (uintptr_t)&functions[N - 1]),
				  0, 0),
		   "f63", 0);
	assert_int_equal(count(s, TELEMETRY_code_names_read), N_PROCESSES * MAX_READS_EACH + 1);
}

/* A function of source number `number`, which has n characters. */
static uint64_t tell_of_source(struct session *s, const struct source *source, uint32_t number,
			       uint32_t n, uint32_t begin)
{
	struct wire_name name = { .function = word_of(RUNTIME_TALKING, (uintptr_t)source),
				  .print = begin,
				  .line = 100,
				  .pid = (uint32_t)getpid(),
				  .exec_id = 4,
				  .n_name = 1,
				  .source = number,
				  .n_source = n,
				  .begin = begin,
				  .end = begin ? begin + 1 : 0,
				  .texts = "f" };

	session_on_name(&name, s);
	return name.function;
}

static void know_self(struct session *s, struct process_state *k)
{
	const struct process_table_options o = { .proc_root = "/nonexistent/proc",
						 .telemetry = s->options.telemetry };

	assert_int_equal(process_table_new(&o, &s->processes.table), 0);
	struct process *p = process_table_get(s->processes.table, (uint32_t)getpid(), "test");
	assert_non_null(p);
	p->user = k;
}

static void forget_self(struct session *s)
{
	process_table_find(s->processes.table, (uint32_t)getpid())->user = NULL;
	process_table_free(s->processes.table);
}

static void check_source_id(struct session *s, struct frame_ref frame, const char *id)
{
	assert_string_equal(interval_code(s->interval, frame)->name->source_id, id);
}

/* What a source is known by has each function of it, whether its name is whole or not. */
static void test_ids_of_sources(void **state)
{
	static const struct source with = { .scope = "Class" }, without = { .scope = "Shop" };
	struct process_state k = { 0 };
	struct session *s = *state;

	know_self(s, &k);
	uint64_t f = tell_of_source(s, &with, 1, 10, 7), g = tell_of_source(s, &without, 2, 10, 7);
	(void)tell_of_source(s, &with, 1, 10, 0);
	assert_int_equal(n_sources_read, 2);
	check_source_id(s, frame_of_known(s, &k, f, 7, 5), "lass");
	check_name(s, frame_of_known(s, &k, f, 0, 5), "f", 105);
	check_source_id(s, frame_of_known(s, &k, f, 0, 5), "lass");
	check_source_id(s, frame_of_known(s, &k, g, 7, 5), "");
	forget_self(s);
}

/* The source is read for the first function of it; what it does not tell of has the name that was sent. */
static void test_names_in_sources(void **state)
{
	static const struct source source = { .scope = "Class" };
	struct process_state k = { 0 };
	struct session *s = *state;

	know_self(s, &k);
	uint64_t f = tell_of_source(s, &source, 1, 10, 7);
	check_name(s, frame_of_known(s, &k, f, 7, 5), "Class.f", 105);
	(void)tell_of_source(s, &source, 1, 10, 8);
	check_name(s, frame_of_known(s, &k, f, 8, 5), "f", 105);
	assert_int_equal(n_sources_read, 1);
	(void)tell_of_source(s, &source, 2, 10, 7);
	assert_int_equal(n_sources_read, 2);
	forget_self(s);
}

static void next_round(struct session *s)
{
	s->reading.n_rounds++;
	session_complete_waiting(s);
}

/* One that is being moved is read in the next rounds, but not in all of them. */
static void test_sources_that_move(void **state)
{
	struct source moves = { .error = -EAGAIN, .scope = "Class" },
		      gone = { .error = -ENOENT, .scope = "Class" };
	struct process_state k = { 0 };
	struct session *s = *state;

	know_self(s, &k);
	uint64_t f = tell_of_source(s, &moves, 1, 10, 7);
	assert_int_equal(n_sources_read, 1);
	check_name(s, frame_of_known(s, &k, f, 7, 5), "f", 105);
	moves.error = 0;
	next_round(s);
	check_name(s, frame_of_known(s, &k, f, 7, 5), "Class.f", 105);
	next_round(s);
	assert_int_equal(n_sources_read, 2);
	(void)tell_of_source(s, &gone, 2, 10, 7);
	assert_int_equal(n_sources_read, 3);
	moves.error = -EAGAIN;
	(void)tell_of_source(s, &moves, 3, 10, 7);
	for (int i = 0; i < 100; i++)
		next_round(s);
	assert_in_range(n_sources_read, 8, 20);
	assert_int_equal(s->source_names.n_waiting, 0);
	forget_self(s);
}

/* So many characters a round, and one source at least. */
static void test_sources_are_bounded(void **state)
{
	static const struct source source = { .scope = "Class" };
	struct process_state k = { 0 };
	struct session *s = *state;

	know_self(s, &k);
	/* What is read of one that is long is missing to the next. */
	(void)tell_of_source(s, &source, 1, 3 * 128 * 1024, 7);
	assert_int_equal(n_sources_read, 1);
	uint64_t f = tell_of_source(s, &source, 2, 1, 7);
	next_round(s);
	next_round(s);
	assert_int_equal(n_sources_read, 1);
	check_name(s, frame_of_known(s, &k, f, 7, 5), "f", 105);
	next_round(s);
	assert_int_equal(n_sources_read, 2);
	check_name(s, frame_of_known(s, &k, f, 7, 5), "Class.f", 105);
	for (uint32_t i = 0; i < 2 * SESSION_MAX_WAITING_NAMES; i++)
		(void)tell_of_source(s, &source, 3 + i, 1, 7);
	assert_int_equal(n_sources_read, 1 + MAX_READS_EACH);
	assert_int_equal(s->source_names.n_waiting, SESSION_MAX_WAITING_NAMES);
	next_round(s);
	assert_int_equal(n_sources_read, 1 + 2 * MAX_READS_EACH);
	forget_self(s);
}

static bool is_in_memory(void *page)
{
	unsigned char is = 0;

	assert_int_equal(mincore(page, WIRE_PAGE_BYTES, &is), 0);
	return is & 1;
}

static void tell_unread(struct session *s, const void *at)
{
	struct wire_name name = { .function = word_of(RUNTIME_TALKING, 0x1000),
				  .pid = (uint32_t)getpid(),
				  .n_name = 1,
				  .unread = (uintptr_t)at,
				  .texts = "f" };

	session_on_name(&name, s);
}

/* Pages that a tick did not find are fetched for the next one: no more of one process than other reads. */
static void test_unread_is_fetched(void **state)
{
	const struct process_table_options o = {
		.proc_root = "/nonexistent/proc",
		.telemetry = ((struct session *)*state)->options.telemetry
	};
	size_t n = (MAX_READS_EACH + 1) * (size_t)WIRE_PAGE_BYTES;
	char *pages = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *last = pages + n - WIRE_PAGE_BYTES;
	struct process_state of = { 0 };
	struct session *s = *state;

	assert_true(pages != MAP_FAILED);
	assert_int_equal(madvise(pages, n, MADV_NOHUGEPAGE), 0);
	assert_int_equal(process_table_new(&o, &s->processes.table), 0);
	/* Of a process that is not known nothing is read. */
	tell_unread(s, pages);
	assert_false(is_in_memory(pages));
	struct process *p = process_table_get(s->processes.table, (uint32_t)getpid(), "test");
	assert_non_null(p);
	p->user = &of;
	for (char *at = pages; at <= last; at += WIRE_PAGE_BYTES)
		tell_unread(s, at + 100);
	assert_true(is_in_memory(pages));
	assert_true(is_in_memory(last - WIRE_PAGE_BYTES));
	assert_false(is_in_memory(last));
	/* In the next round, and both pages that are touched. */
	s->reading.n_rounds++;
	assert_int_equal(munmap(pages, WIRE_PAGE_BYTES), 0);
	tell_unread(s, pages);
	tell_unread(s, last - 100);
	assert_true(is_in_memory(last));
	p->user = NULL;
	process_table_free(s->processes.table);
	assert_int_equal(munmap(pages + WIRE_PAGE_BYTES, n - WIRE_PAGE_BYTES), 0);
}

static void test_reads_of_all_are_bounded(void **state)
{
	enum { N = 2 * MAX_READS };
	static struct function functions[N];
	static struct process_state of[N];
	struct session *s = *state;

	for (uint32_t i = 0; i < N; i++) {
		(void)snprintf(functions[i].name, sizeof(functions[i].name), "g%u", i);
		(void)frame_of_known(s, &of[i], word_of(RUNTIME_TALKING, (uintptr_t)&functions[i]),
				     0, 0);
	}
	assert_int_equal(count(s, TELEMETRY_code_names_read), MAX_READS);
}

static void test_columns(void **state)
{
	const uint64_t talks = word_of(RUNTIME_TALKING, 0x1000),
		       none = word_of(RUNTIME_QUIET, 0x1000);
	struct session *s = *state;

	tell(s, talks, 1, "f", 100);
	tell(s, talks, 2, "without_a_line", 0);
	tell(s, none, 1, "f", 100);
	assert_int_equal(interval_code(s->interval, frame_of(s, talks, 1, 5))->column, 0);
	s->options.columns = true;
	assert_int_equal(interval_code(s->interval, frame_of(s, talks, 1, 5))->column, 50);
	assert_int_equal(interval_code(s->interval, frame_of(s, talks, 2, 5))->column, 0);
	assert_int_equal(interval_code(s->interval, frame_of(s, none, 1, 5))->column, 0);
}

/* Told, and read. */
static void test_without_a_name(void **state)
{
	static const struct function function = { .print = 3, .line = 7 };
	const uint64_t talks = word_of(RUNTIME_TALKING, 0x1000),
		       none = word_of(RUNTIME_QUIET, 0x1000);
	struct session *s = *state;

	tell(s, talks, 1, "", 100);
	tell(s, none, 1, "", 100);
	check_name(s, frame_of(s, talks, 1, 5), "at 100", 105);
	check_name(s, frame_of(s, none, 1, 5), "[no name]", 0);
	check_name(s, frame_of(s, word_of(RUNTIME_TALKING, (uintptr_t)&function), 3, 0), "at 7", 7);
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_told),
		FIXTURE_TEST(test_lines),
		FIXTURE_TEST(test_nothing_is_known),
		FIXTURE_TEST(test_unknown_runtime),
		FIXTURE_TEST(test_read_from_memory),
		FIXTURE_TEST(test_reads_are_bounded),
		FIXTURE_TEST(test_reads_of_all_are_bounded),
		FIXTURE_TEST(test_names_in_sources),
		FIXTURE_TEST(test_sources_that_move),
		FIXTURE_TEST(test_sources_are_bounded),
		FIXTURE_TEST(test_ids_of_sources),
		FIXTURE_TEST(test_unread_is_fetched),
		FIXTURE_TEST(test_columns),
		FIXTURE_TEST(test_without_a_name),
	};

	return cmocka_run_group_tests_name("agent/profile/interpreted", tests, NULL, NULL);
}
