/* SPDX-License-Identifier: Apache-2.0 */
/* What happened between two profiles of a process that counts from its start. */
#include "agent/scrape/delta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/scrape/delta_tables.h"
#include "agent/util/macro.h"
#include "agent/util/saturate.h"

#define WIRE_BYTE_BITS 7
#define VARINT_MAX_BYTES 10

/* Counts since the start, of a stack in the last profile. */
struct row {
	uint64_t key;
	int64_t counts[DELTA_MAX_COUNTS];
};

struct delta {
	struct siphash_key key;
	struct row *rows; /* by key */
	size_t n_rows;
	int64_t time_ns; /* of the last profile; 0: it had none */
	bool began;
};

/* A sample of the profile at hand. */
struct entry {
	uint64_t key;
	uint32_t index; /* among the samples; that of the first of equal ones */
	bool twice;	/* its values are in another one */
	int64_t values[DELTA_MAX_VALUES];
};

struct reading {
	struct delta *d;
	struct delta_tables tables;
	struct entry *entries; /* by key, then as in the profile */
	size_t n_entries;
	int counts[DELTA_MAX_COUNTS]; /* which values these are; -1: none */
	size_t n_counts;
	struct row *rows; /* what is remembered of it */
	size_t n_rows;
	bool restarted;
};

int delta_new(struct delta **ret_delta)
{
	struct delta *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	siphash_key_init(&d->key);
	*ret_delta = d;
	return 0;
}

void delta_free(struct delta *d)
{
	if (!d)
		return;
	free(d->rows);
	free(d);
}

size_t delta_n_stacks(const struct delta *d)
{
	return d->n_rows;
}

static void reading_fini(struct reading *x)
{
	delta_tables_fini(&x->tables);
	free(x->entries);
	free(x->rows);
}

/* ---- which values count from the start ------------------------------------------------------------------------------------------- */

static bool is_count(const struct delta_tables *t, const struct delta_type *type)
{
	static const struct {
		const char *type, *unit;
	} counts[] = {
		{ "alloc_objects", "count" },
		{ "alloc_space", "bytes" },
		{ "contentions", "count" },
		{ "delay", "nanoseconds" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (delta_tables_is(t, type->type, counts[i].type) &&
		    delta_tables_is(t, type->unit, counts[i].unit))
			return true;
	return false;
}

static int find_counts(struct reading *x)
{
	for (size_t i = 0; i < x->tables.n_types; i++) {
		if (!is_count(&x->tables, &x->tables.types[i]))
			continue;
		if (x->n_counts == DELTA_MAX_COUNTS)
			return -EBADMSG;
		x->counts[x->n_counts++] = (int)i;
	}
	return 0;
}

/* ---- samples by their keys ------------------------------------------------------------------------------------------------------- */

static bool counts_are_sound(const struct reading *x, const struct entry *e)
{
	for (size_t i = 0; i < x->n_counts; i++)
		if (e->values[x->counts[i]] < 0)
			return false;
	return true;
}

static int read_entries(struct reading *x, struct wire w)
{
	struct wire_field f;

	x->entries = calloc(MAX_OF(x->tables.n_samples, 1), sizeof(*x->entries));
	if (!x->entries)
		return -ENOMEM;
	while (wire_next(&w, &f)) {
		struct entry *e = &x->entries[x->n_entries];

		if (f.number != PROFILE_SAMPLE || f.type != WIRE_BYTES)
			continue;
		if (!delta_tables_sample(&x->tables, f.part, &e->key, e->values) ||
		    !counts_are_sound(x, e))
			return -EBADMSG;
		e->index = (uint32_t)x->n_entries++;
	}
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_indices(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* A sum that passes its range stays at the end of it; of values that may be negative neither. */
static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	if (a >= 0 && b >= 0)
		return saturate_add(a, b);
	return __builtin_add_overflow(a, b, &s) ? INT64_MIN : s;
}

/* The first of equal ones gets what all of them have. */
static void join_equal(struct reading *x)
{
	struct entry *first = NULL;

	qsort(x->entries, x->n_entries, sizeof(*x->entries), compare_keys);
	for (size_t i = 0; i < x->n_entries; i++) {
		struct entry *e = &x->entries[i];

		e->twice = first && first->key == e->key;
		for (size_t v = 0; e->twice && v < x->tables.n_types; v++)
			first->values[v] = sum(first->values[v], e->values[v]);
		if (!e->twice)
			first = e;
	}
}

/* ---- what is remembered, and taken off --------------------------------------------------------------------------------------------- */

static int make_rows(struct reading *x)
{
	x->rows = calloc(MAX_OF(x->n_entries, 1), sizeof(*x->rows));
	if (!x->rows)
		return -ENOMEM;
	for (size_t i = 0; i < x->n_entries; i++) {
		const struct entry *e = &x->entries[i];

		if (e->twice)
			continue;
		x->rows[x->n_rows].key = e->key;
		for (size_t c = 0; c < x->n_counts; c++)
			x->rows[x->n_rows].counts[c] = e->values[x->counts[c]];
		x->n_rows++;
	}
	return 0;
}

/* Both are sorted: the row of this key, from *at on. */
static const struct row *row_of(const struct delta *d, uint64_t key, size_t *at)
{
	while (*at < d->n_rows && d->rows[*at].key < key)
		(*at)++;
	return *at < d->n_rows && d->rows[*at].key == key ? &d->rows[*at] : NULL;
}

static void look_for_restart(struct reading *x)
{
	size_t at = 0;

	for (size_t i = 0; i < x->n_rows; i++) {
		const struct row *now = &x->rows[i], *before = row_of(x->d, now->key, &at);

		for (size_t c = 0; before && c < x->n_counts; c++)
			x->restarted |= now->counts[c] < before->counts[c];
	}
}

/* A stack that was not there before has done all of its counts since. */
static void take_off(struct reading *x)
{
	bool from_here = !x->d->began || x->restarted;
	size_t at = 0;

	for (size_t i = 0; i < x->n_entries; i++) {
		struct entry *e = &x->entries[i];
		const struct row *before = row_of(x->d, e->key, &at);

		for (size_t c = 0; c < x->n_counts; c++) {
			int64_t *value = &e->values[x->counts[c]];

			*value = from_here ? 0 : *value - (before ? before->counts[c] : 0);
		}
	}
}

/* ---- the profile of it --------------------------------------------------------------------------------------------------------------- */

static size_t varint(uint64_t value, uint8_t out[VARINT_MAX_BYTES])
{
	size_t n = 0;

	for (; value >= 0x80; value >>= WIRE_BYTE_BITS)
		out[n++] = (uint8_t)(value | 0x80);
	out[n++] = (uint8_t)value;
	return n;
}

static void put_varint(struct buf *out, uint64_t value)
{
	uint8_t bytes[VARINT_MAX_BYTES];

	(void)buf_append(out, bytes, varint(value, bytes));
}

static void put_tag(struct buf *out, uint32_t number, enum wire_type type)
{
	put_varint(out, number << 3 | type);
}

/* All fields but the values. */
static size_t other_bytes(struct wire w)
{
	struct wire_field f;
	size_t n = 0;

	while (wire_next(&w, &f))
		n += f.number == SAMPLE_VALUE ? 0 : f.n_whole;
	return n;
}

static void put_others(struct buf *out, struct wire w)
{
	struct wire_field f;

	while (wire_next(&w, &f))
		if (f.number != SAMPLE_VALUE)
			(void)buf_append(out, f.whole, f.n_whole);
}

static void put_sample(struct buf *out, struct wire sample, const struct entry *e, size_t n_values)
{
	uint8_t packed[DELTA_MAX_VALUES * VARINT_MAX_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < n_values; i++)
		n += varint((uint64_t)e->values[i], packed + n);
	put_tag(out, PROFILE_SAMPLE, WIRE_BYTES);
	/* The field of the values has a tag and a length of one byte each. */
	put_varint(out, other_bytes(sample) + 2 + n);
	put_others(out, sample);
	put_tag(out, SAMPLE_VALUE, WIRE_BYTES);
	put_varint(out, n);
	(void)buf_append(out, packed, n);
}

static bool says_something(const struct entry *e, size_t n_values)
{
	for (size_t i = 0; i < n_values; i++)
		if (e->values[i] != 0)
			return !e->twice;
	return false;
}

/* Of two profiles it is known how long lies between them: that takes the place of what the second one says. */
static void put_other(const struct reading *x, const struct wire_field *f, struct buf *out)
{
	int64_t before = x->d->began && !x->restarted ? x->d->time_ns : 0;
	bool known = before > 0 && x->tables.time_ns > before;

	if (!known || f->number != PROFILE_DURATION_NANOS)
		(void)buf_append(out, f->whole, f->n_whole);
	if (!known || f->number != PROFILE_TIME_NANOS)
		return;
	put_tag(out, PROFILE_DURATION_NANOS, WIRE_VARINT);
	put_varint(out, (uint64_t)(x->tables.time_ns - before));
}

static int write_profile(struct reading *x, struct wire w, struct buf *out)
{
	const struct entry *e = x->entries;
	size_t n_values = x->tables.n_types;
	struct wire_field f;

	qsort(x->entries, x->n_entries, sizeof(*x->entries), compare_indices);
	while (wire_next(&w, &f)) {
		if (f.number == PROFILE_SAMPLE && f.type == WIRE_BYTES) {
			if (says_something(e, n_values))
				put_sample(out, f.part, e, n_values);
			e++;
		} else {
			put_other(x, &f, out);
		}
	}
	return out->failed ? -ENOBUFS : 0;
}

static void remember(struct reading *x)
{
	struct delta *d = x->d;

	free(d->rows);
	d->rows = TAKE_PTR(x->rows);
	d->n_rows = x->n_rows;
	d->time_ns = x->tables.time_ns;
	d->began = true;
}

static int make(struct reading *x, const uint8_t *plain, size_t n, struct buf *out)
{
	int r = read_entries(x, wire_of(plain, n));

	if (r < 0)
		return r;
	join_equal(x);
	r = make_rows(x);
	if (r < 0)
		return r;
	look_for_restart(x);
	take_off(x);
	r = write_profile(x, wire_of(plain, n), out);
	if (r < 0)
		return r;
	r = !x->d->began ? DELTA_FIRST : x->restarted ? DELTA_RESTARTED : DELTA_MADE;
	remember(x);
	return r;
}

int delta_apply(struct delta *d, const uint8_t *plain, size_t n, struct buf *out)
{
	_cleanup_(reading_fini) struct reading x = { .d = d };
	int r = delta_tables_read(&x.tables, &d->key, plain, n);

	if (r == 0)
		r = find_counts(&x);
	if (r == 0 && x.n_counts == 0)
		return buf_append(out, plain, n) < 0 ? -ENOBUFS : DELTA_NO_COUNTS;
	if (r == 0)
		r = make(&x, plain, n, out);
	return r == -EBADMSG ? DELTA_MALFORMED : r;
}

bool delta_look(const uint8_t *plain, size_t n, size_t *ret_n_samples)
{
	struct wire w = wire_of(plain, n);
	size_t n_samples = 0, n_types = 0;
	struct wire_field f;

	while (wire_next(&w, &f)) {
		n_samples += f.number == PROFILE_SAMPLE && f.type == WIRE_BYTES;
		n_types += f.number == PROFILE_SAMPLE_TYPE && f.type == WIRE_BYTES;
	}
	*ret_n_samples = n_samples;
	return !w.broken && n_types > 0;
}
