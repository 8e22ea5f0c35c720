/* SPDX-License-Identifier: Apache-2.0 */
/* Series of an interval that get other labels, none at all, or are moved to the next interval because their labels are not known yet. */
#include "agent/profile/interval.h"

#include <assert.h>
#include <errno.h>

#include "agent/unwind/user_stack.h"

static void unlink_series(struct interval *i, struct series *s)
{
	struct series **at = &i->series;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	hash_remove(&i->by_labels, &s->node);
	labels_unref(s->labels);
	s->labels = NULL;
	assert(i->n_series > 0);
	i->n_series--;
}

static void take_stacks(struct series *to, struct series *from)
{
	struct stack **end = &from->stacks;

	for (; *end; end = &(*end)->next)
		(*end)->series = to;
	*end = to->stacks;
	to->stacks = from->stacks;
	to->n_stacks += from->n_stacks;
	to->n_samples += from->n_samples;
	to->n_again += from->n_again;
}

int interval_relabel(struct interval *i, struct series *s, struct labels *labels)
{
	struct series *there = interval_series(i, labels, s->source);

	if (there == s)
		return 0;
	if (there) {
		take_stacks(there, s);
		unlink_series(i, s);
		return 0;
	}
	hash_remove(&i->by_labels, &s->node);
	int r = hash_insert(&i->by_labels, &s->node, series_hash(labels, s->source));
	if (r < 0)
		return r;
	labels_unref(s->labels);
	s->labels = labels_ref(labels);
	return 0;
}

uint64_t interval_drop(struct interval *i, struct series *s)
{
	uint64_t n_own = s->n_samples - s->n_again;

	assert(i->n_samples >= n_own && i->n_stacks >= s->n_stacks);
	i->n_samples -= n_own;
	i->n_stacks -= s->n_stacks;
	unlink_series(i, s);
	return n_own;
}

/* A frame of `from`, as `i` knows it, with the file that it speaks of. */
static int carry_frame(struct interval *i, const struct interval *from, struct frame_ref frame,
		       struct frame_ref *ret_frame)
{
	const struct anon_place *place = interval_anon(from, frame);
	const struct code_place *code = interval_code(from, frame);
	const struct tcp_connection *connection = interval_connection(from, frame);
	const struct waker_name *waker = interval_waker(from, frame);
	struct mapped_file *f = interval_file(from, frame_ref_file_id(frame));
	int r = 0;

	*ret_frame = frame;
	if (place)
		r = interval_anon_frame(i, place, ret_frame);
	else if (code)
		r = interval_code_frame(i, code, ret_frame);
	else if (connection)
		r = interval_connection_frame(i, connection, ret_frame);
	else if (waker)
		r = interval_waker_frame(i, waker, ret_frame);
	else if (f)
		r = interval_add_file(i, f);
	return r;
}

struct samples interval_samples_of(const struct stack *s)
{
	return (struct samples){
		.event = s->series->event,
		.source = s->series->source,
		.frames = s->frames,
		.n_kernel = s->n_kernel,
		.n_user = s->n_user,
		.pid = s->tag ? s->tag->pid : 0,
		.comm = s->tag ? s->tag->comm : NULL,
		.reason = s->tag ? s->tag->reason : WAIT_UNKNOWN,
		.thread = s->tag ? s->tag->thread : NULL,
		.tier = s->tag ? s->tag->tier : WIRE_TIER_NONE,
		.error = s->tag ? s->tag->error : 0,
		.io = s->tag ? s->tag->io : 0,
		.device = s->tag ? s->tag->device : NULL,
	};
}

/* With `count` samples, of which `n_again` are another stack's, too, and their values. */
static int carry_samples(struct interval *i, const struct interval *from, const struct stack *s,
			 const struct samples *with)
{
	struct frame_ref frames[STACK_MAX_FRAMES];
	struct samples samples = interval_samples_of(s);
	bool is_new;
	int r = 0;

	samples.labels = with->labels;
	samples.values = with->values;
	samples.frames = frames;
	samples.count = with->count;
	samples.n_again = with->n_again;

	for (size_t n = 0; n < (size_t)s->n_kernel + s->n_user && r == 0; n++)
		r = carry_frame(i, from, s->frames[n], &frames[n]);
	return r == 0 ? interval_add(i, &samples, &is_new) : r;
}

static int carry_stack(struct interval *i, const struct interval *from, const struct stack *s)
{
	const struct samples all = { .labels = s->series->labels,
				     .values = stack_values_const(s),
				     .count = s->count,
				     .n_again = s->n_again };

	return carry_samples(i, from, s, &all);
}

int interval_carry_stack(struct interval *i, const struct interval *from, const struct stack *s,
			 struct labels *labels, struct stack **ret_stack)
{
	static const int64_t none[EVENT_MAX_VALUES];
	int r = carry_samples(i, from, s, &(struct samples){ .labels = labels, .values = none });

	*ret_stack = r == 0 ? i->last : NULL;
	return r;
}

int interval_carry(struct interval *i, const struct interval *from, const struct series *s,
		   uint64_t *ret_n)
{
	*ret_n = 0;
	for (const struct stack *stack = s->stacks; stack; stack = stack->next) {
		int r = carry_stack(i, from, stack);

		if (r < 0)
			return r;
		*ret_n += stack->count - stack->n_again;
	}
	return 0;
}
