/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions with their files. */
#include "agent/receive/pprof_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/receive/pprof_wire.h"
#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

/* Fields of perftools.profiles.Profile and .Function (pprof/profile.proto). */
enum { FIELD_FUNCTION = 5, FIELD_STRING = 6 };
enum { FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

struct text {
	uint32_t offset, n;
};

struct renaming {
	struct str plain;
	bool keeps_absolute; /* paths stay out of names */
	struct text *texts;  /* its table */
	size_t n_texts;
	size_t n_new; /* texts behind them */
	struct buf *out;
	struct buf new; /* what stands behind the message: texts */
};

static bool is_spy(const char *spy, const char *name)
{
	return spy && strcmp(spy, name) == 0;
}

bool pprof_names_wanted(const char *spy)
{
	return is_spy(spy, "pyspy") || is_spy(spy, "rbspy") || is_spy(spy, "scripting");
}

static bool is_text(const struct pprof_field *f)
{
	return f->number == FIELD_STRING && f->wire == PPROF_WIRE_LENGTH;
}

static size_t count_texts(struct str plain)
{
	struct pprof_field f;
	size_t n = 0;

	for (size_t at = 0; at < plain.n && pprof_next_field(plain, &at, &f);)
		n += is_text(&f);
	return n;
}

static int find_texts(struct renaming *r, struct read_budget *budget)
{
	struct pprof_field f;
	size_t n = count_texts(r->plain);

	if (!read_budget_take_elements(budget, n))
		return -ECANCELED;
	r->texts = calloc(n + 1, sizeof(*r->texts));
	if (!r->texts)
		return -ENOMEM;
	for (size_t at = 0; at < r->plain.n && pprof_next_field(r->plain, &at, &f);)
		if (is_text(&f))
			r->texts[r->n_texts++] = (struct text){ (uint32_t)f.offset, (uint32_t)f.n };
	return 0;
}

static bool get_text(const struct renaming *r, uint64_t i, struct str *ret)
{
	if (i >= r->n_texts)
		return false;
	*ret = (struct str){ r->plain.p + r->texts[i].offset, r->texts[i].n };
	return true;
}

static void put_number(uint64_t value, struct buf *out)
{
	uint8_t bytes[PPROF_VARINT_BYTES];

	(void)buf_append(out, bytes, pprof_put_varint(value, bytes));
}

static void put_head(unsigned int number, unsigned int wire, uint64_t value, struct buf *out)
{
	put_number((uint64_t)number << 3 | wire, out);
	put_number(value, out);
}

/* Of what a function says twice the last counts. */
static bool read_function(const struct renaming *r, struct str function, struct str *ret_name,
			  struct str *ret_file)
{
	uint64_t name = 0, file = 0;
	struct pprof_field f;

	for (size_t at = 0; at < function.n;) {
		if (!pprof_next_field(function, &at, &f))
			return false;
		if (f.number == FUNCTION_NAME && f.wire == PPROF_WIRE_VARINT)
			name = f.value;
		if (f.number == FUNCTION_FILE && f.wire == PPROF_WIRE_VARINT)
			file = f.value;
	}
	return get_text(r, name, ret_name) && get_text(r, file, ret_file);
}

static void put_new_text(struct renaming *r, struct str file, struct str name)
{
	put_head(FIELD_STRING, PPROF_WIRE_LENGTH, file.n + 1 + name.n, &r->new);
	(void)buf_append(&r->new, file.p, file.n);
	(void)buf_append_char(&r->new, ' ');
	(void)buf_append(&r->new, name.p, name.n);
}

/* The function as it is, and behind it the place of another name. */
static void put_function(struct renaming *r, struct str function)
{
	uint8_t place[PPROF_VARINT_BYTES];
	size_t n = pprof_put_varint(r->n_texts + r->n_new++, place);

	put_head(FIELD_FUNCTION, PPROF_WIRE_LENGTH, function.n + 1 + n, r->out);
	(void)buf_append(r->out, function.p, function.n);
	(void)buf_append_char(r->out, FUNCTION_NAME << 3 | PPROF_WIRE_VARINT);
	(void)buf_append(r->out, place, n);
}

static bool rename_function(struct renaming *r, const struct pprof_field *f)
{
	struct str function = { r->plain.p + f->offset, f->n }, name, file;

	if (f->number != FIELD_FUNCTION || f->wire != PPROF_WIRE_LENGTH ||
	    !read_function(r, function, &name, &file) ||
	    (r->keeps_absolute && file.n > 0 && file.p[0] == '/'))
		return false;
	put_new_text(r, file, name);
	put_function(r, function);
	return true;
}

static int rename_all(struct renaming *r, struct read_budget *budget)
{
	struct pprof_field f;
	size_t at = 0;

	while (at < r->plain.n && !r->out->failed && !r->new.failed) {
		size_t begin = at;

		if (!read_budget_goes_on(budget))
			return -ECANCELED;
		if (!pprof_next_field(r->plain, &at, &f))
			at = r->plain.n;
		else if (rename_function(r, &f))
			continue;
		(void)buf_append(r->out, r->plain.p + begin, at - begin);
	}
	(void)buf_append(r->out, buf_str(&r->new), r->new.len);
	return r->out->failed || r->new.failed ? -E2BIG : 0;
}

int pprof_names_put_files(struct str plain, const char *spy, struct read_budget *budget,
			  struct buf *out)
{
	struct renaming r = { .plain = plain,
			      .keeps_absolute = is_spy(spy, "pyspy"),
			      .out = out,
			      .new = BUF_INIT(out->max_bytes) };
	int e = find_texts(&r, budget);

	if (e == 0)
		e = rename_all(&r, budget);
	free(r.texts);
	buf_fini(&r.new);
	return e;
}
