/* SPDX-License-Identifier: Apache-2.0 */
/* Received profiles as tests want them. */
#include "tests/support/made_profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define ARENA_MAX ((size_t)256 << 20)
#define PERIOD 10000000
#define FIRST_ADDRESS 0x1000

static void *take(struct made_profile *m, size_t n)
{
	void *p = arena_alloc(&m->arena, n + 1);

	assert(p);
	memset(p, 0, n + 1);
	return p;
}

/* An array with room for one more, doubled when its number is a power of two. */
#define PUSH(m, array, n, item)                                                         \
	do {                                                                            \
		if (((n) & ((n)-1)) == 0) {                                             \
			void *grown_ = take((m), ((n) ? (n)*2 : 1) * sizeof(*(array))); \
                                                                                        \
			if (n)                                                          \
				memcpy(grown_, (array), (n) * sizeof(*(array)));        \
			(array) = grown_;                                               \
		}                                                                       \
		(array)[(n)++] = (item);                                                \
	} while (0)

static char *copy(struct made_profile *m, const char *text, size_t n)
{
	char *p = take(m, n);

	memcpy(p, text, n);
	return p;
}

static int64_t text_of(struct made_profile *m, const char *text, size_t n)
{
	Perftools__Profiles__Profile *p = &m->message;

	for (size_t i = 0; i < p->n_string_table; i++)
		if (strlen(p->string_table[i]) == n && memcmp(p->string_table[i], text, n) == 0)
			return (int64_t)i;
	PUSH(m, p->string_table, p->n_string_table, copy(m, text, n));
	return (int64_t)p->n_string_table - 1;
}

int64_t made_profile_text(struct made_profile *m, const char *text)
{
	return text_of(m, text, strlen(text));
}

static void set_type(struct made_profile *m, Perftools__Profiles__ValueType *t, const char *word,
		     size_t n)
{
	const char *slash = memchr(word, '/', n);

	assert(slash);
	t->type = text_of(m, word, (size_t)(slash - word));
	t->unit = text_of(m, slash + 1, n - (size_t)(slash + 1 - word));
}

static void add_mapping(struct made_profile *m)
{
	Perftools__Profiles__Mapping *mapping = take(m, sizeof(*mapping));

	perftools__profiles__mapping__init(mapping);
	mapping->id = 1;
	mapping->memory_start = FIRST_ADDRESS;
	mapping->memory_limit = 16 * FIRST_ADDRESS;
	mapping->filename = made_profile_text(m, "/bin/made");
	mapping->has_functions = 1;
	PUSH(m, m->message.mapping, m->message.n_mapping, mapping);
}

void made_profile_init(struct made_profile *m, const char *types, const char *period,
		       int64_t time_ms)
{
	memset(m, 0, sizeof(*m));
	arena_init(&m->arena, ARENA_MAX);
	perftools__profiles__profile__init(&m->message);
	made_profile_text(m, "");
	for (const char *word = types; *word;) {
		Perftools__Profiles__ValueType *t = take(m, sizeof(*t));
		size_t n = strcspn(word, " ");

		perftools__profiles__value_type__init(t);
		set_type(m, t, word, n);
		PUSH(m, m->message.sample_type, m->message.n_sample_type, t);
		word += n + (word[n] == ' ');
	}
	if (period[0]) {
		perftools__profiles__value_type__init(&m->period_type);
		set_type(m, &m->period_type, period, strlen(period));
		m->message.period_type = &m->period_type;
		m->message.period = PERIOD;
	}
	m->message.time_nanos = time_ms * 1000000;
	add_mapping(m);
}

void made_profile_fini(struct made_profile *m)
{
	arena_fini(&m->arena);
}

static uint64_t location_of(struct made_profile *m, const char *name, size_t n)
{
	Perftools__Profiles__Profile *p = &m->message;
	int64_t text = text_of(m, name, n);

	for (size_t i = 0; i < p->n_function; i++)
		if (p->function[i]->name == text)
			return p->location[i]->id;
	Perftools__Profiles__Function *f = take(m, sizeof(*f));
	Perftools__Profiles__Location *l = take(m, sizeof(*l));
	Perftools__Profiles__Line *line = take(m, sizeof(*line));

	perftools__profiles__function__init(f);
	perftools__profiles__location__init(l);
	perftools__profiles__line__init(line);
	f->name = f->system_name = text;
	PUSH(m, p->function, p->n_function, f);
	PUSH(m, p->location, p->n_location, l);
	PUSH(m, l->line, l->n_line, line);
	f->id = l->id = line->function_id = p->n_function;
	l->mapping_id = 1;
	l->address = FIRST_ADDRESS + l->id;
	return l->id;
}

static void add_labels(struct made_profile *m, Perftools__Profiles__Sample *s, const char *labels)
{
	while (*labels) {
		Perftools__Profiles__Label *l = take(m, sizeof(*l));
		size_t n = strcspn(labels, ","), n_key = strcspn(labels, "=");

		perftools__profiles__label__init(l);
		l->key = text_of(m, labels, n_key);
		l->str = text_of(m, labels + n_key + 1, n - n_key - 1);
		PUSH(m, s->label, s->n_label, l);
		labels += n + (labels[n] == ',');
	}
}

void made_profile_sample(struct made_profile *m, const char *stack, const int64_t *values,
			 const char *labels)
{
	Perftools__Profiles__Sample *s = take(m, sizeof(*s));

	perftools__profiles__sample__init(s);
	while (*stack) {
		size_t n = strcspn(stack, ";");

		PUSH(m, s->location_id, s->n_location_id, location_of(m, stack, n));
		stack += n + (stack[n] == ';');
	}
	for (size_t i = 0; i < s->n_location_id / 2; i++) {
		uint64_t leaf = s->location_id[i];

		s->location_id[i] = s->location_id[s->n_location_id - 1 - i];
		s->location_id[s->n_location_id - 1 - i] = leaf;
	}
	for (size_t i = 0; i < m->message.n_sample_type; i++)
		PUSH(m, s->value, s->n_value, values[i]);
	if (labels)
		add_labels(m, s, labels);
	PUSH(m, m->message.sample, m->message.n_sample, s);
}

uint8_t *made_profile_pack(const struct made_profile *m, size_t *ret_n)
{
	size_t n = perftools__profiles__profile__get_packed_size(&m->message);
	uint8_t *bytes = malloc(n + 1);

	assert(bytes);
	*ret_n = perftools__profiles__profile__pack(&m->message, bytes);
	return bytes;
}

uint8_t *made_profile_gzip(const struct made_profile *m, size_t *ret_n)
{
	size_t n;
	uint8_t *plain = made_profile_pack(m, &n);
	z_stream z = { 0 };
	/* 15 bits of window, and 16 more for the wrapper of gzip. */
	int status = deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	size_t room = deflateBound(&z, n);
	uint8_t *bytes = malloc(room);

	assert(status == Z_OK && bytes);
	z.next_in = plain;
	z.avail_in = (uInt)n;
	z.next_out = bytes;
	z.avail_out = (uInt)room;
	status = deflate(&z, Z_FINISH);
	assert(status == Z_STREAM_END);
	*ret_n = room - z.avail_out;
	(void)deflateEnd(&z);
	free(plain);
	return bytes;
}
