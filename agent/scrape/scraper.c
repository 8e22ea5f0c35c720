/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of many targets: which loops there are. */
#include "agent/scrape/scraper.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/scrape/scraper_private.h"
#include "agent/util/macro.h"

/* Of each loop, and of as many that have just gone. */
#define MAX_JOBS (2 * SCRAPER_MAX_LOOPS)

const char *scrape_health_text(enum scrape_health health)
{
	static const char *const texts[] = {
		[SCRAPE_UNKNOWN] = "unknown",
		[SCRAPE_UP] = "up",
		[SCRAPE_DOWN] = "down",
	};

	return texts[health];
}

int scraper_new(const struct scraper_context *context, struct scraper **ret_scraper)
{
	_cleanup_(scraper_freep) struct scraper *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->context = *context;
	int r = worker_new(context->loop, MAX_JOBS, &s->worker);
	if (r == 0)
		r = scrape_metrics_init(&s->metrics, &s->context, s);
	if (r < 0)
		return r;
	*ret_scraper = TAKE_PTR(s);
	return 0;
}

static void end_loop(struct scraper *s, struct scrape_loop *l)
{
	hash_remove(&s->loops, &l->node);
	scrape_loop_end(l);
}

void scraper_free(struct scraper *s)
{
	if (!s)
		return;
	HASH_FOREACH (&s->loops, node)
		scrape_loop_cancel(CONTAINER_OF(node, struct scrape_loop, node));
	worker_drain(s->worker);
	HASH_FOREACH (&s->loops, node)
		end_loop(s, CONTAINER_OF(node, struct scrape_loop, node));
	worker_free(s->worker);
	scrape_metrics_fini(&s->metrics);
	hash_fini(&s->loops);
	http_oauth2_free(s->tokens);
	free(s);
}

static int open_tokens(const struct scraper *s, const struct scraper_options *options,
		       struct http_oauth2 **ret_tokens)
{
	struct http_oauth2_options o;

	if (!options->oauth2)
		return 0;
	o = *options->oauth2;
	o.user_agent = options->request.user_agent;
	o.timeout_ns = options->timeout_ns;
	return http_oauth2_new(s->context.loop, s->context.http, &o, ret_tokens);
}

/* A request under way may still want a token of the old source. */
static void replace_tokens(struct scraper *s, struct http_oauth2 *tokens)
{
	if (s->tokens)
		HASH_FOREACH (&s->loops, node)
			scrape_loop_cancel(CONTAINER_OF(node, struct scrape_loop, node));
	http_oauth2_free(s->tokens);
	s->tokens = tokens;
}

int scraper_set_options(struct scraper *s, const struct scraper_options *options)
{
	bool other_times = s->options.interval_ns != options->interval_ns;
	struct http_oauth2 *tokens = NULL;
	int r = open_tokens(s, options, &tokens);

	if (r < 0)
		return r;
	replace_tokens(s, tokens);
	s->options = *options;
	s->max_held_bytes =
		options->max_held_bytes ? options->max_held_bytes : SCRAPER_MAX_HELD_BYTES;
	if (other_times)
		HASH_FOREACH (&s->loops, node)
			scrape_loop_schedule(CONTAINER_OF(node, struct scrape_loop, node));
	return 0;
}

static struct scrape_loop *find(const struct scraper *s, const struct scrape_target *t,
				bool (*same)(const struct scrape_target *a,
					     const struct scrape_target *b))
{
	HASH_FOREACH_MATCH (&s->loops, t->hash, node) {
		struct scrape_loop *l = CONTAINER_OF(node, struct scrape_loop, node);

		if (same(&l->target, t))
			return l;
	}
	return NULL;
}

static int add(struct scraper *s, struct scrape_target *t)
{
	struct scrape_loop *l = NULL;
	uint64_t hash = t->hash;
	int r = s->loops.n < SCRAPER_MAX_LOOPS ? scrape_loop_new(s, t, &l) : -E2BIG;

	if (r < 0)
		return r;
	l->mark = s->marking;
	r = hash_insert(&s->loops, &l->node, hash);
	if (r < 0)
		scrape_loop_end(l);
	return r;
}

/* What discovery says of a target may change without changing the target. */
static void keep(struct scraper *s, struct scrape_loop *l, struct scrape_target *t)
{
	struct labels *from = l->target.from;

	l->mark = s->marking;
	l->target.from = t->from;
	t->from = from;
}

size_t scraper_set_targets(struct scraper *s, struct scrape_target *targets, size_t n)
{
	size_t n_left_out = 0;

	s->marking = !s->marking;
	for (size_t i = 0; i < n; i++) {
		struct scrape_loop *l = find(s, &targets[i], scrape_target_equal);

		if (l)
			keep(s, l, &targets[i]);
	}
	HASH_FOREACH (&s->loops, node) {
		struct scrape_loop *l = CONTAINER_OF(node, struct scrape_loop, node);

		if (l->mark != s->marking)
			end_loop(s, l);
	}
	for (size_t i = 0; i < n; i++) {
		if (!find(s, &targets[i], scrape_target_is_at))
			n_left_out += add(s, &targets[i]) < 0;
		scrape_target_fini(&targets[i]);
	}
	return n_left_out;
}

void scraper_each(const struct scraper *s, scraper_status_fn fn, void *data)
{
	HASH_FOREACH (&s->loops, node) {
		const struct scrape_loop *l = CONTAINER_OF(node, struct scrape_loop, node);
		const struct scrape_status status = {
			.target = &l->target,
			.health = l->health,
			.last_error = l->last_error,
			.last_real_ns = l->last_real_ns,
			.last_duration_ns = l->last_duration_ns,
		};

		fn(&status, data);
	}
}

void scraper_count(const struct scraper *s, size_t ret_n[SCRAPE_HEALTH_MAX])
{
	for (size_t i = 0; i < SCRAPE_HEALTH_MAX; i++)
		ret_n[i] = 0;
	HASH_FOREACH (&s->loops, node)
		ret_n[CONTAINER_OF(node, struct scrape_loop, node)->health]++;
}
