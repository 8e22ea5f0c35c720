/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of names become a pprof. */
#include "agent/receive/stack_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/ingest/ingest.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

struct stack_profile {
	struct pprof_builder *b;
	struct read_budget *budget;
	uint64_t scale; /* of a value */
	struct buf name;
	struct str names[INGEST_MAX_DEPTH];
	uint64_t ids[INGEST_MAX_DEPTH]; /* leaf first */
};

/* Periods are those of the server: whole nanoseconds of CPU time. */
static struct pprof_options options_of(const struct stack_profile_options *o, uint64_t period)
{
	struct pprof_options p = PPROF_OPTIONS_DEFAULT;

	p.value_types[0] = (struct pprof_value_type){ o->type.type, o->type.unit };
	p.period_type = (struct pprof_value_type){ 0 };
	p.period = 1;
	if (period) {
		p.value_types[0] = (struct pprof_value_type){ o->type.timed, "nanoseconds" };
		p.period_type = (struct pprof_value_type){ "cpu", "nanoseconds" };
		p.period = (int64_t)period;
	}
	p.time_ns = (int64_t)MIN_OF(MAX_OF(o->time_ns, (uint64_t)1), (uint64_t)INT64_MAX);
	p.duration_ns = (int64_t)MIN_OF(o->duration_ns, (uint64_t)INT64_MAX);
	p.max_samples = INGEST_MAX_SAMPLES;
	p.max_bytes = INGEST_MAX_PLAIN_BYTES;
	return p;
}

int stack_profile_new(const struct stack_profile_options *options, struct stack_profile **ret)
{
	bool timed = options->type.timed && options->sample_rate > 0;
	uint64_t period = timed ? MAX_OF(NS_PER_S / options->sample_rate, (uint64_t)1) : 0;
	const struct pprof_options o = options_of(options, period);
	struct stack_profile *p = calloc(1, sizeof(*p));
	int r = p ? pprof_builder_new(&o, &p->b) : -ENOMEM;

	if (r < 0) {
		free(p);
		return r;
	}
	p->budget = options->budget;
	p->scale = MAX_OF(period, (uint64_t)1);
	buf_init(&p->name, PPROF_STRING_MAX_BYTES + 1);
	*ret = p;
	return 0;
}

void stack_profile_free(struct stack_profile *p)
{
	if (!p)
		return;
	pprof_builder_free(p->b);
	buf_fini(&p->name);
	free(p);
}

/* Of a name that is too long the end is kept, as everywhere. */
static int copy_name(struct stack_profile *p, struct str name)
{
	size_t skip = name.n > PPROF_STRING_MAX_BYTES ? name.n - PPROF_STRING_MAX_BYTES : 0;

	buf_reset(&p->name);
	return buf_append(&p->name, name.p + skip, name.n - skip);
}

static int add_frame(struct stack_profile *p, struct str name, uint64_t *ret_id)
{
	struct pprof_function function = { 0 };
	struct pprof_line line = { 0 };
	int r = copy_name(p, name);

	if (r < 0)
		return r;
	function.name = buf_str(&p->name);
	/* A NUL at its beginning: there is no name. */
	if (!*function.name)
		function.name = "[unknown]";
	r = pprof_builder_function(p->b, &function, &line.function_id);
	return r ? r : pprof_builder_location(p->b, 0, 0, &line, 1, ret_id);
}

/* Root first in, leaf first out. */
static int add_frames(struct stack_profile *p, const struct str *names, size_t n, size_t *ret_n)
{
	size_t n_kept = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		n_kept += names[i].n > 0;
	n_kept = MIN_OF(n_kept, (size_t)INGEST_MAX_DEPTH);
	*ret_n = n_kept;
	for (size_t i = 0; r == 0 && n_kept > 0; i++)
		if (names[i].n > 0)
			r = add_frame(p, names[i], &p->ids[--n_kept]);
	return r;
}

static int result_of(int r)
{
	return r == PPROF_FULL ? -ENOBUFS : r;
}

int stack_profile_add(struct stack_profile *p, const struct str *names, size_t n, uint64_t value)
{
	int64_t scaled;
	size_t n_ids;

	if (value == 0)
		return 0;
	if (__builtin_mul_overflow(value, p->scale, &scaled))
		return -EOVERFLOW;
	if (!read_budget_take_elements(p->budget, n) || !read_budget_goes_on(p->budget))
		return -ECANCELED;
	int r = add_frames(p, names, n, &n_ids);
	if (r != 0 || n_ids == 0)
		return result_of(r);
	if (pprof_builder_total(p->b, 0) > INT64_MAX - scaled)
		return -EOVERFLOW;
	return result_of(pprof_builder_sample(p->b, p->ids, n_ids, &scaled, NULL, 0));
}

int stack_profile_add_text(struct stack_profile *p, struct str stack, uint64_t value)
{
	struct str name;
	size_t n = 0;

	if (value == 0)
		return 0;
	if (!read_budget_take_inflated(p->budget, stack.n))
		return -ECANCELED;
	while (n < ARRAY_SIZE(p->names) && str_split(&stack, ';', &name))
		if (name.n > 0)
			p->names[n++] = name;
	return stack_profile_add(p, p->names, n, value);
}

size_t stack_profile_n(const struct stack_profile *p)
{
	return pprof_builder_n_samples(p->b);
}

int stack_profile_encode(const struct stack_profile *p, struct pprof_bytes *ret_bytes)
{
	return pprof_builder_encode(p->b, ret_bytes);
}
