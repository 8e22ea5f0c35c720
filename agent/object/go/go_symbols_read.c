/* SPDX-License-Identifier: Apache-2.0 */
/* What a function's record leads to: names, files, the tree of inlined calls. */
#include <errno.h>
#include <string.h>

#include "agent/object/go/go_symbols_internal.h"
#include "agent/util/macro.h"

/* PCDATA_InlTreeIndex and FUNCDATA_InlTree (src/internal/abi/symtab.go, src/runtime/symtab.go), the same in all versions. */
#define PCDATA_CALLS 2
#define FUNCDATA_CALLS 3
#define NO_FUNCDATA UINT32_MAX
/* A file that was dropped by the linker, as no line of it is left. */
#define NO_FILE UINT32_MAX
/* The runtime takes trees to be no larger (struct inlineUnwinder). */
#define MAX_CALLS (1 << 20)

/* The members that are read of struct inlinedCall (src/runtime/symtab.go, symtabinl.go). */
static const struct call_layout {
	uint8_t name;
	uint8_t caller; /* distance from the function's entry */
	uint8_t n_bytes;
} call_layouts[] = {
	[GOPCLNTAB_1_16] = { .name = 12, .caller = 16, .n_bytes = 20 },
	[GOPCLNTAB_1_18] = { .name = 12, .caller = 16, .n_bytes = 20 },
	[GOPCLNTAB_1_20] = { .name = 4, .caller = 8, .n_bytes = 16 },
};

static const struct bytes *bytes_of(const struct go_symbols *symbols)
{
	return elf_bytes(symbols->table->elf);
}

/* What the window holds from file_off on, after it was filled if that was nothing. */
static int view(const struct go_symbols *symbols, struct bytes_window *w, uint64_t file_off,
		const char **ret_bytes, size_t *ret_n)
{
	if (file_off < w->file_off || file_off - w->file_off >= w->n) {
		ssize_t got =
			bytes_read_some(bytes_of(symbols), file_off, w->data, sizeof(w->data));

		w->file_off = file_off;
		w->n = got < 0 ? 0 : (size_t)got;
		if (got <= 0)
			return got < 0 ? (int)got : GOPCLNTAB_NONE;
	}
	*ret_bytes = (const char *)w->data + (file_off - w->file_off);
	*ret_n = w->n - (size_t)(file_off - w->file_off);
	return 0;
}

/* The string at `at`, which ends before `end`, into symbols->raw. An empty one is none. */
static int read_string(struct go_symbols *symbols, struct bytes_window *w, uint64_t at,
		       uint64_t end, size_t max_bytes)
{
	buf_reset(&symbols->raw);
	while (at < end) {
		const char *bytes = NULL;
		size_t n = 0;
		int r = view(symbols, w, at, &bytes, &n);

		if (r != 0)
			return r;
		n = MIN_OF(n, (size_t)MIN_OF(end - at, (uint64_t)max_bytes));
		size_t len = strnlen(bytes, n);
		if (len > max_bytes - symbols->raw.len)
			return GOPCLNTAB_NONE;
		r = buf_append(&symbols->raw, bytes, len);
		if (r != 0)
			return r;
		if (len < n)
			return symbols->raw.len > 0 ? 0 : GOPCLNTAB_NONE;
		at += n;
	}
	return GOPCLNTAB_NONE;
}

/* What stands between the first bracket and the last, type arguments mostly, is printed as three dots. Up to Go 1.20 the linker did that,
 * from 1.21 on the runtime does (funcNameForPrint). */
static int shorten(struct buf *name)
{
	static const char dots[] = "...]";
	char *first = memchr(name->data, '[', name->len);
	char *last = memrchr(name->data, ']', name->len);

	if (!first || !last || last < first)
		return 0;
	size_t n_kept = (size_t)(first + 1 - name->data);
	size_t behind = (size_t)(last + 1 - name->data);
	size_t n_behind = name->len - behind;
	int r = buf_reserve(name, strlen(dots));
	if (r != 0)
		return r;
	memmove(name->data + n_kept + strlen(dots), name->data + behind, n_behind + 1);
	memcpy(name->data + n_kept, dots, strlen(dots));
	name->len = n_kept + strlen(dots) + n_behind;
	return 0;
}

int go_symbols_read_name(struct go_symbols *symbols, uint32_t name_off, const struct buf **ret)
{
	const struct gopclntab *table = symbols->table;
	int r = read_string(symbols, &symbols->names, table->names_off + name_off, table->names_end,
			    GOPCLNTAB_MAX_NAME_BYTES);

	if (r != 0)
		return r;
	if (table->version != GOPCLNTAB_1_16) {
		r = shorten(&symbols->raw);
		if (r != 0)
			return r;
	}
	*ret = &symbols->raw;
	return 0;
}

int go_symbols_read_file(struct go_symbols *symbols, const struct gopclntab_func *func,
			 int32_t number, const struct buf **ret)
{
	const struct gopclntab *table = symbols->table;
	uint64_t at = table->names_end + ((uint64_t)func->unit + (uint32_t)number) * 4;
	uint32_t file;

	if (number < 0 || at > table->files_off || table->files_off - at < sizeof(file))
		return GOPCLNTAB_NONE;
	int r = bytes_read_window(bytes_of(symbols), &symbols->units, at, &file, sizeof(file));
	if (r == -ENODATA || (r == 0 && file == NO_FILE))
		return GOPCLNTAB_NONE;
	if (r != 0)
		return r;
	r = read_string(symbols, &symbols->files, table->files_off + file, table->values_off,
			GO_SYMBOLS_MAX_FILE_BYTES);
	if (r != 0)
		return r;
	*ret = &symbols->raw;
	return 0;
}

int go_symbols_read_calls(struct go_symbols *symbols, const struct gopclntab_func *func,
			  uint32_t *ret_place)
{
	uint32_t place;

	if (func->n_pcdata <= PCDATA_CALLS || func->n_funcdata <= FUNCDATA_CALLS)
		return GOPCLNTAB_NONE;
	int r = gopclntab_read(symbols->table, GOPCLNTAB_PART_RECORDS,
			       func->pcdata_off + PCDATA_CALLS * sizeof(place), &place,
			       sizeof(place));
	if (r != 0 || place == 0)
		return r != 0 ? r : GOPCLNTAB_NONE;
	*ret_place = place;
	return 0;
}

/* Pointers, aligned in memory, up to 1.17. */
static int tree_by_pointer(struct go_symbols *symbols, uint64_t file_off, uint64_t *ret_vaddr)
{
	struct gopclntab *table = symbols->table;
	uint64_t vaddr;

	file_off += (table->file_off - table->vaddr - file_off) & 7;
	int r = gopclntab_read(table, GOPCLNTAB_PART_RECORDS,
			       file_off + FUNCDATA_CALLS * sizeof(vaddr), &vaddr, sizeof(vaddr));
	if (r != 0 || vaddr == 0)
		return r != 0 ? r : GOPCLNTAB_NONE;
	*ret_vaddr = vaddr;
	return 0;
}

/* Looks for it once. */
static int find_trees(struct go_symbols *symbols)
{
	if (symbols->trees == GO_TREES_UNKNOWN) {
		int r = gopclntab_module_gofunc(symbols->table, &symbols->trees_vaddr);

		if (r < 0)
			return r;
		symbols->trees = r == 0 ? GO_TREES_KNOWN : GO_TREES_NONE;
	}
	return symbols->trees == GO_TREES_KNOWN ? 0 : GOPCLNTAB_NONE;
}

static int tree_by_distance(struct go_symbols *symbols, uint64_t file_off, uint64_t *ret_vaddr)
{
	uint32_t distance;
	int r = gopclntab_read(symbols->table, GOPCLNTAB_PART_RECORDS,
			       file_off + FUNCDATA_CALLS * sizeof(distance), &distance,
			       sizeof(distance));

	if (r != 0)
		return r;
	if (distance == NO_FUNCDATA)
		return GOPCLNTAB_NONE;
	r = find_trees(symbols);
	if (r != 0)
		return r;
	*ret_vaddr = symbols->trees_vaddr + distance;
	return 0;
}

static int tree_of(struct go_symbols *symbols, const struct gopclntab_func *func,
		   uint64_t *ret_vaddr)
{
	uint64_t file_off = func->pcdata_off + (uint64_t)func->n_pcdata * sizeof(uint32_t);

	return symbols->table->version == GOPCLNTAB_1_16
		       ? tree_by_pointer(symbols, file_off, ret_vaddr)
		       : tree_by_distance(symbols, file_off, ret_vaddr);
}

static uint32_t u32_at(const unsigned char *bytes, size_t off)
{
	uint32_t value;

	memcpy(&value, bytes + off, sizeof(value));
	return value;
}

int go_symbols_read_call(struct go_symbols *symbols, const struct gopclntab_func *func,
			 int32_t number, struct go_call *ret_call)
{
	const struct call_layout *layout = &call_layouts[symbols->table->version];
	unsigned char call[20];
	uint64_t tree, file_off;

	if (number < 0 || number >= MAX_CALLS)
		return GOPCLNTAB_NONE;
	int r = tree_of(symbols, func, &tree);
	if (r != 0)
		return r;
	if (!elf_file_off(symbols->table->elf, tree + (uint64_t)number * layout->n_bytes,
			  &file_off))
		return GOPCLNTAB_NONE;
	r = bytes_read_window(bytes_of(symbols), &symbols->tree, file_off, call, layout->n_bytes);
	if (r != 0)
		return r == -ENODATA ? GOPCLNTAB_NONE : r;
	uint32_t caller = u32_at(call, layout->caller);
	if (caller >= func->end - func->begin)
		return GOPCLNTAB_NONE;
	*ret_call = (struct go_call){ u32_at(call, layout->name), func->begin + caller };
	return 0;
}
