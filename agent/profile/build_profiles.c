/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: what is named becomes tables, and these what is wanted.
 *
 * Locations are keyed by their functions and lines, inlined ones included, not by address: the server clears addresses of named
 * mappings and would keep the same stack as often as there are call sites. Without lines that is one location a function. A series that does not fit into one profile (Pyroscope's limits) becomes several, a millisecond
 * apart, because two profiles of a series at the same millisecond replace each other.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile/build.h"
#include "agent/sample/call_name.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "pprof/pprof.h"

/* What a builder takes for each byte of the profile before compression (5.6 where stacks are short), its encoding and zlib's state. */
#define BYTES_A_PACKED_BYTE 8

struct encoder {
	const struct interval *interval;
	struct namer *namer;
	struct build *build;
	struct labels *labels;
	enum event event;
	uint16_t source;
	const char *process;	/* label of every sample of the series; NULL: none */
	bool is_file;		/* of all series, and no server will see it */
	enum profile_form form; /* of the file */
	struct pprof_builder *builder;
	uint64_t epoch; /* number of the builder: ids belong to one */
	uint64_t time_ns;
	uint64_t n_samples; /* in the builder */
	uint64_t n_again;   /* of them, in another profile, too */
	size_t n_stacks;    /* in the builder: some have a value and no sample */
	/* Of a file in which one form holds them all. */
	struct profile **kept; /* owned, with a reference each */
	size_t n_kept;
};

static void set_types(enum event event, struct pprof_options *o)
{
	const struct event_type *type = event_type(event);

	o->n_values = event_n_values(event);
	for (size_t i = 0; i < o->n_values; i++)
		o->value_types[i] =
			(struct pprof_value_type){ type->values[i].type, type->values[i].unit };
	o->period_type = (struct pprof_value_type){ type->period.type, type->period.unit };
}

static int encoder_open(struct encoder *e)
{
	struct pprof_options o = PPROF_OPTIONS_DEFAULT;

	set_types(e->event, &o);
	o.period = (int64_t)e->interval->periods[e->event];
	o.time_ns = (int64_t)e->time_ns;
	o.duration_ns = (int64_t)(e->interval->end_real_ns - e->interval->begin_real_ns);
	if (o.duration_ns < 0)
		o.duration_ns = 0;
	o.max_bytes = MIN_OF(o.max_bytes, e->build->max_bytes / BYTES_A_PACKED_BYTE);
	if (e->is_file) {
		o.max_samples = SIZE_MAX;
		o.max_bytes = PPROF_MAX_MAX_BYTES;
	}
	e->epoch = namer_next_epoch(e->namer);
	e->n_samples = e->n_again = e->n_stacks = 0;
	return pprof_builder_new(&o, &e->builder);
}

/* What receivers want, and no more. Tables for which there is no room go out as bytes, which are a tenth of them. */
static int make_forms(struct build *b, struct profile *p)
{
	size_t n_bytes = pprof_builder_memory_bytes(p->tables);
	size_t max_bytes = MIN_OF(b->max_bytes / 2, b->max_kept_bytes);
	bool has_room = n_bytes <= max_bytes - MIN_OF(b->kept_bytes, max_bytes);
	bool wants_tables = b->wants & PROFILE_WANT_TABLES || b->wants == 0;
	unsigned int wants =
		has_room || !wants_tables ? b->wants : b->wants | PROFILE_WANT(FORM_PPROF);
	int r = 0;

	for (enum profile_form form = 0; r == 0 && form < FORM_MAX; form++)
		if (wants & PROFILE_WANT(form))
			r = profile_make(p, form);
	if (r < 0)
		return r;
	if ((wants & (PROFILE_WANT_TABLES - 1)) && !(has_room && wants & PROFILE_WANT_TABLES))
		profile_drop_tables(p);
	else
		b->kept_bytes += n_bytes;
	return 0;
}

static int put_profile(struct encoder *e, struct profile *p)
{
	int r = make_forms(e->build, p);

	p->spread_ns = e->build->spread_ns;
	if (r < 0) {
		profile_unref(p);
		return r;
	}
	return build_put(e->build, &(struct built){ .profile = p,
						    .event = e->event,
						    .source = e->source,
						    .n_samples = e->n_samples,
						    .n_again = e->n_again,
						    .time_ns = e->time_ns });
}

static int keep(struct encoder *e, struct profile *p)
{
	struct profile **kept = reallocarray(e->kept, e->n_kept + 1, sizeof(struct profile *));

	if (!kept) {
		profile_unref(p);
		return -ENOMEM;
	}
	e->kept = kept;
	e->kept[e->n_kept++] = p;
	return 0;
}

/* Of a file the bytes are all that is wanted. */
static int put_file(struct encoder *e, struct profile *p)
{
	if (e->form == FORM_OTLP_FILE)
		return keep(e, p);
	_cleanup_(profile_unrefp) struct profile *owned = p;
	struct pprof_bytes bytes;
	int r = profile_encode(owned, e->form, &bytes);

	if (r < 0)
		return r;
	return build_put(e->build, &(struct built){ .event = e->event,
						    .source = e->source,
						    .bytes = bytes.data,
						    .n_bytes = bytes.n,
						    .n_samples = e->n_samples,
						    .n_again = e->n_again,
						    .time_ns = e->time_ns });
}

/* What is in the builder becomes a profile. */
static int encoder_close(struct encoder *e, bool even_empty)
{
	_cleanup_(pprof_builder_freep) struct pprof_builder *builder = TAKE_PTR(e->builder);
	struct profile *p = NULL;
	int r = 0;

	if (builder && (e->n_stacks > 0 || even_empty))
		r = profile_new(&builder, e->labels, e->n_samples - e->n_again, e->time_ns, &p);
	if (p)
		r = e->is_file ? put_file(e, p) : put_profile(e, p);
	if (r < 0)
		e->build->summary.n_failed += e->n_samples - e->n_again;
	else
		e->build->summary.n_samples += e->n_samples - e->n_again;
	e->time_ns += NS_PER_MS;
	e->n_samples = e->n_again = e->n_stacks = 0;
	return r;
}

static int add_line(struct encoder *e, const struct frame *f, struct pprof_line *ret_line)
{
	struct pprof_function function = { .name = f->function,
					   .filename = f->file,
					   .start_line = f->start_line };

	ret_line->line = f->line;
	ret_line->column = f->column;
	return pprof_builder_function(e->builder, &function, &ret_line->function_id);
}

static int add_mapping(struct encoder *e, const struct frame_object *o, uint64_t *ret_id)
{
	struct pprof_mapping mapping = { .filename = o->path,
					 .build_id = o->build_id,
					 .has_functions = true };

	*ret_id = 0;
	return o->kind == FRAME_OBJECT_ANON ? 0
					    : pprof_builder_mapping(e->builder, &mapping, ret_id);
}

static int add_location(struct encoder *e, struct named *named)
{
	struct pprof_line lines[FRAMES_MAX];
	uint64_t mapping_id;
	int r;

	if (named->location_epoch == e->epoch)
		return 0;
	assert(named->n > 0 && named->n <= FRAMES_MAX);
	r = add_mapping(e, named->items[0].object, &mapping_id);
	if (r != 0)
		return r;
	for (uint32_t i = 0; i < named->n; i++) {
		r = add_line(e, &named->items[i], &lines[i]);
		if (r != 0)
			return r;
	}
	r = pprof_builder_location(e->builder, mapping_id, 0, lines, named->n, &named->location_id);
	if (r != 0)
		return r;
	named->location_epoch = e->epoch;
	return 0;
}

/* The process's name as the outermost frame: a function without a file. */
static int add_comm_frame(struct encoder *e, const char *comm, uint64_t *ret_id)
{
	const struct pprof_function function = { .name = comm };
	struct pprof_line line = { 0 };
	int r = pprof_builder_function(e->builder, &function, &line.function_id);

	return r == 0 ? pprof_builder_location(e->builder, 0, 0, &line, 1, ret_id) : r;
}

/* Room for `process`, `comm`, `thread_name`, `tier`, `reason`, `error`, `device`, `operation`, `pid`. */
#define SAMPLE_LABELS_MAX 9

struct sample_labels {
	struct pprof_label items[SAMPLE_LABELS_MAX];
	size_t n;
	char pid[16];
};

static void put_label(struct sample_labels *l, const char *key, const char *value)
{
	l->items[l->n++] = (struct pprof_label){ .key = key, .str = value };
}

/* A pid is a text: the server throws numbers away. */
static void make_labels(const struct encoder *e, const struct sample_tag *tag,
			struct sample_labels *ret_labels)
{
	struct tagging want = e->interval->tagging;

	ret_labels->n = 0;
	if (e->process)
		put_label(ret_labels, "process", e->process);
	if (tag && want.comm & COMM_LABEL && *tag->comm)
		put_label(ret_labels, "comm", tag->comm);
	if (tag && *tag->thread)
		put_label(ret_labels, "thread_name", tag->thread);
	if (tag && tag->tier != WIRE_TIER_NONE)
		put_label(ret_labels, "tier", tier_label(tag->tier));
	if (tag && tag->reason != WAIT_UNKNOWN)
		put_label(ret_labels, "reason", wait_reason_label(tag->reason));
	if (tag && tag->error)
		put_label(ret_labels, "error", call_error_name(tag->error));
	if (tag && tag->io) {
		put_label(ret_labels, "device", tag->device);
		put_label(ret_labels, "operation", io_operation_label(WIRE_IO_OPERATION(tag->io)));
	}
	if (!tag || !tag->pid)
		return;
	(void)snprintf(ret_labels->pid, sizeof(ret_labels->pid), "%" PRIu32, tag->pid);
	put_label(ret_labels, "pid", ret_labels->pid);
}

static int add_locations(struct encoder *e, const struct named_stack *named,
			 const struct sample_tag *tag, uint64_t *ids, size_t *ret_n)
{
	size_t n = 0;
	int r;

	assert(named->n <= NAMED_STACK_MAX);
	for (uint32_t i = 0; i < named->n; i++) {
		r = add_location(e, named->items[i]);
		if (r != 0)
			return r;
		ids[n++] = named->items[i]->location_id;
	}
	if (tag && e->interval->tagging.comm & COMM_STACKFRAME && *tag->comm) {
		r = add_comm_frame(e, tag->comm, &ids[n++]);
		if (r != 0)
			return r;
	}
	*ret_n = n;
	return 0;
}

static int add_sample(struct encoder *e, const struct named_stack *named, const struct stack *stack)
{
	uint64_t ids[NAMED_STACK_MAX + 1];
	struct sample_labels labels;
	size_t n = 0;
	int r = add_locations(e, named, stack->tag, ids, &n);

	if (r != 0)
		return r;
	make_labels(e, stack->tag, &labels);
	r = pprof_builder_sample(e->builder, ids, n, stack_values_const(stack), labels.items,
				 labels.n);
	if (r != 0)
		return r;
	e->n_samples += stack->count;
	e->n_again += stack->n_again;
	e->n_stacks++;
	return 0;
}

static int encode_stack(struct encoder *e, const struct stack *stack)
{
	struct named_stack named;
	int r;

	if (stack_is_empty(stack))
		return 0;
	r = namer_stack(e->namer, stack, &named);
	if (r < 0)
		return r;
	r = e->builder ? 0 : encoder_open(e);
	if (r == 0)
		r = add_sample(e, &named, stack);
	if (r != PPROF_FULL || e->n_stacks == 0)
		return r == PPROF_FULL ? -E2BIG : r;
	/* Full: what is in goes out, and the stack opens the next. */
	(void)encoder_close(e, false);
	r = encoder_open(e);
	if (r == 0)
		r = add_sample(e, &named, stack);
	return r == PPROF_FULL ? -E2BIG : r;
}

static void encode_series(struct encoder *e, const struct series *series)
{
	for (const struct stack *s = series->stacks; s; s = s->next) {
		if (encode_stack(e, s) == 0)
			continue;
		e->build->summary.n_failed += s->count - s->n_again;
		/* A stack that failed half-way leaves unused entries behind; a new builder starts clean. */
		(void)encoder_close(e, false);
	}
}

void build_profiles(const struct interval *interval, struct namer *namer, struct build *build)
{
	struct encoder e = { .interval = interval,
			     .namer = namer,
			     .build = build,
			     .time_ns = interval->end_real_ns };

	for (const struct series *s = interval->series; s; s = s->next) {
		e.labels = s->labels;
		e.event = s->event;
		e.source = s->source;
		/* The time of each profile is that of the one before and a millisecond. */
		if (!(build->wants & PROFILE_WANT_APART))
			e.time_ns = interval->end_real_ns;
		encode_series(&e, s);
		(void)encoder_close(&e, false);
	}
}

static void encode_source(struct encoder *e)
{
	for (const struct series *s = e->interval->series; s; s = s->next) {
		if (s->source != e->source)
			continue;
		e->event = s->event;
		e->process = series_name(s);
		encode_series(e, s);
	}
	if (e->builder)
		(void)encoder_close(e, false);
}

static int put_kept(struct encoder *e)
{
	struct pprof_bytes bytes;
	int r = profiles_encode_otlp(e->kept, e->n_kept, &bytes);

	return r < 0 ? r
		     : build_put(e->build,
				 &(struct built){ .bytes = bytes.data,
						  .n_bytes = bytes.n,
						  .n_samples = e->build->summary.n_samples,
						  .time_ns = e->interval->end_real_ns });
}

/* All profiles in one form. */
static void encode_kept(struct encoder *e)
{
	if (e->n_kept > 0 && put_kept(e) < 0) {
		e->build->summary.n_failed += e->build->summary.n_samples;
		e->build->summary.n_samples = 0;
	}
	for (size_t i = 0; i < e->n_kept; i++)
		profile_unref(e->kept[i]);
	free(e->kept);
}

static void build_file(const struct interval *interval, struct namer *namer, struct build *build,
		       enum profile_form form)
{
	struct encoder e = { .interval = interval,
			     .namer = namer,
			     .build = build,
			     .time_ns = interval->end_real_ns,
			     .is_file = true,
			     .form = form };

	for (e.source = 0; e.source < EVENT_ALL_SOURCES; e.source++)
		encode_source(&e);
	/* A file without samples is a valid one, too. */
	if (!build->first && e.n_kept == 0) {
		e.event = EVENT_CPU;
		(void)encoder_open(&e);
		(void)encoder_close(&e, true);
	}
	encode_kept(&e);
}

void build_one_pprof(const struct interval *interval, struct namer *namer, struct build *build)
{
	build_file(interval, namer, build, FORM_PPROF);
}

void build_folded(const struct interval *interval, struct namer *namer, struct build *build)
{
	build_file(interval, namer, build, FORM_FOLDED);
}

void build_otlp(const struct interval *interval, struct namer *namer, struct build *build)
{
	build_file(interval, namer, build, FORM_OTLP_FILE);
}
