/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol index: its rules on hand-made symbols, and every function of installed programs
 * against nm. */
#include <errno.h>
#include <string.h>

#include "agent/object/names/symtab.h"
#include "agent/object/names/symtab_build.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define GLOBAL 0u
#define WEAK ((uint32_t)1 << SYMTAB_RANK_BINDING_SHIFT)
#define LOCAL ((uint32_t)2 << SYMTAB_RANK_BINDING_SHIFT)
#define UNSIZED SYMTAB_RANK_UNSIZED
#define NOTYPE SYMTAB_RANK_NOTYPE
#define DYNAMIC SYMTAB_REF_DYNAMIC
#define NONE SYMTAB_REF_NONE

struct flat_row {
	const char *name;
	struct symtab_candidate in[8];
	struct symtab_entry out[8];
};

static struct flat_row flat_rows[] = {
	{ "one", { { 0, 16, 1 } }, { { 0, 1 } } },
	{ "two apart", { { 0, 16, 1 }, { 32, 16, 2 } }, { { 0, 1 }, { 32, 2 } } },
	{ "inner, and the outer goes on",
	  { { 0, 100, 1 }, { 10, 20, 2 } },
	  { { 0, 1 }, { 10, 2 }, { 30, 1 } } },
	{ "two levels",
	  { { 0, 100, 1 }, { 10, 50, 2 }, { 20, 10, 3 } },
	  { { 0, 1 }, { 10, 2 }, { 20, 3 }, { 30, 2 }, { 60, 1 } } },
	{ "inner ends where the outer does",
	  { { 0, 30, 1 }, { 10, 20, 2 } },
	  { { 0, 1 }, { 10, 2 } } },
	{ "overlap", { { 0, 50, 1 }, { 40, 50, 2 } }, { { 0, 1 }, { 40, 2 } } },
	{ "next begins where the inner ends",
	  { { 0, 100, 1 }, { 10, 20, 2 }, { 30, 10, 3 } },
	  { { 0, 1 }, { 10, 2 }, { 30, 3 }, { 40, 1 } } },
	{ "aliases stay together", { { 0, 16, 1 }, { 0, 16, 2 } }, { { 0, 1 }, { 0, 2 } } },
	{ "global before weak before local",
	  { { 0, 16, LOCAL | 1 }, { 0, 16, WEAK | 2 }, { 0, 16, GLOBAL | 3 } },
	  { { 0, 3 } } },
	{ "weak before local", { { 0, 16, LOCAL | 1 }, { 0, 16, WEAK | 2 } }, { { 0, 2 } } },
	{ "static table before dynamic", { { 0, 16, DYNAMIC | 1 }, { 0, 16, 2 } }, { { 0, 2 } } },
	{ "dynamic global before static local",
	  { { 0, 16, DYNAMIC | 1 }, { 0, 16, LOCAL | 2 } },
	  { { 0, DYNAMIC | 1 } } },
	{ "sized before unsized", { { 0, 50, UNSIZED | 1 }, { 0, 16, LOCAL | 2 } }, { { 0, 2 } } },
	{ "function before no type",
	  { { 0, 16, NOTYPE | 1 }, { 0, 50, UNSIZED | LOCAL | 2 } },
	  { { 0, 2 }, { 50, NONE } } },
	{ "longer loser goes on",
	  { { 0, 100, LOCAL | 1 }, { 0, 20, GLOBAL | 2 } },
	  { { 0, 2 }, { 20, 1 } } },
	{ "unsized to the end of its section",
	  { { 0, 64, UNSIZED | 1 } },
	  { { 0, 1 }, { 64, NONE } } },
	{ "unsized to the next",
	  { { 0, 64, UNSIZED | 1 }, { 32, 8, 2 } },
	  { { 0, 1 }, { 32, 2 } } },
	{ "unsized inside of a sized one",
	  { { 0, 64, 1 }, { 32, 64, UNSIZED | 2 } },
	  { { 0, 1 } } },
	{ "unsized behind a sized one",
	  { { 0, 32, 1 }, { 32, 64, UNSIZED | 2 } },
	  { { 0, 1 }, { 32, 2 }, { 96, NONE } } },
	{ "unsized, end of section, next section",
	  { { 0, 16, UNSIZED | 1 }, { 32, 16, 2 } },
	  { { 0, 1 }, { 16, NONE }, { 32, 2 } } },
	{ "no type inside of a function", { { 0, 64, 1 }, { 8, 8, NOTYPE | 2 } }, { { 0, 1 } } },
	{ "no type in a hole",
	  { { 0, 8, 1 }, { 8, 8, NOTYPE | UNSIZED | 2 } },
	  { { 0, 1 }, { 8, 2 }, { 16, NONE } } },
	{ "at the end of all addresses", { { UINT32_MAX - 4, 4, 1 } }, { { UINT32_MAX - 4, 1 } } },
};

static size_t n_in(const struct flat_row *row)
{
	size_t n = 0;

	while (n < ARRAY_SIZE(row->in) && row->in[n].size_bytes)
		n++;
	return n;
}

static void lays_flat(void **state)
{
	const struct flat_row *row = *state;
	struct symtab_candidate in[8], scratch[8];
	struct symtab_entry *entries = NULL;
	size_t n = 0;
	size_t n_out = 0;

	memcpy(in, row->in, sizeof(in));
	while (n_out < ARRAY_SIZE(row->out) && row->out[n_out].ref)
		n_out++;
	assert_int_equal(
		symtab_flatten(symtab_sort(in, scratch, n_in(row)), n_in(row), &entries, &n), 0);
	assert_int_equal(n, n_out);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(entries[i].start, row->out[i].start);
		assert_int_equal(entries[i].ref, row->out[i].ref);
	}
	free(entries);
}

static void sorts_and_keeps_order(void **state)
{
	enum { N = 5000 };
	struct symtab_candidate *v = calloc(N, sizeof(*v));
	struct symtab_candidate *scratch = calloc(N, sizeof(*v));
	uint32_t random = 1;

	(void)state;
	assert_non_null(v);
	assert_non_null(scratch);
	for (uint32_t i = 0; i < N; i++) {
		random = random * 1664525 + 1013904223;
		v[i] = (struct symtab_candidate){ i % 3 ? random : 77, 1, i };
	}
	struct symtab_candidate *sorted = symtab_sort(v, scratch, N);
	for (size_t i = 1; i < N; i++) {
		assert_true(sorted[i - 1].start <= sorted[i].start);
		if (sorted[i - 1].start == sorted[i].start)
			assert_true(sorted[i - 1].rank < sorted[i].rank);
	}
	free(v);
	free(scratch);
}

static void ceilings_of_flattening(void **state)
{
	enum { N = 200 };
	struct symtab_candidate in[N];
	struct symtab_entry *entries = NULL;
	size_t n = 0;

	(void)state;
	/* As many names for one address as identical code folding makes. */
	for (uint32_t i = 0; i < N; i++)
		in[i] = (struct symtab_candidate){ 64, 16, i + 1 };
	assert_int_equal(symtab_flatten(in, N, &entries, &n), 0);
	assert_int_equal(n, SYMTAB_MAX_ALIASES);
	free(entries);
	/* Symbols inside of symbols, deeper than the sweep remembers: still in order, every one
	 * there. */
	for (uint32_t i = 0; i < N; i++)
		in[i] = (struct symtab_candidate){ i, 2 * (N - i), i + 1 };
	assert_int_equal(symtab_flatten(in, N, &entries, &n), 0);
	assert_true(n >= N);
	for (size_t i = 1; i < n; i++)
		assert_true(entries[i - 1].start <= entries[i].start);
	free(entries);
}

/* "-" when there is none. */
static const char *name_at(const struct symtab *symtab, const struct bytes *bytes, uint64_t vaddr,
			   struct buf *name)
{
	struct symtab_symbol symbol;
	uint32_t entry;

	buf_reset(name);
	if (symtab_locate(symtab, vaddr, &entry) != 0 ||
	    symtab_symbol(symtab, bytes, entry, &symbol) != 0 || vaddr < symbol.begin ||
	    vaddr >= symbol.end || symtab_name(symtab, bytes, &symbol, name) != 0)
		return "-";
	return buf_str(name);
}

static const char assembly[] = "	.text\n"
			       "	.globl begin, sized, _sized, ifunc_like, outer, inner\n"
			       "	.type begin, @function\n"
			       "begin:	.skip 16\n" /* 0: unsized function, to the next */
			       "	.type sized, @function\n"
			       "	.type _sized, @function\n"
			       "	.type local_sized, @function\n"
			       "	.weak weak_sized\n"
			       "	.type weak_sized, @function\n"
			       "_sized:\nsized:\nlocal_sized:\nweak_sized:	.skip 16\n" /* 16 */
			       "	.size sized, 16\n	.size _sized, 16\n	.size "
			       "local_sized, 16\n	.size weak_sized, 16\n"
			       "	.skip 16\n" /* 32: hole */
			       "	.type outer, @function\n"
			       "outer:	.skip 16\n" /* 48 */
			       "	.type inner, @function\n"
			       "inner:	.skip 16\n" /* 64 */
			       "	.size inner, 16\n"
			       "	.skip 16\n" /* 80: outer again */
			       "	.size outer, 48\n"
			       "label:	.skip 16\n" /* 96: no type */
			       "	.type ifunc_like, @gnu_indirect_function\n"
			       "ifunc_like:	.skip 16\n	.size ifunc_like, 16\n" /* 112 */
			       "$x:	.skip 16\n" /* 128: mapping symbol */
			       "	.globl versioned\n"
			       "	.type versioned, @function\n"
			       "versioned:	.skip 16\n	.size versioned, 16\n" /* 144 */
			       "	.type last, @function\n"
			       "last:	.skip 16\n" /* 160: unsized, to the end of .text */
			       "	.section .other, \"ax\"\n"
			       "	.type other, @function\n"
			       "	.skip 16\n"
			       "other:	.skip 16\n	.size other, 16\n"
			       "	.data\n"
			       "	.type in_data, @function\n"
			       "in_data:	.skip 16\n	.size in_data, 16\n";

struct address_row {
	const char *symbol; /* nm's address of it … */
	int distance;	    /* … and this much further */
	const char *expected;
};

static const struct address_row address_rows[] = {
	{ "begin", 0, "begin" },   { "begin", 15, "begin" },
	{ "sized", 0, "sized" },   { "sized", 15, "sized" },
	{ "sized", 16, "-" },	   { "sized", 31, "-" },
	{ "outer", 0, "outer" },   { "outer", 16, "inner" },
	{ "outer", 31, "inner" },  { "outer", 32, "outer" },
	{ "outer", 47, "outer" },  { "label", 0, "label" },
	{ "label", 15, "label" },  { "ifunc_like", 8, "ifunc_like" },
	{ "ifunc_like", 16, "-" }, { "versioned", 0, "versioned" },
	{ "last", 0, "last" },	   { "last", 15, "last" },
	{ "last", 16, "-" },	   { "other", -1, "-" },
	{ "other", 0, "other" },   { "other", 16, "-" },
	{ "in_data", 0, "-" },	   { "begin", -1, "-" },
};

static void rules_in_a_file(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	struct symtab *symtab = NULL;
	struct buf name = BUF_INIT(SYMTAB_MAX_NAME_BYTES);
	char text[sizeof(assembly)], path[FIXTURE_PATH_BYTES], command[128];

	(void)state;
	memcpy(text, assembly, sizeof(text));
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "a.s", text));
	if (!fixture_run(&dir, "gcc -shared -nostdlib -Wl,-Ttext=0x10000 "
			       "-Wl,--section-start=.other=0x20000 -o a.so a.s")) {
		fixture_dir_fini(&dir);
		printf("skip: no gcc\n");
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "a.so", path), &file), 0);
	assert_int_equal(symtab_new(file.elf, &symtab), 0);
	for (size_t i = 0; i < ARRAY_SIZE(address_rows); i++) {
		const struct address_row *row = &address_rows[i];

		(void)snprintf(command, sizeof(command), "nm a.so | grep ' . %s$'", row->symbol);
		uint64_t vaddr = fixture_hex(&dir, command) + (uint64_t)(int64_t)row->distance;
		const char *found = name_at(symtab, elf_bytes(file.elf), vaddr, &name);
		if (strcmp(found, row->expected) != 0)
			print_error("%s%+d\n", row->symbol, row->distance);
		assert_string_equal(found, row->expected);
	}
	assert_true(symtab_bytes(symtab) >= 8 * symtab_n_entries(symtab));
	assert_int_equal(symtab_n_skipped(symtab), 0);
	buf_fini(&name);
	symtab_free(symtab);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const char functions[] =
	"__asm__(\".symver old_f, f@V1\\n.symver new_f, f@@V2\");\n"
	"__attribute__((noinline, visibility(\"default\"))) int old_f(int x) { return x + 1; }\n"
	"__attribute__((noinline, visibility(\"default\"))) int new_f(int x) { return x + 2; }\n"
	"__attribute__((noinline)) int exported(int x) { return x + 3; }\n"
	"__attribute__((noinline, visibility(\"hidden\"))) int hidden(int x) { return x + 4; }\n"
	"int use(int x) { return hidden(x) + exported(x); }\n";

struct strip_row {
	const char *name;
	const char *command;
	const char *exported;
	const char *hidden;
};

static struct strip_row strip_rows[] = {
	{ "whole", "cp a.so b.so", "exported", "hidden" },
	{ "stripped", "strip -o b.so a.so", "exported", "-" },
	{ "debug only stripped", "strip -g -o b.so a.so", "exported", "hidden" },
	{ "no section headers, both hashes",
	  "cp a.so b.so && printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=b.so bs=1 seek=40 "
	  "conv=notrunc",
	  "exported", "-" },
	{ "no section headers, GNU hash",
	  "gcc -shared -fPIC -O1 -Wl,--hash-style=gnu -Wl,--version-script=a.map -o b.so a.c && "
	  "printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=b.so bs=1 seek=40 conv=notrunc",
	  "exported", "-" },
	{ "linked by lld or gold, if there is one",
	  "gcc -shared -fPIC -O1 -fuse-ld=lld -Wl,--version-script=a.map -o b.so a.c || gcc "
	  "-shared -fPIC -O1 -fuse-ld=gold "
	  "-Wl,--version-script=a.map -o b.so a.c",
	  "exported", "hidden" },
};

static void stripped(void **state)
{
	const struct strip_row *row = *state;
	struct fixture_dir dir;
	struct fixture_elf file;
	struct symtab *symtab = NULL;
	struct buf name = BUF_INIT(SYMTAB_MAX_NAME_BYTES);
	char path[FIXTURE_PATH_BYTES];

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "a.c", functions));
	assert_true(fixture_write(&dir, "a.map", "V1 { };\nV2 { exported; use; };\n"));
	if (!fixture_run(&dir, "gcc -shared -fPIC -O1 -Wl,--hash-style=both "
			       "-Wl,--version-script=a.map -o a.so a.c") ||
	    !fixture_run(&dir, row->command)) {
		fixture_dir_fini(&dir);
		printf("skip: %s\n", row->command);
		skip();
	}
	/* The linker puts the same code at the same place, except another linker. */
	const char *with_symbols = strstr(row->command, "ld=lld") ? "nm b.so"
				   : strstr(row->command, "style=gnu")
					   ? "gcc -shared -fPIC -O1 -Wl,--hash-style=gnu "
					     "-Wl,--version-script=a.map -o c.so a.c && nm c.so"
					   : "nm a.so";
	char command[512];
	static const char *const symbols[] = { "exported", "hidden" };
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "b.so", path), &file), 0);
	assert_int_equal(symtab_new(file.elf, &symtab), 0);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		(void)snprintf(command, sizeof(command), "{ %s; } | grep ' [Tt] %s'", with_symbols,
			       symbols[i]);
		uint64_t vaddr = fixture_hex(&dir, command);
		assert_true(vaddr > 0);
		assert_string_equal(name_at(symtab, elf_bytes(file.elf), vaddr + 1, &name),
				    i == 0 ? row->exported : row->hidden);
	}
	(void)snprintf(command, sizeof(command), "{ %s; } | grep ' [Tt] new_f'", with_symbols);
	uint64_t new_f = fixture_hex(&dir, command);
	if (new_f)
		assert_int_equal(name_at(symtab, elf_bytes(file.elf), new_f, &name)[0] == 'f' ||
					 strcmp(buf_str(&name), "new_f") == 0,
				 1);
	assert_null(strchr(buf_str(&name), '@'));
	buf_fini(&name);
	symtab_free(symtab);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static void empty_without_symbols(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	struct symtab *symtab = NULL;
	uint32_t entry;
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "a.c", "void _start(void) { for (;;) ; }\n"));
	if (!fixture_run(&dir, "gcc -static -nostdlib -o a a.c && strip a")) {
		fixture_dir_fini(&dir);
		printf("skip: no gcc\n");
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "a", path), &file), 0);
	assert_int_equal(symtab_new(file.elf, &symtab), 0);
	assert_int_equal(symtab_n_entries(symtab), 0);
	assert_int_equal(symtab_locate(symtab, 0x401000, &entry), SYMTAB_NONE);
	symtab_free(symtab);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static void long_names(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	struct symtab *symtab = NULL;
	struct buf name = BUF_INIT(2 * SYMTAB_MAX_NAME_BYTES);
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	/* One below the ceiling, one at 2,000 bytes, one above. */
	if (!fixture_run(&dir,
			 "for n in 2000 65000 70000; do name=$(head -c $n /dev/zero | tr '\\0' x); "
			 "printf '.globl n%d%s\\n.type n%d%s, @function\\nn%d%s: .skip 16\\n.size "
			 "n%d%s, 16\\n' "
			 "$n $name $n $name $n $name $n $name; done > a.s && gcc -shared -nostdlib "
			 "-Wl,-Ttext=0x100000 -o a.so a.s")) {
		fixture_dir_fini(&dir);
		printf("skip: no gcc\n");
		skip();
	}
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "a.so", path), &file), 0);
	assert_int_equal(symtab_new(file.elf, &symtab), 0);
	assert_int_equal(strlen(name_at(symtab, elf_bytes(file.elf), 0x100000, &name)), 2005);
	assert_int_equal(strlen(name_at(symtab, elf_bytes(file.elf), 0x100010, &name)), 65006);
	assert_string_equal(name_at(symtab, elf_bytes(file.elf), 0x100020, &name), "-");
	buf_fini(&name);
	symtab_free(symtab);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const struct program {
	const char *path;
} installed[] = {
	{ "/lib/x86_64-linux-gnu/libc.so.6" },
	{ "/lib/aarch64-linux-gnu/libc.so.6" },
	{ "/lib/x86_64-linux-gnu/libm.so.6" },
	{ "/usr/lib/x86_64-linux-gnu/libcrypto.so.3" },
	{ "/usr/lib/x86_64-linux-gnu/libstdc++.so.6" },
	{ "/usr/bin/python3" },
	{ "/usr/lib/llvm-14/lib/libLLVM-14.so.1" },
	{ "/usr/local/go/bin/gofmt" },
};

struct nm_line {
	uint64_t vaddr;
	uint64_t size;
	char type;
	char *name;
};

static int by_address(const void *va, const void *vb)
{
	const struct nm_line *a = va;
	const struct nm_line *b = vb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Sized functions of both tables, sorted by address. */
static struct nm_line *read_nm(const char *path, size_t *ret_n)
{
	char command[FIXTURE_PATH_BYTES], line[16384];
	struct nm_line *lines = NULL;
	size_t n = 0;

	(void)snprintf(command, sizeof(command),
		       "{ nm -S --defined-only %s; nm -D -S --defined-only %s; } 2>/dev/null", path,
		       path);
	FILE *f = popen(command, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct nm_line l;
		char *end;

		line[strcspn(line, "\n")] = '\0';
		l.vaddr = strtoull(line, &end, 16);
		l.size = strtoull(end, &end, 16);
		if (end[0] != ' ' || !end[1] || end[2] != ' ' || !strchr("tTwWi", end[1]) ||
		    l.size == 0)
			continue;
		l.type = end[1];
		l.name = strdup(end + 3);
		assert_non_null(l.name);
		char *version = strchr(l.name + 1, '@');
		if (version)
			*version = '\0';
		if (n % 4096 == 0) {
			lines = realloc(lines, (n + 4096) * sizeof(*lines));
			assert_non_null(lines);
		}
		lines[n++] = l;
	}
	(void)pclose(f);
	qsort(lines, n, sizeof(*lines), by_address);
	*ret_n = n;
	return lines;
}

/* Whether nm has that name for a symbol that covers the address. Looks back as far as symbols can
 * nest. */
static bool nm_agrees(const struct nm_line *lines, size_t n, size_t near, uint64_t vaddr,
		      const char *name)
{
	size_t from = near > 300 ? near - 300 : 0;

	for (size_t i = from; i < n && lines[i].vaddr <= vaddr; i++)
		if (vaddr < lines[i].vaddr + lines[i].size && strcmp(lines[i].name, name) == 0)
			return true;
	return false;
}

static void agrees_with_nm(void **state)
{
	const char *path = ((const struct program *)*state)->path;
	struct fixture_elf file;
	struct symtab *symtab = NULL;
	struct buf name = BUF_INIT(SYMTAB_MAX_NAME_BYTES);
	uint64_t begin, end;
	size_t n = 0;
	size_t n_checked = 0;

	if (access(path, R_OK) < 0) {
		printf("skip: no %s\n", path);
		skip();
	}
	struct nm_line *lines = read_nm(path, &n);
	assert_int_equal(fixture_elf_open(path, &file), 0);
	assert_int_equal(symtab_new(file.elf, &symtab), 0);
	assert_true(elf_text_range(file.elf, &begin, &end));
	for (size_t i = 0; i < n; i++) {
		uint64_t places[] = { lines[i].vaddr, lines[i].vaddr + lines[i].size / 2 };

		/* nm calls weak data w and W too. */
		if (strchr("wW", lines[i].type) &&
		    (lines[i].vaddr < begin || lines[i].vaddr >= end))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(places); k++) {
			const char *found = name_at(symtab, elf_bytes(file.elf), places[k], &name);

			if (!nm_agrees(lines, n, i, places[k], found))
				print_error("%s 0x%lx: %s, nm: %s\n", path,
					    (unsigned long)places[k], found, lines[i].name);
			assert_true(nm_agrees(lines, n, i, places[k], found));
			n_checked++;
		}
	}
	assert_true(n == 0 || n_checked > 0);
	for (size_t i = 0; i < n; i++)
		free(lines[i].name);
	free(lines);
	buf_fini(&name);
	symtab_free(symtab);
	fixture_elf_close(&file);
}

static const struct unit_test tests[] = {
	TEST_ROWS(lays_flat, flat_rows, name),
	TEST_ROWS(stripped, strip_rows, name),
	TEST_ROWS(agrees_with_nm, installed, path),
	TEST(sorts_and_keeps_order),
	TEST(ceilings_of_flattening),
	TEST(rules_in_a_file),
	TEST(empty_without_symbols),
	TEST(long_names),
};

TEST_MAIN(tests)
