/* SPDX-License-Identifier: Apache-2.0 */
/* One address: asked again and again, its answers read by the worker. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/scrape/scraper_private.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Of an answer without a profile: its first words are shown. */
#define MAX_REFUSAL_BYTES ((size_t)64 << 10)
/* Of the worker, which all have together: a profile of 4 MiB takes 0.1 s of it every 15 s. */
#define SHARE_PERCENT 2
#define SHARE_BURST_NS NS_PER_S

static void ask_if_cheap(struct scrape_loop *l);

/* ---- how a scrape ended ------------------------------------------------------------------------------------------------------------ */

static void tell_change(const struct scrape_loop *l, enum scrape_health before)
{
	const char *id = l->s->context.log_id;

	if (l->health == SCRAPE_DOWN && before != SCRAPE_DOWN)
		log_warn("cannot scrape a target", LOG_STR("component_id", id),
			 LOG_STR("url", l->target.url), LOG_STR("reason", l->last_error));
	if (l->health == SCRAPE_UP && before == SCRAPE_DOWN)
		log_info("a target is scraped again", LOG_STR("component_id", id),
			 LOG_STR("url", l->target.url));
}

static void end_scrape(struct scrape_loop *l, enum scrape_result result, const char *why)
{
	enum scrape_health before = l->health;

	l->health = result == SCRAPE_OK ? SCRAPE_UP : SCRAPE_DOWN;
	str_copy_utf8(l->last_error, sizeof(l->last_error), str_from(why));
	l->last_duration_ns = clock_mono_ns() - l->began_ns;
	metric_add(l->s->metrics.scrapes[result], 1);
	metric_observe(l->s->metrics.duration, (double)l->last_duration_ns / 1e9);
	tell_change(l, before);
	if (l->due)
		ask_if_cheap(l);
}

/* ---- bytes that are held ------------------------------------------------------------------------------------------------------------ */

static void drop_body(struct scrape_loop *l)
{
	l->s->held_bytes -= l->body.len;
	buf_fini(&l->body);
	buf_init(&l->body, SCRAPE_MAX_BODY_BYTES);
}

/* Of those that are still coming. */
static struct scrape_loop *largest(const struct scraper *s)
{
	struct scrape_loop *found = NULL;

	HASH_FOREACH (&s->loops, node) {
		struct scrape_loop *l = CONTAINER_OF(node, struct scrape_loop, node);

		if (!l->in_worker && l->body.len > (found ? found->body.len : 0))
			found = l;
	}
	return found;
}

static void make_room(struct scrape_loop *l, size_t n)
{
	struct scraper *s = l->s;

	while (s->held_bytes + n > s->max_held_bytes) {
		struct scrape_loop *given_up = largest(s);

		if (!given_up || l->body.len + n > given_up->body.len)
			given_up = l;
		given_up->given_up = true;
		drop_body(given_up);
		if (given_up == l)
			return;
	}
}

/* In the middle of libcurl's work: requests are neither started nor cancelled. */
static bool on_data(const char *bytes, size_t n, void *data)
{
	struct scrape_loop *l = data;

	l->too_large = l->body.len + n > SCRAPE_MAX_BODY_BYTES;
	if (!l->too_large && !l->given_up)
		make_room(l, n);
	if (l->too_large || l->given_up)
		return false;
	if (buf_append(&l->body, bytes, n) < 0)
		return false;
	l->s->held_bytes += n;
	return true;
}

/* ---- in the worker --------------------------------------------------------------------------------------------------------------------- */

static void run(struct worker_job *job)
{
	struct scrape_loop *l = CONTAINER_OF(job, struct scrape_loop, job);

	uint64_t begin_ns = clock_thread_ns();

	l->result = scrape_read(l->delta, (const uint8_t *)buf_str(&l->body), l->body.len, &l->why,
				&l->reading);
	l->cpu_ns = clock_thread_ns() - begin_ns;
}

static void deliver(struct scrape_loop *l)
{
	const struct scraper_context *c = &l->s->context;
	_cleanup_(shared_bytes_unrefp) struct shared_bytes *pprof = NULL;
	struct pprof_bytes bytes = l->reading.pprof;

	l->reading.pprof = (struct pprof_bytes){ 0 };
	if (shared_bytes_new(bytes.data, bytes.n, &pprof) < 0)
		return;
	metric_add(l->s->metrics.profiles, 1);
	c->fn(pprof, &l->target, clock_real_ns(), c->data);
}

static void done(struct worker_job *job)
{
	struct scrape_loop *l = CONTAINER_OF(job, struct scrape_loop, job);

	l->in_worker = false;
	drop_body(l);
	time_share_spend(&l->share, clock_mono_ns(), l->cpu_ns);
	l->n_stacks = l->delta ? delta_n_stacks(l->delta) : 0;
	metric_add(l->s->metrics.restarts, l->result == SCRAPE_OK && l->reading.restarted);
	if (l->result == SCRAPE_OK && l->reading.n_samples > 0)
		deliver(l);
	pprof_bytes_fini(&l->reading.pprof);
	if (l->gone)
		scrape_loop_end(l);
	else
		end_scrape(l, l->result, buf_str(&l->why));
}

/* ---- the request ------------------------------------------------------------------------------------------------------------------------ */

/* What on_data() did not want, or what came otherwise. */
static enum scrape_result judge(struct scrape_loop *l, const struct http_result *result)
{
	if (l->too_large) {
		(void)buf_printf(&l->why, "the answer is larger than %zu MiB",
				 SCRAPE_MAX_BODY_BYTES >> 20);
		return SCRAPE_TOO_LARGE;
	}
	if (l->given_up) {
		(void)buf_printf(
			&l->why,
			"given up as the largest of all answers under way, which take more "
			"than %zu MiB together",
			l->s->max_held_bytes >> 20);
		return SCRAPE_HELD;
	}
	if (result->outcome == HTTP_STOPPED) {
		(void)buf_append_str(&l->why, "out of memory");
		return SCRAPE_MEMORY;
	}
	return scrape_check_answer(result, &l->why);
}

static void on_done(const struct http_result *result, void *data)
{
	struct scrape_loop *l = data;

	l->request = NULL;
	metric_add(l->s->metrics.bytes, l->body.len);
	enum scrape_result r = judge(l, result);
	if (r != SCRAPE_OK) {
		drop_body(l);
		end_scrape(l, r, buf_str(&l->why));
		return;
	}
	l->job = (struct worker_job){ .run = run, .done = done };
	l->in_worker = true;
	/* There is room for a job of each loop, and of those that are gone. */
	if (worker_submit(l->s->worker, &l->job) < 0) {
		l->in_worker = false;
		drop_body(l);
		end_scrape(l, SCRAPE_HELD, "too many profiles wait to be read");
	}
}

static int start_request(struct scrape_loop *l, char *error)
{
	_cleanup_(http_secrets_fini) struct http_secrets secrets = HTTP_SECRETS_INIT;
	struct scraper *s = l->s;
	struct http_request_options o = s->options.request;

	o.url = l->target.url;
	o.on_data = on_data;
	o.timeout_ns = s->options.timeout_ns + l->target.seconds * NS_PER_S;
	o.max_response_bytes = MAX_REFUSAL_BYTES;
	o.oauth2 = s->tokens;
	int r = http_secrets_read(&s->options.credentials, &secrets, &o, error);
	if (r < 0)
		return r;
	return http_request_start(s->context.http, &o, on_done, l, &l->request);
}

static void ask(struct scrape_loop *l)
{
	char error[HTTP_MAX_ERROR_BYTES] = "";

	l->too_large = l->given_up = false;
	buf_reset(&l->why);
	l->began_ns = clock_mono_ns();
	l->last_real_ns = clock_real_ns();
	int r = start_request(l, error);
	if (r == 0)
		return;
	if (!*error)
		(void)snprintf(error, sizeof(error), "cannot make the request: %s",
			       strerrordesc_np(-r));
	end_scrape(l, SCRAPE_REQUEST, error);
}

/* Its answers were not too much for the worker so far. */
static void ask_if_cheap(struct scrape_loop *l)
{
	l->due = false;
	if (time_share_left(&l->share, clock_mono_ns()) > 0)
		ask(l);
	else
		metric_add(l->s->metrics.costly, 1);
}

/* ---- its time ----------------------------------------------------------------------------------------------------------------------------- */

static void on_timer(void *data)
{
	struct scrape_loop *l = data;
	uint64_t interval_ns = l->s->options.interval_ns, now_ns = clock_mono_ns();

	l->next_ns += ((now_ns - MIN_OF(l->next_ns, now_ns)) / interval_ns + 1) * interval_ns;
	loop_timer_arm(l->timer, l->next_ns);
	if (l->request || l->in_worker) {
		l->due = true;
		metric_add(l->s->metrics.busy, 1);
	} else {
		ask_if_cheap(l);
	}
}

/* By the clock of the world: the same moments for each run of an agent, and for each agent that has this target. */
void scrape_loop_schedule(struct scrape_loop *l)
{
	uint64_t interval_ns = l->s->options.interval_ns;
	uint64_t since_ns = clock_real_ns() % interval_ns, at_ns = l->target.hash % interval_ns;

	l->next_ns = clock_mono_ns() + (at_ns + interval_ns - since_ns) % interval_ns;
	loop_timer_arm(l->timer, l->next_ns);
}

void scrape_loop_cancel(struct scrape_loop *l)
{
	if (!l->request)
		return;
	http_request_cancel(TAKE_PTR(l->request));
	drop_body(l);
}

static void loop_free_all(struct scrape_loop *l)
{
	loop_timer_free(l->timer);
	delta_free(l->delta);
	scrape_target_fini(&l->target);
	buf_fini(&l->body);
	buf_fini(&l->why);
	free(l);
}

int scrape_loop_new(struct scraper *s, struct scrape_target *target, struct scrape_loop **ret_loop)
{
	struct scrape_loop *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->s = s;
	buf_init(&l->body, SCRAPE_MAX_BODY_BYTES);
	buf_init(&l->why, SCRAPER_MAX_ERROR_BYTES);
	l->share =
		(struct time_share){ .burst_ns = SHARE_BURST_NS, .refill_percent = SHARE_PERCENT };
	int r = loop_timer_new(s->context.loop, on_timer, l, &l->timer);
	if (r == 0 && target->cumulative)
		r = delta_new(&l->delta);
	if (r < 0) {
		loop_free_all(l);
		return r;
	}
	l->target = *target;
	*target = (struct scrape_target){ 0 };
	scrape_loop_schedule(l);
	*ret_loop = l;
	return 0;
}

void scrape_loop_end(struct scrape_loop *l)
{
	scrape_loop_cancel(l);
	loop_timer_disarm(l->timer);
	l->gone = true;
	if (!l->in_worker)
		loop_free_all(l);
}
