/* SPDX-License-Identifier: Apache-2.0 */
/* The functions, files and lines of one address, from the innermost inlined call to the function itself. */
#include <assert.h>
#include <errno.h>

#include "agent/object/go/go_symbols_internal.h"
#include "agent/util/macro.h"

/* One question. */
struct look {
	struct go_symbols *symbols;
	struct gopclntab_func func;
	struct arena *strings;
	uint32_t n_steps; /* that are left */
	uint32_t calls;	  /* place in pctab of the numbers of inlined calls; 0: none is */
	struct source_frames frames;
};

/* The value at an address; −1, as in Go, where there is none. */
static int value_at(struct look *look, uint32_t place, uint64_t vaddr, int32_t *ret_value)
{
	struct gopclntab_values values;
	struct gopclntab_range range;
	int r = GOPCLNTAB_NONE;

	*ret_value = -1;
	if (place == 0)
		return 0;
	gopclntab_values_init(look->symbols->table, &look->func, place, &values);
	while (look->n_steps > 0) {
		look->n_steps--;
		r = gopclntab_values_next(look->symbols->table, &values, &range);
		if (r == 0 && vaddr < range.end)
			*ret_value = range.value;
		if (r != 0 || vaddr < range.end)
			break;
	}
	return MIN_OF(r, 0);
}

static int keep(struct look *look, const struct buf *text, const char **ret)
{
	const char *copy = arena_strndup(look->strings, text->data, text->len);

	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

static int set_name(struct look *look, uint32_t name_off, struct source_frame *frame)
{
	const struct buf *name;
	int r = go_symbols_read_name(look->symbols, name_off, &name);

	return r == 0 ? keep(look, name, &frame->function) : r;
}

/* What is not known stays as it is. */
static int set_position(struct look *look, uint64_t vaddr, struct source_frame *frame)
{
	const struct buf *name;
	int32_t file, line;
	int r = value_at(look, look->func.pcfile, vaddr, &file);

	if (r != 0)
		return r;
	r = value_at(look, look->func.pcline, vaddr, &line);
	if (r != 0)
		return r;
	/* Go knows both or none. */
	if (file < 0 || line < 0)
		return 0;
	r = go_symbols_read_file(look->symbols, &look->func, file, &name);
	if (r != 0)
		return MIN_OF(r, 0);
	frame->line = (uint32_t)line;
	r = keep(look, name, &frame->file);
	return MIN_OF(r, 0);
}

/* Adds the frame of an inlined call. *ret_vaddr: where it was called from. */
static int add_call(struct look *look, int32_t number, uint64_t vaddr, uint64_t *ret_vaddr)
{
	struct source_frame frame = { "", "", 0 };
	struct go_call call;
	int r = go_symbols_read_call(look->symbols, &look->func, number, &call);

	if (r != 0)
		return r;
	r = set_name(look, call.name_off, &frame);
	if (r != 0)
		return r;
	r = set_position(look, vaddr, &frame);
	if (r != 0)
		return r;
	assert(look->frames.n < SOURCE_FRAMES_MAX);
	look->frames.items[look->frames.n++] = frame;
	*ret_vaddr = call.caller;
	return 0;
}

/* Calls get their numbers from the outermost on, so those of a way out fall. *ret_vaddr: where the outermost was called from. GOPCLNTAB_NONE:
 * that is not known. */
static int add_calls(struct look *look, uint64_t vaddr, uint64_t *ret_vaddr)
{
	int32_t last = INT32_MAX;
	int32_t number;

	for (;;) {
		int r = value_at(look, look->calls, vaddr, &number);

		if (r != 0)
			return r;
		if (number < 0) {
			*ret_vaddr = vaddr;
			return 0;
		}
		if (number >= last || look->frames.n >= SOURCE_FRAMES_MAX - 1)
			return GOPCLNTAB_NONE;
		last = number;
		r = add_call(look, number, vaddr, &vaddr);
		if (r != 0)
			return r;
	}
}

static int look_at(struct look *look, uint64_t vaddr)
{
	struct source_frame frame = { "", "", 0 };
	int calls = add_calls(look, vaddr, &vaddr);
	int r = calls < 0 ? calls : set_name(look, look->func.name_off, &frame);

	/* A line of what was inlined is none of the function's. */
	if (r >= 0 && calls == 0)
		r = set_position(look, vaddr, &frame);
	if (r < 0)
		return r;
	assert(look->frames.n < SOURCE_FRAMES_MAX);
	look->frames.items[look->frames.n++] = frame;
	return 0;
}

int go_symbols_frames(struct go_symbols *symbols, uint64_t vaddr, struct arena *strings,
		      struct source_frames *ret_frames)
{
	struct look look = { .symbols = symbols,
			     .strings = strings,
			     .n_steps = GO_SYMBOLS_MAX_STEPS };
	struct go_function function;
	int r = go_symbols_find(symbols, vaddr, &function);

	if (r != 0)
		return r;
	r = gopclntab_func(symbols->table, function.index, &look.func);
	if (r != 0)
		return r;
	if (look.func.pcline == 0)
		return GOPCLNTAB_NONE;
	r = go_symbols_read_calls(symbols, &look.func, &look.calls);
	if (r < 0)
		return r;
	r = look_at(&look, vaddr);
	if (r != 0)
		return r;
	*ret_frames = look.frames;
	return 0;
}
