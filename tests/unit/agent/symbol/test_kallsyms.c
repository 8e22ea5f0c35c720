/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbols: rows of /proc/kallsyms, however they are cut, and this kernel's own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/symbol/kallsyms.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

static struct kallsyms *parse(const char *text, size_t step)
{
	struct kallsyms_parser *parser = NULL;
	struct kallsyms *k = NULL;
	size_t n = strlen(text);

	assert_int_equal(kallsyms_parser_new(KALLSYMS_MAX_BYTES, &parser), 0);
	for (size_t at = 0; at < n; at += step)
		assert_int_equal(kallsyms_parser_feed(parser, text + at, MIN_OF(step, n - at)), 0);
	assert_int_equal(kallsyms_parser_finish_take(parser, &k), 0);
	return k;
}

#define BASE 0xffffffff81000000UL
#define LATE 0xffffffffc0000000UL
#define KERNEL                                       \
	"ffffffff81000000 T _stext\n"                \
	"ffffffff81000000 T _text\n"                 \
	"ffffffff81000000 T startup_64\n"            \
	"ffffffff81000100 t local_function.isra.0\n" \
	"ffffffff81000200 W weak_function\n"         \
	"ffffffff81000200 t a_local_alias\n"         \
	"ffffffff81000300 T __x64_sys_read\n"        \
	"ffffffff81000400 T _etext\n"                \
	"ffffffff82000000 D some_data\n"             \
	"ffffffff82000100 b some_bss\n"              \
	"0000000000000000 A fixed_percpu_data\n"
#define MODULES                                                              \
	"ffffffffc0200000 t nf_tables_init\t[nf_tables]\n"                   \
	"ffffffffc0200080 T nft_do_chain\t[nf_tables]\n"                     \
	"ffffffffc0100000 t other_module\t[other]\n"                         \
	"ffffffffc0300000 t bpf_prog_6deef7357e7b4530_sd_fw_egress\t[bpf]\n" \
	"ffffffffc0300100 t bpf_prog_0123456789abcdef_x\t[bpf]\n"

struct row {
	const char *name;
	const char *text;
	uint64_t pc;
	const char *function; /* NULL: none */
	const char *module;
};

static struct row rows[] = {
	{ "aliases: fewest underscores", KERNEL, 0xffffffff81000000, "startup_64", "" },
	{ "inside of a function", KERNEL, 0xffffffff810000ff, "startup_64", "" },
	{ "next function", KERNEL, 0xffffffff81000100, "local_function.isra.0", "" },
	{ "aliases: weak before local", KERNEL, 0xffffffff81000200, "weak_function", "" },
	{ "last before the end of text", KERNEL, 0xffffffff810003ff, "__x64_sys_read", "" },
	{ "end of text", KERNEL, 0xffffffff81000400, NULL, NULL },
	{ "data", KERNEL, 0xffffffff82000000, NULL, NULL },
	{ "below everything", KERNEL, 0xffffffff80ffffff, NULL, NULL },
	{ "zero", KERNEL, 0, NULL, NULL },
	{ "module", KERNEL MODULES, 0xffffffffc0200090, "nft_do_chain", "nf_tables" },
	{ "module that comes later in memory than in text", KERNEL MODULES, 0xffffffffc0100010,
	  "other_module", "other" },
	{ "bpf program", KERNEL MODULES, 0xffffffffc0300001,
	  "bpf_prog_6deef7357e7b4530_sd_fw_egress", "bpf" },
	{ "last bpf program", KERNEL MODULES, 0xffffffffc0300100 + KALLSYMS_MAX_LAST_BYTES - 1,
	  "bpf_prog_0123456789abcdef_x", "bpf" },
	{ "far behind the last", KERNEL MODULES, 0xffffffffc0300100 + KALLSYMS_MAX_LAST_BYTES, NULL,
	  NULL },
	{ "hole between modules", KERNEL MODULES, 0xffffffffc0180000, NULL, NULL },
	{ "no newline at the end", "ffffffff81000000 T f", 0xffffffff81000010, "f", "" },
	{ "carriage of another kind", "ffffffff81000000 T f\t \nffffffff81000010 T g\n",
	  0xffffffff81000000, "f", "" },
	{ "arm64: 4 GiB apart",
	  "ffff800080000000 T _start\nffff800080000100 T f\nffffa00000000000 t "
	  "bpf_prog_x\t[bpf]\nffffc00000000000 t bpf_prog_y\t[bpf]\n",
	  0xffffa00000000020, "bpf_prog_x", "bpf" },
	{ "arm64: the kernel below it",
	  "ffff800080000000 T _start\nffff800080000100 T f\nffffa00000000000 t "
	  "bpf_prog_x\t[bpf]\nffffc00000000000 t bpf_prog_y\t[bpf]\n",
	  0xffff800080000100, "f", "" },
	{ "garbage lines are skipped",
	  "hello\n\n T x\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
	  "zzzz T z\nffffffff81000000  T y\n11111111111111111 T long\nffffffff81000000 T good\n",
	  0xffffffff81000000, "good", "" },
	{ "no letters but ASCII", "ffffffff81000000 T a\xc3\xa4\x01z\n", 0xffffffff81000000,
	  "a???z", "" },
	{ "padding is part of what is before it",
	  "ffffffff81000000 T f\nffffffff810000f0 t __pfx_g\nffffffff81000100 T g\n",
	  0xffffffff810000f0, "f", "" },
	{ "empty module", "ffffffff81000000 T f\t[]\n", 0xffffffff81000000, "f", "" },
	{ "highest address", "ffffffffffffff00 T f\n", UINT64_MAX - 1, "f", "" },
	{ "better alias comes last and first",
	  "ffffffff81000000 t __a\nffffffff81000000 T b\nffffffff81000000 t c\nffffffff81000100 T "
	  "d\n",
	  0xffffffff81000000, "b", "" },
	{ "name after an alias",
	  "ffffffff81000000 t __a\nffffffff81000000 T b\nffffffff81000000 t c\nffffffff81000100 T "
	  "d\n",
	  0xffffffff81000100, "d", "" },
};

static void finds(void **state)
{
	const struct row *row = *state;
	static const size_t steps[] = { 1, 7, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct kallsyms *k = parse(row->text, steps[i]);
		struct kallsyms_symbol symbol = { 0 };

		assert_int_equal(kallsyms_find(k, row->pc, &symbol), row->function != NULL);
		if (row->function) {
			assert_string_equal(symbol.name, row->function);
			assert_string_equal(symbol.module, row->module);
			assert_true(symbol.begin <= row->pc && row->pc < symbol.end);
		}
		kallsyms_free(k);
	}
}

static void hidden_addresses(void **state)
{
	static const char *const texts[] = {
		"",
		"0000000000000000 T _text\n0000000000000000 t f\n0000000000000000 t "
		"g\t[nf_tables]\n",
		"ffffffff82000000 D only_data\n",
	};
	struct kallsyms_symbol symbol;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct kallsyms *k = parse(texts[i], 4096);

		assert_int_equal(kallsyms_state(k), KALLSYMS_HIDDEN);
		assert_int_equal(kallsyms_n_symbols(k), 0);
		assert_null(kallsyms_module(k, 0));
		assert_false(kallsyms_find(k, 0xffffffff81000000, &symbol));
		kallsyms_free(k);
	}
	struct kallsyms *k = NULL;
	assert_int_equal(kallsyms_load("/nonexistent/kallsyms", KALLSYMS_MAX_BYTES, &k), 0);
	assert_int_equal(kallsyms_state(k), KALLSYMS_HIDDEN);
	kallsyms_free(k);
}

static void modules_are_listed_once(void **state)
{
	struct kallsyms *k = parse(KERNEL MODULES, 4096);

	(void)state;
	assert_string_equal(kallsyms_module(k, 0), "");
	assert_string_equal(kallsyms_module(k, 1), "nf_tables");
	assert_string_equal(kallsyms_module(k, 2), "other");
	assert_string_equal(kallsyms_module(k, 3), "bpf");
	assert_null(kallsyms_module(k, 4));
	assert_int_equal(kallsyms_n_symbols(k), 10);
	kallsyms_free(k);
}

static void long_lines_are_skipped(void **state)
{
	char text[3 * KALLSYMS_MAX_LINE_BYTES];
	struct kallsyms_symbol symbol;
	int n = snprintf(text, sizeof(text), "ffffffff81000000 T ");

	(void)state;
	memset(text + n, 'x', 2 * KALLSYMS_MAX_LINE_BYTES);
	strcpy(text + n + 2 * KALLSYMS_MAX_LINE_BYTES, "\nffffffff81000100 T g\n");
	for (size_t step = 1; step < sizeof(text); step *= 8) {
		struct kallsyms *k = parse(text, step);

		assert_int_equal(kallsyms_n_symbols(k), 1);
		assert_true(kallsyms_find(k, 0xffffffff81000100, &symbol));
		assert_string_equal(symbol.name, "g");
		kallsyms_free(k);
	}
}

/* Functions f0, f1 … of the kernel, 16 bytes each, and one of a module far behind them. */
static struct kallsyms *parse_many(size_t n, size_t max_bytes)
{
	struct kallsyms_parser *parser = NULL;
	struct kallsyms *k = NULL;
	char line[64];

	assert_int_equal(kallsyms_parser_new(max_bytes, &parser), 0);
	for (size_t i = 0; i < n; i++) {
		int len = snprintf(line, sizeof(line), "%lx t f%zu\n", BASE + 16 * i, i);

		assert_int_equal(kallsyms_parser_feed(parser, line, (size_t)len), 0);
	}
	int len = snprintf(line, sizeof(line), "%lx t late\t[m]\n", LATE);
	assert_int_equal(kallsyms_parser_feed(parser, line, (size_t)len), 0);
	assert_int_equal(kallsyms_parser_finish_take(parser, &k), 0);
	return k;
}

static void every_name_is_unpacked(void **state)
{
	enum { N = 20000 };
	struct kallsyms *k = parse_many(N, KALLSYMS_MAX_BYTES);
	struct kallsyms_symbol symbol;
	char name[32];

	(void)state;
	assert_int_equal(kallsyms_n_symbols(k), N + 1);
	assert_int_equal(kallsyms_n_skipped(k), 0);
	for (size_t step = 1; step < N; step = step * 7 + 1)
		for (size_t i = 0; i < N; i += step) {
			assert_true(kallsyms_find(k, BASE + 16 * i + 15, &symbol));
			(void)snprintf(name, sizeof(name), "f%zu", i);
			assert_string_equal(symbol.name, name);
		}
	/* Look-ups need some memory, which can be given back at any time. */
	size_t bytes = kallsyms_bytes(k);
	kallsyms_rest(k);
	assert_true(kallsyms_bytes(k) < bytes);
	assert_true(kallsyms_find(k, BASE + 16, &symbol));
	assert_string_equal(symbol.name, "f1");
	kallsyms_free(k);
}

static void what_has_no_room_has_no_name(void **state)
{
	enum { N = 100000 };

	(void)state;
	for (size_t max_bytes = 0; max_bytes <= 512 * 1024; max_bytes += 64 * 1024) {
		struct kallsyms *k = parse_many(N, max_bytes);
		struct kallsyms_symbol symbol;
		size_t n_found = 0;
		char name[32];

		for (size_t i = 0; i < N; i++) {
			if (!kallsyms_find(k, BASE + 16 * i, &symbol))
				continue;
			(void)snprintf(name, sizeof(name), "f%zu", i);
			assert_string_equal(symbol.name, name);
			n_found++;
		}
		n_found += kallsyms_find(k, LATE, &symbol);
		kallsyms_rest(k);
		assert_int_equal(n_found + kallsyms_n_skipped(k), N + 1);
		/* Batches of 4096, and what an empty index takes. */
		assert_true(kallsyms_bytes(k) <= max_bytes + 4096);
		assert_true(max_bytes == 0 ? n_found == 0 : n_found >= max_bytes / 16);
		assert_true(max_bytes < 512 * 1024 || n_found >= 40000);
		kallsyms_free(k);
	}
}

static void ceiling_of_symbols(void **state)
{
	struct kallsyms *k = parse_many(KALLSYMS_MAX_SYMBOLS + 8192, SIZE_MAX);

	(void)state;
	assert_true(kallsyms_n_symbols(k) <= KALLSYMS_MAX_SYMBOLS + 1);
	assert_true(kallsyms_n_skipped(k) >= 8192);
	kallsyms_free(k);
}

/* As many as fit, however long they are. */
static void names_without_end(void **state)
{
	struct kallsyms_parser *parser = NULL;
	struct kallsyms *k = NULL;
	char line[KALLSYMS_MAX_LINE_BYTES];

	(void)state;
	assert_int_equal(kallsyms_parser_new((size_t)1 << 20, &parser), 0);
	for (size_t n = 0; n < 20000; n++) {
		int len = snprintf(line, sizeof(line), "%016lx t ", BASE + n);

		for (size_t i = (size_t)len; i < sizeof(line) - 1; i++)
			line[i] = (char)('!' + (i * 7919 + n * 104729 + i * n) % 90);
		line[sizeof(line) - 1] = '\n';
		assert_int_equal(kallsyms_parser_feed(parser, line, sizeof(line)), 0);
	}
	assert_int_equal(kallsyms_parser_finish_take(parser, &k), 0);
	assert_true(kallsyms_n_skipped(k) > 0);
	assert_true(kallsyms_bytes(k) <= ((size_t)3 << 20));
	kallsyms_free(k);
}

static void any_order(void **state)
{
	/* Two modules' symbols one by one, descending: nothing follows anything. */
	struct kallsyms_parser *parser = NULL;
	struct kallsyms *k = NULL;
	struct kallsyms_symbol symbol;
	char line[64];

	(void)state;
	assert_int_equal(kallsyms_parser_new(KALLSYMS_MAX_BYTES, &parser), 0);
	for (size_t i = 1000; i-- > 0;) {
		int len = snprintf(line, sizeof(line), "%lx t f%zu\t[%c]\n", BASE + 16 * i, i,
				   i % 3 ? 'a' : 'b');

		assert_int_equal(kallsyms_parser_feed(parser, line, (size_t)len), 0);
	}
	assert_int_equal(kallsyms_parser_finish_take(parser, &k), 0);
	for (size_t i = 0; i < 1000; i++) {
		assert_true(kallsyms_find(k, BASE + 16 * i + 3, &symbol));
		(void)snprintf(line, sizeof(line), "f%zu", i);
		assert_string_equal(symbol.name, line);
		assert_string_equal(symbol.module, i % 3 ? "a" : "b");
	}
	kallsyms_free(k);
}

static void of_this_kernel(void **state)
{
	struct kallsyms *k = NULL;
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024];
	size_t n_checked = 0;

	(void)state;
	assert_int_equal(kallsyms_load("/proc/kallsyms", KALLSYMS_MAX_BYTES, &k), 0);
	if (!f || kallsyms_state(k) == KALLSYMS_HIDDEN) {
		if (f)
			(void)fclose(f);
		kallsyms_free(k);
		printf("skip: kernel addresses are hidden\n");
		skip();
	}
	/* Every function that has an address to itself is found under its name. */
	uint64_t last = 0;
	char last_name[1024] = "";
	while (fgets(line, sizeof(line), f)) {
		struct kallsyms_symbol symbol;
		struct str rest = str_from(line);
		struct str name;
		uint64_t address;

		if (str_scan_u64(&rest, 16, UINT64_MAX, &address) < 0 || !strchr("tTwW", rest.p[1]))
			continue;
		rest = (struct str){ rest.p + 3, rest.n - 3 };
		assert_true(str_split(&rest, rest.p && memchr(rest.p, '\t', rest.n) ? '\t' : '\n',
				      &name));
		/* Padding has no name of its own. */
		if (str_starts_with(name, STR_LIT("__pfx_")) ||
		    str_starts_with(name, STR_LIT("__cfi_")))
			continue;
		if (last && address != last && last_name[0] && strcmp(last_name, "_etext") != 0 &&
		    strcmp(last_name, "_einittext") != 0) {
			assert_true(kallsyms_find(k, last, &symbol));
			assert_string_equal(symbol.name, last_name);
			n_checked++;
		}
		bool alias = address == last;
		last = address;
		(void)snprintf(last_name, sizeof(last_name), "%.*s", alias ? 0 : (int)name.n,
			       name.p);
	}
	(void)fclose(f);
	assert_true(n_checked > 1000);
	printf("kallsyms: %zu symbols, %zu KiB\n", kallsyms_n_symbols(k), kallsyms_bytes(k) / 1024);
	kallsyms_free(k);
}

static const struct unit_test tests[] = {
	TEST_ROWS(finds, rows, name),
	TEST(hidden_addresses),
	TEST(modules_are_listed_once),
	TEST(long_lines_are_skipped),
	TEST(ceiling_of_symbols),
	TEST(names_without_end),
	TEST(every_name_is_unpacked),
	TEST(what_has_no_room_has_no_name),
	TEST(any_order),
	TEST(of_this_kernel),
};

TEST_MAIN(tests)
