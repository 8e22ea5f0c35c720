/* SPDX-License-Identifier: Apache-2.0 */
/* What samples of a pprof refer to. */
#include "agent/scrape/delta_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/hash.h"

#define FIRST_ITEMS 256

enum { LOCATION_ID = 1, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2 };
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_NUM_UNIT = 4 };

/* Room for one more: the array, perhaps moved. */
static int grow(void **items, size_t *cap, size_t n, size_t item_bytes)
{
	size_t more = *cap ? *cap * 2 : FIRST_ITEMS;

	if (n < *cap)
		return 0;
	if (n >= DELTA_MAX_ITEMS)
		return -EBADMSG;
	void *moved = realloc(*items, more * item_bytes);
	if (!moved)
		return -ENOMEM;
	*items = moved;
	*cap = more;
	return 0;
}

static int add_id(struct delta_ids *ids, uint64_t id, uint64_t value)
{
	int r = grow((void **)&ids->items, &ids->cap, ids->n, sizeof(*ids->items));

	if (r < 0)
		return r;
	ids->unsorted |= ids->n > 0 && ids->items[ids->n - 1].id >= id;
	ids->items[ids->n++] = (struct delta_id){ id, value };
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	const struct delta_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void sort_ids(struct delta_ids *ids)
{
	if (ids->unsorted)
		qsort(ids->items, ids->n, sizeof(*ids->items), compare_ids);
}

/* Ids are usually 1, 2, 3 … */
static const struct delta_id *find_id(const struct delta_ids *ids, uint64_t id)
{
	const struct delta_id wanted = { .id = id };

	if (id > 0 && id <= ids->n && ids->items[id - 1].id == id)
		return &ids->items[id - 1];
	return ids->n ? bsearch(&wanted, ids->items, ids->n, sizeof(*ids->items), compare_ids)
		      : NULL;
}

/* 0 where there is none of that number. */
static uint64_t text_of(const struct delta_tables *t, uint64_t number)
{
	return number < t->n_texts ? t->texts[number] : 0;
}

bool delta_tables_is(const struct delta_tables *t, uint64_t number, const char *text)
{
	return text_of(t, number) == siphash_of(t->key, text, strlen(text));
}

/* ---- three passes: texts; functions, which have names; locations, which have functions ----------------------------------------- */

static int read_type(struct delta_tables *t, struct wire w)
{
	struct delta_type type = { 0 };
	struct wire_field f;

	while (wire_next(&w, &f)) {
		if (f.number == TYPE_TYPE)
			type.type = f.value;
		if (f.number == TYPE_UNIT)
			type.unit = f.value;
	}
	if (w.broken || t->n_types == DELTA_MAX_VALUES)
		return -EBADMSG;
	t->types[t->n_types++] = type;
	return 0;
}

static int read_function(struct delta_tables *t, struct wire w)
{
	uint64_t id = 0, name = 0;
	struct wire_field f;

	while (wire_next(&w, &f)) {
		if (f.number == FUNCTION_ID)
			id = f.value;
		if (f.number == FUNCTION_NAME)
			name = f.value;
	}
	return w.broken ? -EBADMSG : add_id(&t->functions, id, text_of(t, name));
}

static int read_text(struct delta_tables *t, const struct wire *w)
{
	int r = grow((void **)&t->texts, &t->texts_cap, t->n_texts, sizeof(*t->texts));

	if (r < 0)
		return r;
	t->texts[t->n_texts++] = siphash_of(t->key, w->p, (size_t)(w->end - w->p));
	return 0;
}

/* What is looked at first: everything but what refers to texts. */
static int read_first(struct delta_tables *t, const struct wire_field *f)
{
	if (f->type == WIRE_VARINT && f->number == PROFILE_TIME_NANOS)
		t->time_ns = (int64_t)f->value;
	if (f->type != WIRE_BYTES)
		return 0;
	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
		return read_type(t, f->part);
	case PROFILE_SAMPLE:
		return ++t->n_samples > DELTA_MAX_SAMPLES ? -EBADMSG : 0;
	case PROFILE_STRING_TABLE:
		return read_text(t, &f->part);
	default:
		return 0;
	}
}

static int read_second(struct delta_tables *t, const struct wire_field *f)
{
	return f->number == PROFILE_FUNCTION && f->type == WIRE_BYTES ? read_function(t, f->part)
								      : 0;
}

static uint64_t line_hash(const struct delta_tables *t, struct wire w)
{
	uint64_t function = 0, line = 0;
	struct wire_field f;

	while (wire_next(&w, &f)) {
		if (f.number == LINE_FUNCTION_ID)
			function = f.value;
		if (f.number == LINE_LINE)
			line = f.value;
	}
	const struct delta_id *found = find_id(&t->functions, function);
	return hash_u64((found ? found->value : 0) + hash_u64(line));
}

/* By its address; one without is known by its functions and lines. */
static int read_location(struct delta_tables *t, struct wire w)
{
	uint64_t id = 0, address = 0, lines = 0;
	struct wire_field f;

	while (wire_next(&w, &f)) {
		if (f.number == LOCATION_ID)
			id = f.value;
		if (f.number == LOCATION_ADDRESS)
			address = f.value;
		if (f.number == LOCATION_LINE && f.type == WIRE_BYTES)
			lines = hash_u64(lines + line_hash(t, f.part));
	}
	return w.broken ? -EBADMSG : add_id(&t->locations, id, address ? address : lines);
}

static int read_third(struct delta_tables *t, const struct wire_field *f)
{
	return f->number == PROFILE_LOCATION && f->type == WIRE_BYTES ? read_location(t, f->part)
								      : 0;
}

static int pass(struct delta_tables *t, struct wire w,
		int (*read)(struct delta_tables *t, const struct wire_field *f))
{
	struct wire_field f;
	int r = 0;

	while (r == 0 && wire_next(&w, &f))
		r = read(t, &f);
	return r == 0 && w.broken ? -EBADMSG : r;
}

int delta_tables_read(struct delta_tables *t, const struct siphash_key *key, const uint8_t *plain,
		      size_t n)
{
	struct wire w = wire_of(plain, n);
	int r;

	*t = (struct delta_tables){ .key = key };
	r = pass(t, w, read_first);
	if (r == 0)
		r = pass(t, w, read_second);
	sort_ids(&t->functions);
	if (r == 0)
		r = pass(t, w, read_third);
	sort_ids(&t->locations);
	return r == 0 && t->n_types == 0 ? -EBADMSG : r;
}

void delta_tables_fini(struct delta_tables *t)
{
	free(t->texts);
	free(t->locations.items);
	free(t->functions.items);
}

/* ---- samples --------------------------------------------------------------------------------------------------------------------- */

static bool add_label(const struct delta_tables *t, struct wire w, uint64_t *sum)
{
	uint64_t values[LABEL_NUM_UNIT + 1] = { 0 };
	struct wire_field f;
	struct siphash s;

	while (wire_next(&w, &f))
		if (f.type == WIRE_VARINT && f.number <= LABEL_NUM_UNIT)
			values[f.number] = f.value;
	siphash_init(&s, t->key);
	siphash_word(&s, text_of(t, values[LABEL_KEY]));
	siphash_word(&s, text_of(t, values[LABEL_STR]));
	siphash_word(&s, values[LABEL_NUM]);
	siphash_word(&s, text_of(t, values[LABEL_NUM_UNIT]));
	*sum += siphash_finish(&s, NULL, 0);
	return !w.broken;
}

static bool hash_locations(struct siphash *s, struct delta_tables *t, struct wire_field *f)
{
	uint64_t id;

	while (wire_numbers(f, &id)) {
		const struct delta_id *location = find_id(&t->locations, id);

		if (!location || ++t->n_frames > DELTA_MAX_FRAMES)
			return false;
		siphash_word(s, location->value);
	}
	return !f->part.broken;
}

static bool take_values(struct wire_field *f, size_t *n, int64_t values[DELTA_MAX_VALUES])
{
	uint64_t value;

	while (wire_numbers(f, &value)) {
		if (*n == DELTA_MAX_VALUES)
			return false;
		values[(*n)++] = (int64_t)value;
	}
	return !f->part.broken;
}

/* Labels in any order are the same ones. */
bool delta_tables_sample(struct delta_tables *t, struct wire w, uint64_t *ret_hash,
			 int64_t ret_values[DELTA_MAX_VALUES])
{
	uint64_t labels = 0;
	struct siphash s;
	struct wire_field f;
	size_t n_values = 0;
	bool good = true;

	siphash_init(&s, t->key);
	while (good && wire_next(&w, &f)) {
		if (f.number == SAMPLE_LOCATION_ID)
			good = hash_locations(&s, t, &f);
		else if (f.number == SAMPLE_VALUE)
			good = take_values(&f, &n_values, ret_values);
		else if (f.number == SAMPLE_LABEL && f.type == WIRE_BYTES)
			good = add_label(t, f.part, &labels);
	}
	siphash_word(&s, labels);
	*ret_hash = siphash_finish(&s, NULL, 0);
	return good && !w.broken && n_values == t->n_types;
}
