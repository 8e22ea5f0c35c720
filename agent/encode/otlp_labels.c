/* SPDX-License-Identifier: Apache-2.0 */
/* What the labels of a sample become in OTLP. */
#include <string.h>

#include "agent/encode/otlp_dictionary.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "pprof/profile.pb-c.h"

#define HEX_DIGITS_A_WORD 16

/* What has a name in the semantic conventions is called by it. */
static const struct {
	const char *label;
	enum otlp_text name;
	enum otlp_attribute_kind kind;
} names[] = {
	{ "process", OTLP_SERVICE_NAME, OTLP_STRING }, { "comm", OTLP_PROCESS_NAME, OTLP_STRING },
	{ "pid", OTLP_PROCESS_PID, OTLP_INT },	       { "tid", OTLP_THREAD_ID, OTLP_INT },
	{ "thread", OTLP_THREAD_NAME, OTLP_STRING },
};

static bool has_key(const struct otlp_dictionary *d, const struct otlp_labels *l, int32_t key)
{
	for (size_t i = 0; i < l->n; i++)
		if (otlp_rows_get(&d->attributes, (size_t)l->attributes[i])
			    .words[OTLP_ATTRIBUTE_KEY] == (uint64_t)key)
			return true;
	return false;
}

/* Names are unique in a sample: the first stays. */
static int put(struct otlp_dictionary *d, struct otlp_labels *l, uint32_t key,
	       enum otlp_attribute_kind kind, uint64_t value, uint32_t unit)
{
	uint32_t at;

	if (l->n == OTLP_MAX_ATTRIBUTES || has_key(d, l, otlp_string(d, key)))
		return 0;
	int r = otlp_attribute(d, key, kind, value, unit, &at);
	if (r == 0)
		l->attributes[l->n++] = (int32_t)at;
	return r;
}

struct value {
	uint32_t key;
	enum otlp_attribute_kind kind;
	uint64_t value;
};

/* Numbers may come as texts, as Pyroscope throws numbers of pprof away. What is no number keeps its name. */
static void rename_label(const struct otlp_dictionary *d, struct value *v)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t number = v->value;

		if (strcmp(otlp_text(d, v->key), names[i].label) != 0)
			continue;
		if (v->kind == OTLP_STRING && names[i].kind == OTLP_INT &&
		    str_parse_u64(str_from(otlp_text(d, (uint32_t)v->value)), 10, INT64_MAX,
				  &number) < 0)
			return;
		if (v->kind == OTLP_INT && names[i].kind == OTLP_STRING)
			return;
		*v = (struct value){ d->texts[names[i].name], names[i].kind, number };
		return;
	}
}

static int put_label(struct otlp_dictionary *d, struct otlp_labels *l,
		     const Perftools__Profiles__Label *label)
{
	struct value v = { (uint32_t)label->key, OTLP_INT, (uint64_t)label->num };

	if (label->str)
		v = (struct value){ (uint32_t)label->key, OTLP_STRING, (uint64_t)label->str };
	rename_label(d, &v);
	return put(d, l, v.key, v.kind, v.value, label->str ? 0 : (uint32_t)label->num_unit);
}

static const char *find(const struct otlp_dictionary *d, const Perftools__Profiles__Sample *sample,
			const char *key)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (sample->label[i]->str > 0 &&
		    strcmp(otlp_text(d, (uint32_t)sample->label[i]->key), key) == 0)
			return otlp_text(d, (uint32_t)sample->label[i]->str);
	return "";
}

static bool parse_hex(const char *text, uint64_t *words, size_t n)
{
	uint64_t any = 0;

	if (strlen(text) != n * HEX_DIGITS_A_WORD)
		return false;
	for (size_t i = 0; i < n; i++, text += HEX_DIGITS_A_WORD) {
		if (str_parse_u64((struct str){ text, HEX_DIGITS_A_WORD }, 16, UINT64_MAX,
				  &words[i]) < 0)
			return false;
		any |= words[i];
	}
	return any != 0;
}

static bool is_of_link(const struct otlp_dictionary *d, const Perftools__Profiles__Label *label)
{
	const char *key = otlp_text(d, (uint32_t)label->key);

	return strcmp(key, "trace_id") == 0 || strcmp(key, "span_id") == 0;
}

/* Of a trace of 16 bytes and a span of 8, both in hex. */
static int put_link(struct otlp_dictionary *d, const Perftools__Profiles__Sample *sample,
		    struct otlp_labels *l)
{
	uint64_t words[3];

	return parse_hex(find(d, sample, "trace_id"), words, 2) &&
			       parse_hex(find(d, sample, "span_id"), words + 2, 1)
		       ? otlp_rows_add(&d->links, words, ARRAY_SIZE(words), &l->link)
		       : 0;
}

int otlp_labels(struct otlp_dictionary *d, const Perftools__Profiles__Sample *sample,
		struct otlp_labels *ret_labels)
{
	int r;

	ret_labels->n = 0;
	ret_labels->link = 0;
	r = put_link(d, sample, ret_labels);
	for (size_t i = 0; r == 0 && i < sample->n_label; i++)
		if (!ret_labels->link || !is_of_link(d, sample->label[i]))
			r = put_label(d, ret_labels, sample->label[i]);
	return r;
}
