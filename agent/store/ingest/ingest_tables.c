/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a received pprof. */
#include "agent/store/ingest/ingest_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/store/ingest/ingest_private.h"
#include "agent/store/segment/id_table.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "pprof/profile.pb-c.h"

/* As in ingest_symbols.c. */
#define LOCATION_BAD UINT64_MAX
#define LOCATION_EMPTY (UINT64_MAX - 1)
#define UNKNOWN "[unknown]"

/* By the index of the item in the message: its id in the builder; 0: none yet. */
struct tables {
	struct ingest *in;
	const Perftools__Profiles__Profile *p;
	struct pprof_options options;
	struct pprof_builder *b;
	uint64_t *functions, *mappings, *locations;
	ingest_part_fn put; /* NULL: it is one */
	void *user;
};

/* ---- what stands before the samples ---- */

static struct pprof_value_type value_type(const struct ingest *in,
					  const Perftools__Profiles__ValueType *t)
{
	return (struct pprof_value_type){ ingest_text(in, t->type), ingest_text(in, t->unit) };
}

/* Both, or none. */
static void take_period(const struct ingest *in, struct pprof_options *o)
{
	const Perftools__Profiles__Profile *p = in->profile;

	o->period_type = (struct pprof_value_type){ 0 };
	o->period = MAX_OF(p->period, (int64_t)1);
	if (!p->period_type)
		return;
	o->period_type = value_type(in, p->period_type);
	if (!o->period_type.type[0] || !o->period_type.unit[0])
		o->period_type = (struct pprof_value_type){ 0 };
}

static int refuse(struct buf *why, const char *text)
{
	(void)buf_append_str(why, text);
	return INGEST_REFUSED_MALFORMED;
}

static int new_builder(struct tables *t, uint64_t now_ns, struct buf *why)
{
	struct pprof_options o = PPROF_OPTIONS_DEFAULT;

	if (t->p->n_sample_type > PPROF_MAX_VALUES)
		return refuse(why, "more types of values than there may be here");
	for (size_t i = 0; i < t->p->n_sample_type; i++)
		o.value_types[i] = value_type(t->in, t->p->sample_type[i]);
	o.n_values = t->p->n_sample_type;
	take_period(t->in, &o);
	o.time_ns = t->p->time_nanos > 0 ? t->p->time_nanos : (int64_t)now_ns;
	o.duration_ns = MAX_OF(t->p->duration_nanos, (int64_t)0);
	if (!t->put) {
		o.max_samples = INGEST_MAX_SAMPLES;
		o.max_bytes = 2 * INGEST_MAX_PLAIN_BYTES;
	}
	t->options = o;
	int r = pprof_builder_new(&o, &t->b);
	return r == -EINVAL ? refuse(why, "a type without a name or a unit") : r;
}

static bool make_room(struct tables *t)
{
	struct ingest_memory *m = &t->in->memory;

	t->functions = ingest_memory_calloc(m, t->p->n_function + 1, sizeof(*t->functions));
	t->mappings = ingest_memory_calloc(m, t->p->n_mapping + 1, sizeof(*t->mappings));
	t->locations = ingest_memory_calloc(m, t->p->n_location + 1, sizeof(*t->locations));
	return t->functions && t->mappings && t->locations;
}

/* ---- mappings, functions, locations: 0, PPROF_FULL, -ENOMEM ---- */

static int add_mapping(struct tables *t, uint32_t index, uint64_t *ret_id)
{
	const Perftools__Profiles__Mapping *m = t->p->mapping[index];
	const struct pprof_mapping mapping = {
		.filename = ingest_text(t->in, m->filename),
		.build_id = ingest_text(t->in, m->build_id),
		.start = m->memory_start,
		.limit = m->memory_limit,
		.file_off = m->file_offset,
		.has_functions = m->has_functions,
		.has_filenames = m->has_filenames,
		.has_lines = m->has_line_numbers,
		.has_inlines = m->has_inline_frames,
	};
	int r = t->mappings[index] ? 0 : pprof_builder_mapping(t->b, &mapping, &t->mappings[index]);

	*ret_id = t->mappings[index];
	return r;
}

static int64_t line_number(int64_t line)
{
	return line > 0 && line <= UINT32_MAX ? line : 0;
}

static int add_function(struct tables *t, uint32_t index, uint64_t *ret_id)
{
	const Perftools__Profiles__Function *f = t->p->function[index];
	struct pprof_function function = {
		.name = ingest_text(t->in, f->name),
		.system_name = ingest_text(t->in, f->system_name),
		.filename = ingest_text(t->in, f->filename),
		.start_line = line_number(f->start_line),
	};

	if (!function.name[0])
		function.name = function.system_name[0] ? function.system_name : UNKNOWN;
	int r = t->functions[index] ? 0
				    : pprof_builder_function(t->b, &function, &t->functions[index]);
	*ret_id = t->functions[index];
	return r;
}

/* False: one of the functions is not there. */
static bool have_functions(const struct tables *t, const Perftools__Profiles__Location *l)
{
	for (size_t i = 0; i < l->n_line; i++)
		if (ingest_find(&t->in->functions, l->line[i]->function_id) == ID_NONE)
			return false;
	return true;
}

/* "libc.so.6!0x2a1b0" */
static int name_address(struct tables *t, const Perftools__Profiles__Mapping *m, uint64_t address,
			struct pprof_line *ret_line)
{
	_cleanup_buf_ struct buf name = BUF_INIT(INGEST_MAX_TEXT_BYTES + 32);
	const char *path = m ? ingest_text(t->in, m->filename) : "";
	const char *slash = strrchr(path, '/');

	(void)buf_printf(&name, "%s!0x%" PRIx64,
			 slash	 ? slash + 1
			 : *path ? path
				 : UNKNOWN,
			 address);
	const struct pprof_function function = { .name = buf_str(&name) };
	*ret_line = (struct pprof_line){ 0 };
	return name.failed ? -ENOMEM
			   : pprof_builder_function(t->b, &function, &ret_line->function_id);
}

static int add_lines(struct tables *t, const Perftools__Profiles__Location *l,
		     const Perftools__Profiles__Mapping *m, struct pprof_line *lines, size_t *ret_n)
{
	size_t n = MIN_OF(l->n_line, (size_t)INGEST_MAX_LINES);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		uint32_t index = ingest_find(&t->in->functions, l->line[i]->function_id);

		lines[i].line = line_number(l->line[i]->line);
		lines[i].column = line_number(l->line[i]->column);
		r = add_function(t, index, &lines[i].function_id);
	}
	*ret_n = MAX_OF(n, (size_t)1);
	return r == 0 && n == 0 ? name_address(t, m, l->address, &lines[0]) : r;
}

static int add_location(struct tables *t, const Perftools__Profiles__Location *l, uint64_t *ret_id)
{
	uint32_t at = ingest_find(&t->in->mappings, l->mapping_id);
	const Perftools__Profiles__Mapping *m =
		l->mapping_id && at != ID_NONE ? t->p->mapping[at] : NULL;
	struct pprof_line lines[INGEST_MAX_LINES];
	uint64_t mapping = 0;
	size_t n;

	*ret_id = LOCATION_BAD;
	if ((l->mapping_id && !m) || !have_functions(t, l) || (l->n_line == 0 && l->address == 0))
		return 0;
	*ret_id = LOCATION_EMPTY;
	if (l->n_line == 0 && m && m->has_functions)
		return 0;
	int r = m ? add_mapping(t, at, &mapping) : 0;
	r = r ? r : add_lines(t, l, m, lines, &n);
	return r ? r : pprof_builder_location(t->b, mapping, l->address, lines, n, ret_id);
}

static int find_location(struct tables *t, uint64_t id, uint64_t *ret_id)
{
	uint32_t index = ingest_find(&t->in->locations, id);
	int r = 0;

	if (index != ID_NONE && !t->locations[index])
		r = add_location(t, t->p->location[index], &t->locations[index]);
	*ret_id = index == ID_NONE ? LOCATION_BAD : t->locations[index];
	return r;
}

/* ---- samples ---- */

/* Leaf first, as in the message. *ret_n is 0 where the server drops it. */
static int find_stack(struct tables *t, const Perftools__Profiles__Sample *s, uint64_t *ids,
		      size_t *ret_n)
{
	size_t skip = s->n_location_id > INGEST_MAX_DEPTH ? s->n_location_id - INGEST_MAX_DEPTH : 0;
	size_t n = 0;

	*ret_n = 0;
	for (size_t i = skip; i < s->n_location_id; i++) {
		int r = find_location(t, s->location_id[i], &ids[n]);

		if (r != 0 || ids[n] == LOCATION_BAD)
			return r;
		n += ids[n] != LOCATION_EMPTY;
	}
	*ret_n = n;
	return 0;
}

static bool has_values(const Perftools__Profiles__Sample *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n_value; i++) {
		if (s->value[i] < 0)
			return false;
		any |= s->value[i] > 0;
	}
	return any;
}

static size_t take_labels(const struct ingest *in, const Perftools__Profiles__Sample *s,
			  struct pprof_label *labels)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_label; i++) {
		const char *key = ingest_text(in, s->label[i]->key);
		const char *text = ingest_text(in, s->label[i]->str);

		if (*key && *text)
			labels[n++] = (struct pprof_label){ .key = key, .str = text };
	}
	return n;
}

static int add_sample(struct tables *t, const Perftools__Profiles__Sample *s)
{
	struct pprof_label labels[INGEST_MAX_SAMPLE_LABELS];
	uint64_t ids[INGEST_MAX_DEPTH];
	size_t n = 0;
	int r = has_values(s) ? find_stack(t, s, ids, &n) : 0;

	if (r != 0 || n == 0)
		return r;
	return pprof_builder_sample(t->b, ids, n, s->value, labels, take_labels(t->in, s, labels));
}

static int put_part(struct tables *t)
{
	int r = t->put(t->user, &t->b, (uint64_t)t->options.time_ns);

	pprof_builder_free(TAKE_PTR(t->b));
	return r;
}

/* Ids do not carry over. */
static int next_part(struct tables *t)
{
	int r = put_part(t);

	if (r < 0)
		return r;
	memset(t->functions, 0, t->p->n_function * sizeof(*t->functions));
	memset(t->mappings, 0, t->p->n_mapping * sizeof(*t->mappings));
	memset(t->locations, 0, t->p->n_location * sizeof(*t->locations));
	t->options.time_ns += NS_PER_MS;
	return pprof_builder_new(&t->options, &t->b);
}

static int add_somewhere(struct tables *t, const Perftools__Profiles__Sample *s)
{
	int r = add_sample(t, s);

	if (r != PPROF_FULL || !t->put || pprof_builder_n_samples(t->b) == 0)
		return r;
	r = next_part(t);
	return r < 0 ? r : add_sample(t, s);
}

static int add_samples(struct tables *t, struct buf *why)
{
	for (size_t i = 0; i < t->p->n_sample; i++) {
		int r = ingest_goes_on(t->in) ? add_somewhere(t, t->p->sample[i]) : -ECANCELED;

		if (r == PPROF_FULL) {
			(void)buf_append_str(why, "its names or values are more than there may be");
			return INGEST_REFUSED_SIZE;
		}
		if (r < 0)
			return r;
	}
	return INGEST_OPENED;
}

/* The builder is the caller's, whatever the result. */
static int read_samples(struct tables *t, struct ingest *in, uint64_t now_ns, struct buf *why)
{
	t->in = in;
	t->p = in->profile;
	if (!make_room(t))
		return ingest_no_memory(in, why);
	int r = new_builder(t, now_ns, why);
	return r == 0 ? add_samples(t, why) : r;
}

int ingest_tables(const uint8_t *pprof, size_t n, uint64_t now_ns, struct read_budget *budget,
		  struct buf *why, struct pprof_builder **ret_tables)
{
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	struct tables t = { 0 };
	int r = ingest_open_bytes(pprof, n, budget, why, &in);

	r = r == INGEST_OPENED ? ingest_check(in, why) : r;
	r = r == INGEST_OPENED ? read_samples(&t, in, now_ns, why) : r;
	if (r == INGEST_OPENED)
		*ret_tables = TAKE_PTR(t.b);
	pprof_builder_free(t.b);
	return r;
}

int ingest_parts(const uint8_t *pprof, size_t n, uint64_t now_ns, struct read_budget *budget,
		 struct buf *why, ingest_part_fn put, void *user)
{
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	struct tables t = { .put = put, .user = user };
	int r = ingest_open_bytes(pprof, n, budget, why, &in);

	if (r == INGEST_OPENED) {
		in->in_parts = true;
		r = ingest_check(in, why);
	}
	r = r == INGEST_OPENED ? read_samples(&t, in, now_ns, why) : r;
	if (r == INGEST_OPENED && pprof_builder_n_samples(t.b) > 0) {
		int put_r = put_part(&t);

		r = put_r < 0 ? put_r : r;
	}
	pprof_builder_free(t.b);
	return r;
}
