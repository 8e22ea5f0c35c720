/* SPDX-License-Identifier: Apache-2.0 */
/* The structure of a received message: counts, indices, ids, texts. The order of the checks is the server's, so that the first mistake is the
 * one it tells. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest_private.h"
#include "agent/store/segment/id_table.h"
#include "agent/util/str.h"
#include "pprof/profile.pb-c.h"

static int refuse(struct buf *why, const char *text)
{
	(void)buf_append_str(why, text);
	return INGEST_REFUSED_MALFORMED;
}

const char *ingest_text(const struct ingest *in, int64_t index)
{
	const Perftools__Profiles__Profile *p = in->profile;

	return index > 0 && (uint64_t)index < p->n_string_table ? p->string_table[index] : "";
}

/* Below zero is "", as the server takes it. */
static bool is_text(const struct ingest *in, int64_t index)
{
	const Perftools__Profiles__Profile *p = in->profile;

	return index < 0 || (uint64_t)index < p->n_string_table;
}

static int refuse_count(const struct ingest *in, const char *what, const char *flag, size_t n,
			size_t max, struct buf *why)
{
	(void)buf_append_str(why, "the profile with labels '");
	ingest_print_labels(&in->base, why);
	(void)buf_printf(why, "' exceeds the %s (%s, actual: %zu, limit: %zu)", what, flag, n, max);
	return INGEST_REFUSED_SAMPLES;
}

static int check_counts(const struct ingest *in, struct buf *why)
{
	const Perftools__Profiles__Profile *p = in->profile;

	if (p->n_sample_type == 0)
		return refuse(why, "empty profile");
	if (p->n_sample > INGEST_MAX_SAMPLES && !in->in_parts)
		return refuse_count(in, "samples count limit", "max_profile_stacktrace_samples",
				    p->n_sample, INGEST_MAX_SAMPLES, why);
	for (size_t i = 0; i < p->n_sample; i++)
		if (p->sample[i]->n_label > INGEST_MAX_SAMPLE_LABELS)
			return refuse_count(in, "sample labels limit",
					    "max_profile_stacktrace_sample_labels",
					    p->sample[i]->n_label, INGEST_MAX_SAMPLE_LABELS, why);
	return INGEST_OPENED;
}

/* They become values of labels, in no profile of a real profiler near this. */
static bool is_long(const struct ingest *in, const Perftools__Profiles__ValueType *t)
{
	return strlen(ingest_text(in, t->type)) > LABEL_VALUE_MAX ||
	       strlen(ingest_text(in, t->unit)) > LABEL_VALUE_MAX;
}

static int check_sample_types(const struct ingest *in, struct buf *why)
{
	const Perftools__Profiles__Profile *p = in->profile;

	for (size_t i = 0; i < p->n_sample_type; i++) {
		if (!is_text(in, p->sample_type[i]->type) || !is_text(in, p->sample_type[i]->unit))
			return refuse(why, "sample type type string index out of range");
		if (strchr(ingest_text(in, p->sample_type[i]->type), '-'))
			return refuse(why, "sample type contains -");
		if (is_long(in, p->sample_type[i]))
			return refuse(why, "sample type or unit too long");
	}
	if (p->period_type && is_long(in, p->period_type))
		return refuse(why, "period type or unit too long");
	return INGEST_OPENED;
}

static int check_sample(const struct ingest *in, const Perftools__Profiles__Sample *s,
			struct buf *why)
{
	const Perftools__Profiles__Profile *p = in->profile;

	if (s->n_value != p->n_sample_type)
		return refuse(why, "sample value length mismatch");
	for (size_t i = 0; i < s->n_label; i++) {
		const Perftools__Profiles__Label *l = s->label[i];

		if (!is_text(in, l->key) || !is_text(in, l->str) || !is_text(in, l->num_unit))
			return refuse(why, "sample label string index out of range");
	}
	return INGEST_OPENED;
}

static int check_samples(const struct ingest *in, struct buf *why)
{
	const Perftools__Profiles__Profile *p = in->profile;

	for (size_t i = 0; i < p->n_sample; i++) {
		int r = ingest_goes_on(in) ? check_sample(in, p->sample[i], why) : -ECANCELED;

		if (r != INGEST_OPENED)
			return r;
	}
	return INGEST_OPENED;
}

static int check_items(const struct ingest *in, struct buf *why)
{
	const Perftools__Profiles__Profile *p = in->profile;

	for (size_t i = 0; i < p->n_mapping; i++)
		if (!is_text(in, p->mapping[i]->filename) || !is_text(in, p->mapping[i]->build_id))
			return refuse(why, "mapping file name string index out of range");
	for (size_t i = 0; i < p->n_location; i++)
		if (p->location[i]->id == 0)
			return refuse(why, "location id is 0");
	for (size_t i = 0; i < p->n_function; i++) {
		const Perftools__Profiles__Function *f = p->function[i];

		if (f->id == 0)
			return refuse(why, "function id is 0");
		if (!is_text(in, f->name) || !is_text(in, f->system_name))
			return refuse(why, "function name string index out of range");
		if (!is_text(in, f->filename))
			return refuse(why, "function file name string index out of range");
	}
	return INGEST_OPENED;
}

/* What a person needs of a long one. */
#define HEX_MAX_BYTES 200

static int refuse_text(const char *text, struct buf *why)
{
	(void)buf_append_str(why, "invalid utf8 string hex: ");
	for (size_t i = 0; text[i] && i < HEX_MAX_BYTES; i++)
		(void)buf_printf(why, "%02x", (unsigned char)text[i]);
	return INGEST_REFUSED_MALFORMED;
}

/* Of one that is too long the end is kept, from a whole character on. */
static char *cut_text(char *text)
{
	size_t n = strlen(text);
	char *p = n > INGEST_MAX_TEXT_BYTES ? text + n - INGEST_MAX_TEXT_BYTES : text;

	while (p > text && (*p & 0xc0) == 0x80)
		p++;
	return p;
}

static int check_texts(struct ingest *in, struct buf *why)
{
	Perftools__Profiles__Profile *p = in->profile;

	if (p->n_string_table == 0 || p->string_table[0][0])
		return refuse(why, "string 0 should be empty string");
	for (size_t i = 0; i < p->n_string_table; i++) {
		if (!ingest_goes_on(in))
			return -ECANCELED;
		if (!str_is_utf8(str_from(p->string_table[i])))
			return refuse_text(p->string_table[i], why);
		p->string_table[i] = cut_text(p->string_table[i]);
	}
	return INGEST_OPENED;
}

static int compare_ids(const void *a, const void *b)
{
	const struct ingest_id *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

uint32_t ingest_find(const struct ingest_ids *ids, uint64_t id)
{
	size_t low = 0, high = ids->n;

	if (!ids->items)
		return id > 0 && id <= ids->n ? (uint32_t)(id - 1) : ID_NONE;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ids->items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ids->n && ids->items[low].id == id ? ids->items[low].index : ID_NONE;
}

/* As nearly all number them from 1 on, there is nothing to look up. */
#define INDEX_IDS(in, things, array, ids)                                                    \
	({                                                                                   \
		struct ingest_ids *x_ = (ids);                                               \
		bool dense_ = true;                                                          \
		x_->n = (things);                                                            \
		for (size_t i_ = 0; i_ < x_->n && dense_; i_++)                              \
			dense_ = (array)[i_]->id == i_ + 1;                                  \
		if (!dense_)                                                                 \
			x_->items = ingest_memory_alloc(&(in)->memory,                       \
							(x_->n + 1) * sizeof(*x_->items));   \
		for (size_t i_ = 0; x_->items && i_ < x_->n; i_++)                           \
			x_->items[i_] = (struct ingest_id){ (array)[i_]->id, (uint32_t)i_ }; \
		if (x_->items)                                                               \
			qsort(x_->items, x_->n, sizeof(*x_->items), compare_ids);            \
		dense_ || x_->items;                                                         \
	})

static bool index_all(struct ingest *in)
{
	const Perftools__Profiles__Profile *p = in->profile;

	return INDEX_IDS(in, p->n_function, p->function, &in->functions) &&
	       INDEX_IDS(in, p->n_location, p->location, &in->locations) &&
	       INDEX_IDS(in, p->n_mapping, p->mapping, &in->mappings);
}

static int check_received(struct ingest *in, struct buf *why)
{
	int r = check_texts(in, why);

	if (r != INGEST_OPENED)
		return r;
	r = check_sample_types(in, why);
	if (r != INGEST_OPENED)
		return r;
	r = check_samples(in, why);
	if (r != INGEST_OPENED)
		return r;
	return check_items(in, why);
}

int ingest_check(struct ingest *in, struct buf *why)
{
	int r = check_counts(in, why);

	if (r == INGEST_OPENED && !in->is_own)
		r = check_received(in, why);
	if (r != INGEST_OPENED)
		return r;
	return index_all(in) ? INGEST_OPENED : ingest_no_memory(in, why);
}
