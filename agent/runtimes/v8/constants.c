/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of V8 in the symbol tables of a file: the names first, for there are a hundred thousand symbols and few of them are wanted. */
#include "agent/runtimes/v8/constants.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/object/names/symtab_tables.h"
#include "agent/object/v8/blob.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

#define PREFIX "v8dbg_"
/* Names are read in pieces. */
#define PIECE_BYTES (64 * 1024)
/* The largest file known has 20 MiB of names. */
#define MAX_STRINGS ((uint64_t)256 << 20)
#define N_SYMBOLS 512

static const char *const constant_names[V8_CONSTANT_MAX] = {
#define V8_CONSTANT_NAME(NAME, symbol) [V8_##NAME] = (symbol),
	V8_CONSTANTS(V8_CONSTANT_NAME)
#undef V8_CONSTANT_NAME
};

/* Symbols of other names. */
enum {
	MAJOR = V8_CONSTANT_MAX,
	MINOR,
	BUILTINS_DATA,
	BUILTINS,
	BUILTINS_BYTES,
	BYTECODE_SIZES,
	WANTED_MAX
};

static const char *const other_names[WANTED_MAX - V8_CONSTANT_MAX] = {
	"_ZN2v88internal7Version6major_E",
	"_ZN2v88internal7Version6minor_E",
	"v8_Default_embedded_blob_code_data_",
	"v8_Default_embedded_blob_code_",
	"v8_Default_embedded_blob_code_size_",
	"_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE",
};

struct wanted {
	uint32_t name_off[WANTED_MAX]; /* 0: there is no such name */
	uint64_t value[WANTED_MAX];    /* 0: no such symbol */
	uint64_t bytes[WANTED_MAX];
};

struct look {
	const struct elf *elf;
	const struct symbol_table *table;
	struct wanted wanted;
};

static bool starts_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* Behind a field's name there is its type. */
static bool is_constant(const char *name, const char *wanted)
{
	return wanted[strlen(wanted) - 1] == '_' ? starts_with(name, wanted)
						 : strcmp(name, wanted) == 0;
}

/* Which one a name is, or ends with: linkers let such names share their end. */
static size_t which(const char *name, size_t *ret_before)
{
	size_t n = strlen(name);

	*ret_before = 0;
	if (starts_with(name, PREFIX))
		for (size_t i = 0; i < V8_CONSTANT_MAX; i++)
			if (is_constant(name + strlen(PREFIX), constant_names[i]))
				return i;
	for (size_t i = V8_CONSTANT_MAX; i < WANTED_MAX; i++) {
		const char *wanted = other_names[i - V8_CONSTANT_MAX];
		size_t n_wanted = strlen(wanted);

		if (n < n_wanted || strcmp(name + n - n_wanted, wanted) != 0)
			continue;
		*ret_before = n - n_wanted;
		return i;
	}
	return WANTED_MAX;
}

/* Whole names of a piece, which ends with a NUL; how many bytes they take. */
static size_t look_at_names(struct look *l, const char *piece, size_t n, uint64_t off)
{
	size_t at = 0;

	for (const char *end; (end = memchr(piece + at, '\0', n - at));
	     at = (size_t)(end - piece) + 1) {
		size_t before;
		/* "v8…", "_ZN2v8…", "_GLOBAL__sub_I__ZN2v8…" */
		size_t i = piece[at] == 'v' || piece[at] == '_' ? which(piece + at, &before)
								: WANTED_MAX;

		if (i < WANTED_MAX && (l->wanted.name_off[i] == 0 || before == 0))
			l->wanted.name_off[i] = (uint32_t)(off + at + before);
	}
	return at;
}

static bool find_names(struct look *l)
{
	_cleanup_free_ char *piece = malloc(PIECE_BYTES);
	uint64_t n = l->table->strings_bytes;

	if (!piece || n > MAX_STRINGS)
		return false;
	for (uint64_t off = 0; off < n;) {
		size_t bytes = (size_t)MIN_OF(n - off, (uint64_t)PIECE_BYTES);

		if (bytes_read(elf_bytes(l->elf), l->table->strings_off + off, piece, bytes) < 0)
			return false;
		size_t used = look_at_names(l, piece, bytes, off);
		/* A name that fills a piece is nobody's. */
		off += used ? used : bytes;
	}
	return true;
}

static void look_at_symbol(struct look *l, const struct symbol *s)
{
	for (size_t i = 0; i < WANTED_MAX; i++)
		if (l->wanted.name_off[i] == s->name_off && s->section != SHN_UNDEF) {
			l->wanted.value[i] = s->value;
			l->wanted.bytes[i] = s->size_bytes;
		}
}

static bool find_symbols(struct look *l)
{
	size_t entry_bytes = symbol_table_entry_bytes(l->table);
	char entries[N_SYMBOLS * sizeof(Elf64_Sym)];

	for (uint32_t i = 0; i < l->table->n; i += N_SYMBOLS) {
		uint32_t n = MIN_OF(l->table->n - i, (uint32_t)N_SYMBOLS);

		if (bytes_read(elf_bytes(l->elf), l->table->file_off + (uint64_t)i * entry_bytes,
			       entries, n * entry_bytes) < 0)
			return false;
		for (uint32_t k = 0; k < n; k++) {
			struct symbol s = symbol_decode(l->table, entries + k * entry_bytes);

			if (s.name_off)
				look_at_symbol(l, &s);
		}
	}
	return true;
}

static bool read_int(const struct look *l, size_t which, int32_t *ret_value)
{
	uint64_t file_off;

	return l->wanted.value[which] && elf_file_off(l->elf, l->wanted.value[which], &file_off) &&
	       bytes_read(elf_bytes(l->elf), file_off, ret_value, sizeof(*ret_value)) == 0;
}

/* Up to 10.x one symbol is the code, and another one a pointer to it that has the name of what later is the code. */
static void find_builtins(const struct look *l, struct v8_constants *to)
{
	uint64_t data = l->wanted.value[BUILTINS_DATA];
	int32_t bytes;

	if (!read_int(l, BUILTINS_BYTES, &bytes) || bytes <= 0 ||
	    !elf_file_off(l->elf, data ? data : l->wanted.value[BUILTINS], &to->builtins_at))
		return;
	to->builtins_bytes = (uint64_t)bytes;
}

static void find_bytecode_sizes(const struct look *l, struct v8_constants *to)
{
	uint64_t at = l->wanted.value[BYTECODE_SIZES], bytes = l->wanted.bytes[BYTECODE_SIZES];
	uint8_t sizes[3 * V8_MAX_BYTECODES];
	uint64_t file_off;

	if (bytes == 0 || bytes > sizeof(sizes) || bytes % 3 != 0 ||
	    !elf_file_off(l->elf, at, &file_off) ||
	    bytes_read(elf_bytes(l->elf), file_off, sizes, (size_t)bytes) < 0 ||
	    !v8_are_bytecode_sizes(sizes, (size_t)bytes / 3))
		return;
	to->sizes_at = at;
	to->n_bytecodes = (uint32_t)bytes / 3;
}

/* What has no symbol is looked for, where the pointers are such as are walked: of Electron there are 200 MB. */
static void find_hidden(const struct elf *elf, struct v8_constants *to)
{
	struct v8_blob blob;

	if (!to->has[V8_POINTER_BYTES] || to->value[V8_POINTER_BYTES] != sizeof(uint64_t))
		return;
	if (to->builtins_bytes == 0 && v8_blob_find(elf, &blob)) {
		to->builtins_at = blob.code_at;
		to->builtins_bytes = blob.code_bytes;
	}
	if (to->builtins_bytes && to->n_bytecodes == 0 &&
	    !v8_bytecode_sizes_find(elf, &to->sizes_at, &to->n_bytecodes))
		to->n_bytecodes = 0;
}

static void read_all(const struct look *l, struct v8_constants *to)
{
	int32_t major, minor;

	to->machine = elf_machine(l->elf);
	for (size_t i = 0; i < V8_CONSTANT_MAX; i++)
		to->has[i] = read_int(l, i, &to->value[i]);
	if (read_int(l, MAJOR, &major) && read_int(l, MINOR, &minor)) {
		to->major = (uint32_t)major;
		to->minor = (uint32_t)minor;
	}
	find_builtins(l, to);
	find_bytecode_sizes(l, to);
	find_hidden(l->elf, to);
}

/* Whether it is worth a look through all names: constants that are exported, or functions that every program with Node.js exports. */
static bool may_hold_v8(const struct elf *elf)
{
	struct symbol s;

	return symbol_by_name(elf, PREFIX "off_fp_function", &s) ||
	       symbol_by_name(elf, "napi_create_function", &s);
}

bool v8_constants_read(const struct elf *elf, struct v8_constants *ret_constants)
{
	struct symbol_table tables[SYMBOL_TABLE_MAX];
	struct look l = { .elf = elf };

	*ret_constants = (struct v8_constants){ 0 };
	if (!may_hold_v8(elf))
		return false;
	symbol_tables_find(elf, tables);
	/* What is exported is in the other table, too, unless the file was stripped. */
	l.table =
		&tables[tables[SYMBOL_TABLE_STATIC].n ? SYMBOL_TABLE_STATIC : SYMBOL_TABLE_DYNAMIC];
	if (l.table->n == 0 || !find_names(&l) || !find_symbols(&l))
		return false;
	read_all(&l, ret_constants);
	return ret_constants->has[V8_FP_FUNCTION];
}
