/* SPDX-License-Identifier: Apache-2.0 */
/* Who looks at what the store holds. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/store/store_private.h"

static bool overlaps(const struct segment *segment, int64_t start_ms, int64_t end_ms)
{
	return segment_last_ms(segment) >= start_ms && segment_first_ms(segment) <= end_ms;
}

/* Keeps the order of their first profiles. */
static void view_add(struct store_view *v, struct segment *segment)
{
	size_t at = v->n++;

	for (; at > 0 && segment_first_ms(v->segments[at - 1]) > segment_first_ms(segment); at--)
		v->segments[at] = v->segments[at - 1];
	v->segments[at] = segment_ref(segment);
}

static int take_view(const struct store *s, const struct store_view_request *request,
		     struct segment *copy, struct store_view *ret_view)
{
	struct store_view v = { .segments = calloc(s->n_segments + 1, sizeof(struct segment *)) };

	if (!v.segments)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_segments; i++)
		if (overlaps(s->segments[i], request->start_ms, request->end_ms))
			view_add(&v, s->segments[i]);
	if (copy && overlaps(copy, request->start_ms, request->end_ms))
		view_add(&v, copy);
	*ret_view = v;
	return 0;
}

static void serve(struct store *s, struct store_view_request *request, int result,
		  struct segment *copy)
{
	request->result = result < 0 ? result : take_view(s, request, copy, &request->view);
	request->done(request);
}

static bool head_overlaps(const struct store *s, int64_t start_ms, int64_t end_ms)
{
	const struct head_stats *head = &s->head_stats;

	return head->n_profiles > 0 && head->last_ms >= start_ms && head->first_ms <= end_ms;
}

void store_view_request(struct store *s, struct store_view_request *request)
{
	assert(request->done);
	list_init(&request->node);
	request->view = (struct store_view){ 0 };
	if (!s->head_copy && head_overlaps(s, request->start_ms, request->end_ms)) {
		list_push_back(&s->views, &request->node);
		store_task_next(s);
		return;
	}
	serve(s, request, 0, s->head_copy);
}

/* Who asks anew from within `done` waits for the next copy, if it needs one. */
void store_serve_views(struct store *s, int result, struct segment *copy)
{
	struct list waiting;

	list_init(&waiting);
	LIST_FOREACH (&s->views, node) {
		list_remove(node);
		list_push_back(&waiting, node);
	}
	while (!list_empty(&waiting)) {
		struct store_view_request *request =
			LIST_ENTRY(waiting.next, struct store_view_request, node);

		list_remove(&request->node);
		serve(s, request, result, copy);
	}
}

void store_view_fini(struct store_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n; i++)
		segment_unref(v->segments[i]);
	free(v->segments);
	*v = (struct store_view){ 0 };
}
