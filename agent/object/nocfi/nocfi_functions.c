/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in text without call frame information.
 *
 * A walk over a gap begins at an anchor or at the gap's begin, and each anchor begins it anew. So
 * the function at an address comes out the same whether the whole object is walked or only the way
 * from the last anchor before it.
 */
#include "agent/object/nocfi/nocfi_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/nocfi/nocfi_anchors.h"
#include "agent/object/nocfi/nocfi_flow.h"
#include "agent/object/nocfi/nocfi_rows.h"
#include "agent/util/macro.h"

#define WINDOW_BYTES ((size_t)4 * NOCFI_FLOW_MAX_BYTES)
/* Jump tables: their entries are read one by one. */
#define DATA_WINDOW_BYTES 1024
/* Libraries of video codecs have 50,000 rows. */
#define MAX_KEPT_BYTES (((size_t)1 << 18) * sizeof(struct nocfi_row))
/* Of the memory for spans: what is kept saves time, what it takes is missing where the table is made. */
#define KEPT_SHARE 4
/* An instruction is visited some 1.5 times; a function that is not understood once more. 2^26 take
 * a second or two. */
#define STEPS_OF_OBJECT ((uint64_t)1 << 26)
#define STEPS_OF_ADDRESS ((uint64_t)1 << 22)

/* How far a walk has come. */
struct place {
	uint64_t vaddr;
	bool is_behind_function;
};

struct nocfi_functions {
	struct elf *elf;			/* borrowed */
	const struct nocfi_ranges *gaps;	/* borrowed */
	const struct nocfi_ranges *called_from; /* borrowed */
	bool is_loaded;
	struct nocfi_anchors anchors;
	struct nocfi_flow_scratch *scratch; /* owned */
	uint8_t *window;		    /* owned: text at window_vaddr */
	uint64_t window_vaddr;
	size_t window_bytes;
	uint8_t data[DATA_WINDOW_BYTES]; /* of the file, at data_off */
	uint64_t data_off;
	size_t data_bytes;
	struct nocfi_rows rows; /* of the walk over all functions */
	uint64_t budget;
	struct place resume; /* between two functions of an earlier walk; 0: there was none */
};

/* A function as the walk found it. `text.code` is borrowed from the window. */
struct function {
	struct nocfi_text text;
	struct nocfi_flow_result result;
};

int nocfi_functions_new(struct elf *elf, const struct nocfi_ranges *gaps,
			const struct nocfi_ranges *called_from,
			struct nocfi_functions **ret_functions)
{
	struct nocfi_functions *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->elf = elf;
	s->gaps = gaps;
	s->called_from = called_from;
	*ret_functions = s;
	return 0;
}

void nocfi_functions_release(struct nocfi_functions *functions)
{
	nocfi_anchors_fini(&functions->anchors);
	nocfi_flow_scratch_free(functions->scratch);
	functions->scratch = NULL;
	free(functions->window);
	functions->window = NULL;
	functions->window_bytes = 0;
	functions->data_bytes = 0;
	nocfi_rows_fini(&functions->rows);
	functions->is_loaded = false;
	functions->resume = (struct place){ 0 };
}

void nocfi_functions_free(struct nocfi_functions *functions)
{
	if (!functions)
		return;
	nocfi_functions_release(functions);
	free(functions);
}

static int load(struct nocfi_functions *s)
{
	int r = 0;

	if (s->is_loaded)
		return 0;
	s->window = malloc(WINDOW_BYTES);
	if (!s->window)
		return -ENOMEM;
	r = nocfi_flow_scratch_new(&s->scratch);
	if (r == 0)
		r = nocfi_anchors_find(s->elf, s->gaps, s->called_from, NOCFI_FUNCTIONS_MAX_SYMBOLS,
				       &s->anchors);
	if (r < 0)
		nocfi_functions_release(s);
	else
		s->is_loaded = true;
	return r;
}

static bool is_applicable(const struct nocfi_functions *s)
{
	return elf_machine(s->elf) == EM_X86_64 && elf_is_64(s->elf) &&
	       nocfi_ranges_bytes(s->called_from) <= NOCFI_FUNCTIONS_MAX_TEXT_BYTES;
}

/* The n bytes of text at vaddr; NULL when they are not all there. Up to `end` the text may be wanted later. */
static const uint8_t *text_at(struct nocfi_functions *s, uint64_t vaddr, size_t n, uint64_t end)
{
	size_t want = (size_t)MIN_OF(MAX_OF(end - vaddr, (uint64_t)n), (uint64_t)WINDOW_BYTES);
	uint64_t file_off;

	if (s->window_bytes == 0 || vaddr < s->window_vaddr ||
	    vaddr - s->window_vaddr > s->window_bytes ||
	    n > s->window_bytes - (vaddr - s->window_vaddr)) {
		ssize_t got = 0;

		if (elf_file_off(s->elf, vaddr, &file_off))
			got = bytes_read_some(elf_bytes(s->elf), file_off, s->window, want);
		s->window_vaddr = vaddr;
		s->window_bytes = got > 0 ? (size_t)got : 0;
	}
	if (n > s->window_bytes - (vaddr - s->window_vaddr))
		return NULL;
	return s->window + (vaddr - s->window_vaddr);
}

static bool is_function(uint64_t vaddr, void *data)
{
	const struct nocfi_functions *s = data;
	size_t i = nocfi_anchors_from(&s->anchors, vaddr);

	return i < s->anchors.n && s->anchors.items[i].vaddr == vaddr &&
	       !s->anchors.items[i].is_part;
}

static bool is_taken(uint64_t vaddr, void *data)
{
	const struct nocfi_functions *s = data;

	return nocfi_anchors_is_taken(&s->anchors, vaddr);
}

static bool read_object(uint64_t vaddr, void *dst, size_t n, void *data)
{
	struct nocfi_functions *s = data;
	uint64_t file_off;

	if (n > sizeof(s->data) || !elf_file_off(s->elf, vaddr, &file_off))
		return false;
	if (file_off < s->data_off || file_off - s->data_off > s->data_bytes ||
	    n > s->data_bytes - (file_off - s->data_off)) {
		ssize_t got =
			bytes_read_some(elf_bytes(s->elf), file_off, s->data, sizeof(s->data));

		s->data_off = file_off;
		s->data_bytes = got > 0 ? (size_t)got : 0;
	}
	if (n > s->data_bytes - (file_off - s->data_off))
		return false;
	memcpy(dst, s->data + (file_off - s->data_off), n);
	return true;
}

/* What fills the place between functions: NOPs, INT3, zeros of assembly. */
static uint64_t skip_padding(struct nocfi_functions *s, uint64_t at, uint64_t end)
{
	size_t n = (size_t)MIN_OF(end - at, (uint64_t)4096);
	const uint8_t *code = text_at(s, at, n, end);
	uint32_t skipped = code ? nocfi_flow_padding(code, (uint32_t)n) : 0;

	while (code && skipped < n && code[skipped] == 0)
		skipped++;
	return at + skipped;
}

/* The text of the function at `at`, whose gap ends at `end`. 0, or UNWIND_SOURCE_NONE:
 * unreadable. */
static int get_text(struct nocfi_functions *s, uint64_t at, uint64_t end,
		    struct nocfi_text *ret_text)
{
	size_t i = nocfi_anchors_from(&s->anchors, at);
	const struct nocfi_anchor *anchor = i < s->anchors.n ? &s->anchors.items[i] : NULL;
	struct nocfi_text text = {
		.vaddr = at,
		.is_function = is_function,
		.is_taken = is_taken,
		.read = read_object,
		.data = s,
		.budget = &s->budget,
	};
	uint64_t n = end - at;

	if (anchor && anchor->vaddr == at) {
		text.is_entry = anchor->is_entry;
		text.is_sized = anchor->n_bytes > 0;
		n = text.is_sized ? MIN_OF(n, (uint64_t)anchor->n_bytes) : n;
		anchor = i + 1 < s->anchors.n ? &s->anchors.items[i + 1] : NULL;
	}
	if (anchor)
		n = MIN_OF(n, anchor->vaddr - at);
	text.n = (uint32_t)MIN_OF(n, (uint64_t)NOCFI_FLOW_MAX_BYTES);
	text.code = text_at(s, at, text.n, end);
	if (!text.code)
		return UNWIND_SOURCE_NONE;
	*ret_text = text;
	return 0;
}

/* Parts of functions that lie elsewhere are entered in the middle: nothing is known of them. */
static void skip_part(const struct nocfi_functions *s, struct place *place)
{
	size_t i = nocfi_anchors_from(&s->anchors, place->vaddr);

	for (; i < s->anchors.n && s->anchors.items[i].vaddr == place->vaddr &&
	       s->anchors.items[i].is_part;
	     i++) {
		place->vaddr += MAX_OF(s->anchors.items[i].n_bytes, 1u);
		place->is_behind_function = false;
	}
}

/* The function at or behind *place in a gap that ends at `end`; *place becomes its end. 0,
 * UNWIND_SOURCE_NONE: there is none, -errno. */
static int next_function(struct nocfi_functions *s, struct place *place, uint64_t end,
			 struct function *ret_function)
{
	struct function f;
	int r;

	if (!is_function(place->vaddr, s)) {
		size_t i = nocfi_anchors_from(&s->anchors, place->vaddr);
		uint64_t limit = i < s->anchors.n ? MIN_OF(end, s->anchors.items[i].vaddr) : end;

		place->vaddr = skip_padding(s, place->vaddr, limit);
	}
	skip_part(s, place);
	if (place->vaddr >= end || s->budget == 0)
		return UNWIND_SOURCE_NONE;
	r = get_text(s, place->vaddr, end, &f.text);
	f.text.is_behind_function = place->is_behind_function;
	if (r == 0)
		r = nocfi_flow_analyse(&f.text, s->scratch, &f.result);
	if (r != 0)
		return r;
	place->vaddr += f.result.n_bytes;
	place->is_behind_function = f.result.is_trusted;
	*ret_function = f;
	return 0;
}

/* *ret_ref is 0 where there was no room. */
static int keep_rows(struct nocfi_functions *s, const struct function *f, uint32_t *ret_ref)
{
	nocfi_rows_begin(&s->rows);
	int r = nocfi_flow_rows(&f->text, s->scratch, &f->result, nocfi_rows_add, &s->rows);
	if (r < 0)
		nocfi_rows_drop(&s->rows);
	*ret_ref = r < 0 ? 0 : nocfi_rows_keep(&s->rows);
	return r == -ENOSPC ? 0 : r;
}

static int add_gap(struct nocfi_functions *s, const struct nocfi_range *gap,
		   struct unwind_spans *spans)
{
	struct place place = { gap->begin, true };
	struct function f;
	int r;

	while ((r = next_function(s, &place, gap->end, &f)) == 0) {
		struct unwind_span span = { .begin = f.text.vaddr, .n_bytes = f.result.n_bytes };

		if (!f.result.is_trusted)
			continue;
		r = keep_rows(s, &f, &span.ref);
		if (r == 0)
			r = unwind_spans_add(spans, &span);
		if (r != 0)
			return r;
	}
	return r == UNWIND_SOURCE_NONE ? 0 : r;
}

int nocfi_functions_spans(struct nocfi_functions *functions, struct unwind_spans *spans)
{
	int r = 0;

	if (!is_applicable(functions))
		return 0;
	r = load(functions);
	functions->budget = STEPS_OF_OBJECT;
	functions->rows.max_bytes = MIN_OF(MAX_KEPT_BYTES, spans->max_bytes / KEPT_SHARE);
	for (size_t i = 0; i < functions->gaps->n && r == 0; i++)
		r = add_gap(functions, &functions->gaps->items[i], spans);
	spans->held_bytes = functions->rows.cap * sizeof(*functions->rows.items);
	return r;
}

/* The function that holds vaddr, by the way from the last anchor before it. */
static int find(struct nocfi_functions *s, uint64_t vaddr, struct function *ret_function)
{
	const struct nocfi_range *gap = nocfi_ranges_at(s->gaps, vaddr);

	if (!gap || !is_applicable(s))
		return UNWIND_SOURCE_NONE;
	int r = load(s);
	if (r < 0)
		return r;
	size_t i = nocfi_anchors_from(&s->anchors, vaddr + 1);
	struct place place = { gap->begin, true };
	if (i > 0)
		place.vaddr = MAX_OF(gap->begin, s->anchors.items[i - 1].vaddr);
	if (s->resume.vaddr >= place.vaddr && s->resume.vaddr <= vaddr)
		place = s->resume;
	s->budget = STEPS_OF_ADDRESS;
	while (place.vaddr <= vaddr) {
		s->resume = place;
		r = next_function(s, &place, gap->end, ret_function);
		if (r != 0)
			return r;
		if (ret_function->text.vaddr > vaddr)
			return UNWIND_SOURCE_NONE;
	}
	return ret_function->result.is_trusted ? 0 : UNWIND_SOURCE_NONE;
}

int nocfi_functions_rows(struct nocfi_functions *functions, const struct unwind_span *span,
			 unwind_row_fn fn, void *data)
{
	struct function f;

	if (nocfi_rows_has(&functions->rows, span->ref))
		return nocfi_rows_foreach(&functions->rows, span->ref, fn, data);
	int r = find(functions, span->begin, &f);
	if (r != 0)
		return MIN_OF(r, 0);
	return nocfi_flow_rows(&f.text, functions->scratch, &f.result, fn, data);
}

struct last_row {
	uint64_t vaddr;
	struct unwind_rule *rule;
};

static int keep_last(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct last_row *last = data;

	if (vaddr <= last->vaddr)
		*last->rule = *rule;
	return 0;
}

int nocfi_functions_rule_at(struct nocfi_functions *functions, uint64_t vaddr,
			    struct unwind_rule *ret_rule)
{
	struct last_row last = { vaddr, ret_rule };
	struct function f;
	int r = find(functions, vaddr, &f);

	if (r != 0)
		return r;
	return nocfi_flow_rows(&f.text, functions->scratch, &f.result, keep_last, &last);
}
