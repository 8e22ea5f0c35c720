/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol store. */
#include "agent/symbol/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/symbol/jit_symbols.h"
#include "agent/symbol/kernel_symbols.h"
#include "agent/symbol/object_symbols.h"
#include "agent/util/arena.h"
#include "agent/util/clock.h"

struct symbol_store {
	struct arena names; /* of one interval */
	struct scratch scratch;
	struct dwarf_client *dwarf; /* NULL: nobody wants lines */
	size_t interval_bytes;
	struct kernel_symbols *kernel;
	struct object_symbols *objects;
	struct jit_symbols *jit;
	bool is_open;
	struct telemetry *telemetry; /* NULL: nothing is counted */
	uint64_t n_kernel_skipped;   /* counted already */
	uint64_t n_kernel_read;
};

int symbol_store_new(const struct symbol_store_options *options, struct symbol_store **ret_store)
{
	_cleanup_(symbol_store_freep) struct symbol_store *store = calloc(1, sizeof(*store));
	struct elf_symbols_options shared_elf_symbols = {
		.demangle = options->demangle,
		.lines = options->lines,
		.inlines = options->inlines,
		.max_bytes = options->max_bytes - options->max_bytes / SYMBOL_STORE_JIT_SHARE,
		.fetch = options->fetch,
		.fetch_data = options->fetch_data,
		.telemetry = options->telemetry,
	};

	if (!store)
		return -ENOMEM;
	store->scratch = SCRATCH_INIT;
	store->scratch.dir = options->scratch_dir;
	shared_elf_symbols.scratch = options->scratch_dir ? &store->scratch : NULL;
	int r = shared_elf_symbols.lines || shared_elf_symbols.inlines
			? dwarf_client_new(options->telemetry, &store->dwarf)
			: 0;
	shared_elf_symbols.dwarf = store->dwarf;
	store->interval_bytes = options->interval_bytes;
	store->telemetry = options->telemetry;
	arena_init(&store->names, store->interval_bytes);
	if (r == 0)
		r = kernel_symbols_new(
			&(struct kernel_symbols_options){ .path = options->kallsyms_path,
							  .modules_path = options->modules_path,
							  .notes_path = options->notes_path,
							  .max_bytes = options->kernel_bytes,
							  .names = &store->names },
			&store->kernel);
	if (r == 0)
		r = object_symbols_new(&shared_elf_symbols, &store->names, &store->objects);
	if (r == 0)
		r = jit_symbols_new(options->max_bytes / SYMBOL_STORE_JIT_SHARE, options->telemetry,
				    &store->names, &store->jit);
	if (r < 0)
		return r;
	symbol_store_set_demangle(store, options->demangle);
	*ret_store = TAKE_PTR(store);
	return 0;
}

void symbol_store_free(struct symbol_store *store)
{
	if (!store)
		return;
	assert(!store->is_open);
	kernel_symbols_free(store->kernel);
	object_symbols_free(store->objects);
	dwarf_client_free(store->dwarf);
	jit_symbols_free(store->jit);
	arena_fini(&store->names);
	free(store);
}

void symbol_store_begin(struct symbol_store *store)
{
	assert(!store->is_open);
	store->is_open = true;
	uint64_t now_ns = clock_mono_ns();

	kernel_symbols_set_time(store->kernel, now_ns);
	object_symbols_begin(store->objects, now_ns);
	jit_symbols_begin(store->jit, now_ns);
}

static void count_up(struct symbol_store *store, enum telemetry_counter counter, uint64_t n,
		     uint64_t *counted)
{
	if (store->telemetry && n > *counted)
		telemetry_count(store->telemetry, counter, n - *counted);
	*counted = n;
}

static void count_kernel(struct symbol_store *store)
{
	/* Each reading skips anew. */
	count_up(store, TELEMETRY_kernel_functions_dropped, kernel_symbols_n_skipped(store->kernel),
		 &store->n_kernel_skipped);
	count_up(store, TELEMETRY_kernel_symbols_read, kernel_symbols_n_read(store->kernel),
		 &store->n_kernel_read);
}

void symbol_store_end(struct symbol_store *store)
{
	assert(store->is_open);
	store->is_open = false;
	count_kernel(store);
	kernel_symbols_end(store->kernel);
	object_symbols_end(store->objects);
	if (store->dwarf)
		dwarf_client_rest(store->dwarf, clock_mono_ns());
	jit_symbols_end(store->jit);
	arena_fini(&store->names);
	arena_init(&store->names, store->interval_bytes);
}

bool symbol_store_is_full(const struct symbol_store *store)
{
	return object_symbols_is_full(store->objects);
}

void symbol_store_make_room(struct symbol_store *store)
{
	assert(store->is_open);
	object_symbols_make_room(store->objects);
}

void symbol_store_set_demangle(struct symbol_store *store, enum demangle_mode mode)
{
	assert(!store->is_open);
	kernel_symbols_set_demangle(store->kernel, mode);
	object_symbols_set_demangle(store->objects, mode);
}

void symbol_resolve_kernel(struct symbol_store *store, uint64_t pc, struct frames *ret_frames)
{
	assert(store->is_open);
	if (kernel_symbols_resolve(store->kernel, pc, ret_frames))
		return;
	ret_frames->n = 1;
	ret_frames->items[0] = symbol_frame_kernel();
}

void symbol_resolve_user(struct symbol_store *store, const struct mapped_file *file,
			 uint64_t file_off, struct frames *ret_frames)
{
	assert(store->is_open);
	if (!object_symbols_resolve(store->objects, file, file_off, ret_frames))
		object_symbols_name_by_file(store->objects, file, file_off, ret_frames);
}

void symbol_resolve_anon(struct symbol_store *store, const struct jit_files *jit, uint64_t pc,
			 const struct jit_moment *at, const char *memory, struct frames *ret_frames)
{
	static const struct jit_moment now;

	assert(store->is_open);
	if (jit_symbols_resolve(store->jit, jit, pc, at ? at : &now, memory, ret_frames))
		return;
	ret_frames->n = 1;
	ret_frames->items[0] = symbol_frame_jit();
}

void symbol_store_kernel_changed(struct symbol_store *store, const struct kernel_text *text)
{
	assert(!store->is_open);
	kernel_symbols_changed(store->kernel, text);
}

bool symbol_store_kernel_hidden(const struct symbol_store *store)
{
	return kernel_symbols_hidden(store->kernel);
}

const char *symbol_store_failed_file(const struct symbol_store *store)
{
	return object_symbols_failed_file(store->objects);
}

size_t symbol_store_object_bytes(const struct symbol_store *store)
{
	return object_symbols_bytes(store->objects);
}

size_t symbol_store_jit_bytes(const struct symbol_store *store)
{
	return jit_symbols_bytes(store->jit);
}

size_t symbol_store_kernel_bytes(const struct symbol_store *store)
{
	return kernel_symbols_bytes(store->kernel);
}
