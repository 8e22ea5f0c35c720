/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside of a file. */
#include "agent/symbol/elf_symbols_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/object/names/symtab.h"
#include "agent/symbol/debuginfod.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* What malloc adds to the struct, its headers, their segments and the list of its sources. */
#define ALLOCATIONS_BYTES (4 * 16)

int elf_symbols_new(struct elf *elf, struct elf *debug, struct elf_symbols **ret_elf_symbols)
{
	struct elf_symbols *elf_symbols = calloc(1, sizeof(*elf_symbols));
	int r = elf_symbols ? function_info_new(&elf_symbols->info) : -ENOMEM;

	assert(elf);
	if (r < 0) {
		free(elf_symbols);
		return r;
	}
	list_init(&elf_symbols->all);
	elf_symbols->elf = elf;
	elf_symbols->debug = debug;
	elf_symbols->fetched_fd = -1;
	*ret_elf_symbols = elf_symbols;
	return 0;
}

static void drop_fetched(struct elf_symbols *elf_symbols)
{
	elf_free(elf_symbols->fetched);
	elf_symbols->fetched = NULL;
	cleanup_close_p(&elf_symbols->fetched_fd);
	elf_symbols->fetched_fd = -1;
}

static void drop_reader(struct elf_symbols *elf_symbols)
{
	dwarf_file_close(elf_symbols->reader);
	elf_symbols->reader = NULL;
}

bool elf_symbols_has_sources(const struct elf_symbols *elf_symbols)
{
	return elf_symbols->reader || elf_symbols->fetched ||
	       function_info_is_loaded(elf_symbols->info);
}

void elf_symbols_free(struct elf_symbols *elf_symbols)
{
	if (!elf_symbols)
		return;
	function_info_free(elf_symbols->info);
	drop_reader(elf_symbols);
	line_cache_fini(&elf_symbols->lines);
	drop_fetched(elf_symbols);
	elf_free(elf_symbols->debug);
	elf_free(elf_symbols->elf);
	symbol_ranges_fini(&elf_symbols->ranges);
	free(elf_symbols);
}

size_t elf_symbols_source_bytes(const struct elf_symbols *elf_symbols)
{
	if (!elf_symbols_has_sources(elf_symbols))
		return 0;
	return function_info_bytes(elf_symbols->info) +
	       (elf_symbols->fetched ? elf_memory_bytes(elf_symbols->fetched) : 0) +
	       (elf_symbols->reader ? dwarf_file_bytes(elf_symbols->reader) : 0);
}

size_t elf_symbols_bytes(const struct elf_symbols *elf_symbols)
{
	return sizeof(*elf_symbols) + ALLOCATIONS_BYTES + elf_memory_bytes(elf_symbols->elf) +
	       (elf_symbols->debug ? elf_memory_bytes(elf_symbols->debug) : 0) +
	       elf_symbols->ranges.bytes + elf_symbols->lines.bytes +
	       elf_symbols_source_bytes(elf_symbols);
}

void elf_symbols_drop_sources(struct elf_symbols *elf_symbols)
{
	function_info_drop(elf_symbols->info);
	drop_reader(elf_symbols);
	drop_fetched(elf_symbols);
}

void elf_symbols_drop_names(struct elf_symbols *elf_symbols)
{
	symbol_ranges_fini(&elf_symbols->ranges);
	line_cache_fini(&elf_symbols->lines);
}

uint32_t elf_symbols_heat(const struct elf_symbols *elf_symbols, uint64_t interval)
{
	uint64_t age = interval - elf_symbols->interval;

	assert(interval >= elf_symbols->interval);
	return age < 32 ? elf_symbols->heat >> age : 0;
}

static void heat_up(struct elf_symbols *elf_symbols, uint64_t interval)
{
	uint32_t heat = elf_symbols_heat(elf_symbols, interval);

	elf_symbols->heat = heat < UINT32_MAX ? heat + 1 : heat;
	elf_symbols->interval = interval;
}

void elf_symbols_end_interval(struct elf_symbols *elf_symbols, uint64_t interval)
{
	symbol_ranges_drop_passing(&elf_symbols->ranges);
	uint64_t keep = elf_symbols->reader && dwarf_file_has_scratch(elf_symbols->reader)
				? ELF_SYMBOLS_SCRATCH_INTERVALS
				: 0;
	if (interval - elf_symbols->reader_interval > keep)
		drop_reader(elf_symbols);
}

void elf_symbols_expire(struct elf_symbols *elf_symbols, uint64_t now_ns)
{
	if (elf_symbols->failed_ns && now_ns >= elf_symbols->failed_ns + ELF_SYMBOLS_NEGATIVE_NS)
		elf_symbols->failed_ns = 0;
	if (!elf_symbols->nameless_ns ||
	    now_ns < elf_symbols->nameless_ns + ELF_SYMBOLS_NEGATIVE_NS)
		return;
	elf_symbols->nameless_ns = 0;
	elf_symbols->is_unfetchable = false;
	elf_symbols->is_readerless = false;
	elf_symbols_drop_sources(elf_symbols);
	function_info_forget(elf_symbols->info);
	symbol_ranges_drop_nameless(&elf_symbols->ranges);
}

struct function_files elf_symbols_files(struct elf_symbols *elf_symbols,
					const struct elf_symbols_options *options,
					const struct elf_symbols_access *access)
{
	if (elf_bytes(elf_symbols->elf)->memory == NULL)
		elf_set_fd(elf_symbols->elf, access->fd);
	if (elf_symbols->debug)
		elf_set_fd(elf_symbols->debug, access->debug_fd);
	return (struct function_files){
		.elf = elf_symbols->elf,
		.debug = access->debug_fd >= 0 ? elf_symbols->debug : NULL,
		.fetched = elf_symbols->fetched,
		.max_bytes = options->max_bytes,
	};
}

bool elf_symbols_is_readable(const struct elf_symbols *elf_symbols,
			     const struct elf_symbols_access *access)
{
	return access->fd >= 0 || elf_bytes(elf_symbols->elf)->memory;
}

int elf_symbols_fetch(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		      const struct elf_symbols_access *access, bool *ret_is_pending)
{
	struct bytes bytes;
	int fd = -1;

	if (!options->fetch || !access->build_id[0] || elf_symbols->fetched ||
	    elf_symbols->is_unfetchable)
		return ELF_SYMBOLS_NO_NAME;
	int r = options->fetch(options->fetch_data, access->build_id, &fd);
	if (r == DEBUGINFOD_PENDING)
		*ret_is_pending = true;
	if (r != 0) {
		elf_symbols->is_unfetchable = r == DEBUGINFOD_NONE;
		return r < 0 ? r : ELF_SYMBOLS_NO_NAME;
	}
	elf_symbols->fetched_fd = fd;
	if (bytes_from_fd(fd, &bytes) == 0 && elf_new(bytes, &elf_symbols->fetched) == 0)
		return 0;
	drop_fetched(elf_symbols);
	elf_symbols->is_unfetchable = true;
	return ELF_SYMBOLS_NO_NAME;
}

/* All sources, and where they have nothing the server's. */
static int find(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		const struct elf_symbols_access *access, uint64_t vaddr,
		struct function_answer *ret_answer, bool *ret_is_passing)
{
	struct function_files files = elf_symbols_files(elf_symbols, options, access);
	bool is_pending = false;
	int r = function_info_find(elf_symbols->info, &files, vaddr, ret_answer);

	if (r == FUNCTION_INFO_NONE &&
	    elf_symbols_fetch(elf_symbols, options, access, &is_pending) == 0) {
		files.fetched = elf_symbols->fetched;
		r = function_info_find(elf_symbols->info, &files, vaddr, ret_answer);
	}
	*ret_is_passing = is_pending || (elf_symbols->debug && !files.debug);
	return r;
}

static int make_name(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		     const struct function_answer *answer, struct buf *name)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(SYMTAB_MAX_NAME_BYTES + 1);
	int r = function_info_name(elf_symbols->info, answer, &raw);

	if (r == FUNCTION_INFO_NONE)
		return 0;
	if (r != 0)
		return r;
	/* Go's names are not mangled, and look like much. */
	return demangle((struct str){ raw.data, raw.len },
			answer->kind == FUNCTION_KIND_GO ? DEMANGLE_NONE : options->demangle, name);
}

/* Without a name its range is still that of the function that holds the address, or what lies between two. */
static int find_extent(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		       const struct elf_symbols_access *access, uint64_t vaddr,
		       struct symbol_range *range)
{
	struct function_files files = elf_symbols_files(elf_symbols, options, access);
	struct function_extent extent;
	int r = function_info_extent(elf_symbols->info, &files, vaddr, &extent);

	if (r != 0)
		return r < 0 ? r : 0;
	range->begin = MAX_OF(range->begin, extent.begin);
	range->end = MIN_OF(range->end, extent.end);
	range->has_function = extent.is_function;
	range->function_begin = extent.begin;
	return 0;
}

static int add_range(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		     const struct elf_symbols_access *access, uint64_t vaddr,
		     const struct symbol_range **ret_range)
{
	_cleanup_buf_ struct buf name = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES + 1);
	struct function_answer answer;
	struct symbol_range range = { 0 };

	heat_up(elf_symbols, access->interval);
	int r = find(elf_symbols, options, access, vaddr, &answer, &range.is_passing);
	if (r < 0)
		return r;
	range.begin = answer.piece.begin;
	range.end = answer.piece.end;
	range.has_function = r == 0;
	range.function_begin = answer.piece.function_begin;
	r = r == 0 ? make_name(elf_symbols, options, &answer, &name)
		   : find_extent(elf_symbols, options, access, vaddr, &range);
	if (r < 0)
		return r;
	if (name.len == 0 && !elf_symbols->nameless_ns)
		elf_symbols->nameless_ns = access->now_ns;
	return symbol_ranges_add(&elf_symbols->ranges, vaddr, &range,
				 (struct str){ name.data, name.len }, ret_range);
}

bool elf_symbols_knows(const struct elf_symbols *elf_symbols, uint64_t vaddr)
{
	return symbol_ranges_find(&elf_symbols->ranges, vaddr);
}

int elf_symbols_name(struct elf_symbols *elf_symbols, const struct elf_symbols_options *options,
		     const struct elf_symbols_access *access, uint64_t vaddr, const char **ret_name)
{
	const struct symbol_range *range = symbol_ranges_find(&elf_symbols->ranges, vaddr);

	if (!range && elf_symbols_is_readable(elf_symbols, access)) {
		int r = add_range(elf_symbols, options, access, vaddr, &range);

		if (r < 0)
			return r;
	}
	if (!range || range->name_bytes == 0)
		return ELF_SYMBOLS_NO_NAME;
	*ret_name = range->name;
	return 0;
}

bool elf_symbols_function_begin(const struct elf_symbols *elf_symbols, uint64_t vaddr,
				uint64_t *ret_begin)
{
	const struct symbol_range *range = symbol_ranges_find(&elf_symbols->ranges, vaddr);

	if (!range || !range->has_function)
		return false;
	*ret_begin = range->function_begin;
	return true;
}
