/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol store. */
#include "agent/symbol/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/symbol/kernel_symbols.h"
#include "agent/symbol/object_symbols.h"
#include "agent/util/arena.h"
#include "agent/util/clock.h"

#define MAX_SOURCES 8

struct symbol_store {
	struct arena names; /* of one interval */
	struct kernel_symbols *kernel;
	struct object_symbols *objects;
	struct symbolizer *chain[MAX_SOURCES]; /* asked in this order */
	size_t n_chain;
	bool is_open;
};

static void add_source(struct symbol_store *store, struct symbolizer *source)
{
	assert(store->n_chain < MAX_SOURCES);
	store->chain[store->n_chain++] = source;
}

int symbol_store_new(const struct symbol_store_options *options, struct symbol_store **ret_store)
{
	_cleanup_(symbol_store_freep) struct symbol_store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	arena_init(&store->names, SYMBOL_STORE_MAX_INTERVAL_BYTES);
	int r = kernel_symbols_new(options->kallsyms_path, &store->names, &store->kernel);
	if (r == 0)
		r = object_symbols_new(options->max_bytes, options->telemetry, &store->names,
				       &store->objects);
	if (r < 0)
		return r;
	add_source(store, kernel_symbols_symbolizer(store->kernel));
	add_source(store, object_symbols_symbolizer(store->objects));
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
	arena_fini(&store->names);
	free(store);
}

void symbol_store_begin(struct symbol_store *store)
{
	assert(!store->is_open);
	store->is_open = true;
	kernel_symbols_set_time(store->kernel, clock_mono_ns());
	object_symbols_begin(store->objects);
}

void symbol_store_end(struct symbol_store *store)
{
	assert(store->is_open);
	store->is_open = false;
	kernel_symbols_end(store->kernel);
	object_symbols_end(store->objects);
	arena_fini(&store->names);
	arena_init(&store->names, SYMBOL_STORE_MAX_INTERVAL_BYTES);
}

void symbol_store_set_demangle(struct symbol_store *store, enum demangle_mode mode)
{
	assert(!store->is_open);
	kernel_symbols_set_demangle(store->kernel, mode);
	object_symbols_set_demangle(store->objects, mode);
}

static struct frame constant_frame(enum location_kind kind)
{
	switch (kind) {
	case LOCATION_KERNEL:
		return symbol_frame_kernel();
	case LOCATION_ANON:
		return symbol_frame_jit();
	case LOCATION_FILE:
	case LOCATION_UNKNOWN:
	case LOCATION_KIND_MAX:
		break;
	}
	return symbol_frame_unknown();
}

void symbol_resolve(struct symbol_store *store, const struct location *location,
		    struct frames *ret_frames)
{
	assert(store->is_open);
	if (symbolizer_chain_resolve(store->chain, store->n_chain, location, ret_frames) == 0)
		return;
	if (location->kind == LOCATION_FILE) {
		object_symbols_name_by_file(store->objects, location, ret_frames);
		return;
	}
	ret_frames->n = 1;
	ret_frames->items[0] = constant_frame(location->kind);
}

void symbol_resolve_kernel(struct symbol_store *store, uint64_t pc, struct frames *ret_frames)
{
	symbol_resolve(store, &(struct location){ .kind = LOCATION_KERNEL, .pc = pc }, ret_frames);
}

void symbol_resolve_user(struct symbol_store *store, const struct mapped_file *file,
			 uint64_t file_off, struct frames *ret_frames)
{
	symbol_resolve(
		store,
		&(struct location){ .kind = LOCATION_FILE, .file = file, .file_off = file_off },
		ret_frames);
}

bool symbol_store_kernel_hidden(const struct symbol_store *store)
{
	return kernel_symbols_hidden(store->kernel);
}

size_t symbol_store_object_bytes(const struct symbol_store *store)
{
	return object_symbols_bytes(store->objects);
}

size_t symbol_store_kernel_bytes(const struct symbol_store *store)
{
	return kernel_symbols_bytes(store->kernel);
}
