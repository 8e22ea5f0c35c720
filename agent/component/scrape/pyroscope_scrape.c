/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyroscope.scrape: pprof profiles of targets, fetched by HTTP and handed on.
 *
 * Nothing is asked before `run`. An update keeps all targets that are the same, with the profiles they are compared with.
 */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/receiver.h"
#include "agent/component/receivers/received.h"
#include "agent/component/scrape/scrape_args.h"
#include "agent/component/scrape/scrape_report.h"
#include "agent/component/target_maps.h"
#include "agent/util/log.h"

#define OPTIONS_ARENA_BYTES ((size_t)16 << 20)
#define WRONG_MAX_BYTES 256

struct scrape {
	struct component *c;
	const struct scrape_args *args;
	struct river_arena options; /* what the scraper borrows */
	struct scraper *scraper;    /* NULL: it does not run yet */
	struct received *received;
	size_t n_wrong, n_left_out;
	char wrong[WRONG_MAX_BYTES];
};

static const char *job_of(const struct scrape *s)
{
	return *s->args->job_name ? s->args->job_name : s->c->id;
}

static void on_profile(struct shared_bytes *pprof, const struct scrape_target *target,
		       uint64_t time_ns, void *data)
{
	struct scrape *s = data;
	struct profile *profile = NULL;

	if (profile_of_pprof(pprof, target->series, time_ns, &profile) < 0) {
		log_warn("a profile found no memory", LOG_STR("component_id", s->c->id));
		return;
	}
	received_deliver(s->received, &profile, time_ns + RECEIVER_DEADLINE_NS);
}

/* ---- targets ------------------------------------------------------------------------------------------------------------------------------- */

struct made {
	struct scrape_target *items;
	size_t n, cap;
	size_t n_wrong;
	char wrong[WRONG_MAX_BYTES];
};

static void made_fini(struct made *l)
{
	for (size_t i = 0; i < l->n; i++)
		scrape_target_fini(&l->items[i]);
	free(l->items);
}

static struct scrape_target *made_room(struct made *l)
{
	size_t cap = l->cap ? l->cap * 2 : 64;

	if (l->n < l->cap)
		return &l->items[l->n];
	struct scrape_target *items = realloc(l->items, cap * sizeof(*items));
	if (!items)
		return NULL;
	l->items = items;
	l->cap = cap;
	return &l->items[l->n];
}

/* One that is wrong is so for each of its profiles: it is said once. */
static int add_target(const struct scrape_rules *rules, struct labels *labels, struct made *l)
{
	for (size_t i = 0; i < rules->n_profiles; i++) {
		_cleanup_buf_ struct buf why = BUF_INIT(4096);
		struct scrape_target *t = made_room(l);

		if (!t)
			return -ENOMEM;
		if (!rules->profiles[i].enabled)
			continue;
		int r = scrape_target_make(rules, &rules->profiles[i], labels, &why, t);
		if (r < 0)
			return r;
		if (r == SCRAPE_TARGET_MADE) {
			l->n++;
			continue;
		}
		if (l->n_wrong++ == 0)
			str_copy_utf8(l->wrong, sizeof(l->wrong), str_from(buf_str(&why)));
		return 0;
	}
	return 0;
}

static int make_all(const struct scrape *s, const struct scrape_args *args, struct made *l)
{
	_cleanup_(river_arena_fini) struct river_arena arena;
	struct scrape_rules rules;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	int r = scrape_args_rules(args, s->c->id, &arena, &rules);
	for (size_t i = 0; r == 0 && i < args->targets.n_items; i++)
		r = add_target(&rules, target_of(&args->targets, i), l);
	return r;
}

static void tell_wrong(struct scrape *s, const struct made *l)
{
	if (l->n_wrong > 0 && strcmp(l->wrong, s->wrong) != 0)
		log_warn("targets cannot be scraped", LOG_STR("component_id", s->c->id),
			 LOG_UINT("targets", l->n_wrong), LOG_STR("reason", l->wrong));
	s->n_wrong = l->n_wrong;
	memcpy(s->wrong, l->wrong, sizeof(s->wrong));
}

/* ---- life ------------------------------------------------------------------------------------------------------------------------------------ */

/* Arguments take effect as a whole: what can fail is done before. */
static int apply(struct scrape *s, const struct scrape_args *args)
{
	_cleanup_(made_fini) struct made list = { .n = 0 };
	_cleanup_(river_arena_fini) struct river_arena arena;
	struct scraper_options options;

	river_arena_init(&arena, OPTIONS_ARENA_BYTES);
	int r = make_all(s, args, &list);
	if (r == 0)
		r = scrape_args_options(args, &arena, &options);
	if (r == 0)
		r = scraper_set_options(s->scraper, &options);
	if (r < 0)
		return r;
	river_arena_fini(&s->options);
	s->options = arena;
	arena = (struct river_arena){ 0 };
	s->args = args;
	received_forward_to(s->received, &args->forward_to);
	s->n_left_out = scraper_set_targets(s->scraper, list.items, list.n);
	list.n = 0;
	tell_wrong(s, &list);
	return 0;
}

static void check(struct component *c)
{
	struct scrape *s = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT(4 * COMPONENT_MESSAGE_MAX);

	if (!s->scraper)
		return;
	const struct scrape_report report = { s->scraper, job_of(s), s->n_wrong, s->wrong,
					      s->n_left_out };
	enum health_state state = scrape_report_health(&report, &text);
	component_set_health(c, state, buf_str(&text));
}

static int build(struct component *c, const void *args, struct buf *why)
{
	const struct scrape_args *a = args;
	struct scrape *s = calloc(1, sizeof(*s));

	(void)why;
	if (!s)
		return -ENOMEM;
	c->state = s;
	s->c = c;
	s->args = a;
	river_arena_init(&s->options, OPTIONS_ARENA_BYTES);
	if (a->clustering && a->clustering->enabled && !c->env->offline)
		log_warn("clustering has no effect: each agent scrapes all targets it is given",
			 LOG_STR("component_id", c->id));
	return 0;
}

static int run(struct component *c, struct buf *why)
{
	struct scrape *s = c->state;
	const struct scraper_context context = {
		.loop = c->env->loop,
		.http = c->env->http,
		.telemetry = c->env->telemetry,
		.component_path = c->path,
		.component_id = c->local_id,
		.log_id = c->id,
		.fn = on_profile,
		.data = s,
	};
	int r = received_new(c, &s->received);

	(void)why;
	if (r == 0)
		r = scraper_new(&context, &s->scraper);
	if (r == 0)
		r = apply(s, s->args);
	if (r == 0)
		check(c);
	return r;
}

static int update(struct component *c, const void *args, struct buf *why)
{
	struct scrape *s = c->state;

	(void)why;
	if (s->scraper)
		return apply(s, args);
	s->args = args;
	return 0;
}

static void stop(struct component *c)
{
	struct scrape *s = c->state;

	if (!s)
		return;
	scraper_free(s->scraper);
	received_free(s->received);
	river_arena_fini(&s->options);
	free(s);
	c->state = NULL;
}

static int debug_info(struct component *c, struct river_arena *arena,
		      const struct river_value **ret_info)
{
	const struct scrape *s = c->state;

	if (!s || !s->scraper)
		return 0;
	const struct scrape_report report = { s->scraper, job_of(s), s->n_wrong, s->wrong,
					      s->n_left_out };
	*ret_info = scrape_report_value(&report, arena);
	return *ret_info ? 0 : -ENOMEM;
}

const struct component_kind pyroscope_scrape_kind = {
	.name = "pyroscope.scrape",
	.schema = &scrape_schema,
	.wants_label = true,
	.build = build,
	.run = run,
	.update = update,
	.stop = stop,
	.check = check,
	.debug_info = debug_info,
};
