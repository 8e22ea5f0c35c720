/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that came from outside as pprof. */
#include "agent/component/receivers/received.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/receivers/divided.h"
#include "agent/component/receivers/fan_out.h"
#include "agent/component/receivers/moments.h"
#include "agent/push/relay.h"
#include "agent/receive/pprof_time.h"
#include "agent/store/ingest/ingest_tables.h"
#include "agent/util/clock.h"
#include "agent/util/hash.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/ratelimit.h"

/* Profiles, and their bytes, that wait for other forms of them. */
#define MAX_JOBS 64
#define MAX_WAITING_BYTES ((size_t)8 << 20)
/* What reading one may cost; as one that is pushed to the store. */
#define MAX_ELEMENTS ((size_t)16 << 20)
#define MAX_CPU_NS (5 * NS_PER_S)
#define WHY_MAX_BYTES 512
#define WARNINGS_INTERVAL_NS (60 * NS_PER_S)

/* Forms that are made here: of all others the bytes are what there is. */
#define MADE_FORMS (PROFILE_WANT(FORM_OTLP) | PROFILE_WANT(FORM_OTLP_GZIP))
#define MADE (MADE_FORMS | PROFILE_WANT_APART)
/* What a time that is put behind it adds to a profile. */
#define TIME_MAX_BYTES 64

struct received {
	const struct component *c;
	const struct river_capsules *to;
	struct worker *worker;	 /* NULL: nobody has wanted anything made yet */
	struct moments *moments; /* the worker's; NULL: nobody has wanted times apart yet */
	size_t n_waiting_bytes;
	struct metric *not_encoded, *moved, *crowded, *divided;
	struct ratelimit warnings;
};

struct job {
	struct worker_job worker_job;
	struct received *received;
	struct profile *profile;
	unsigned int wants;
	size_t n_bytes; /* as it came */
	uint64_t deadline_ns, now_ns;
	int result; /* INGEST_OPENED, INGEST_REFUSED_x, -errno */
	bool moved, crowded;
	bool may_divide;
	struct divided parts; /* in its place, where there are some */
	struct buf why;
};

static const struct metric_family not_encoded_family = {
	"xagent_received_profiles_not_encoded_total",
	"Received profiles that could not be given another form, for who wanted it.",
	METRIC_COUNTER,
	{ "component_path", "component_id" },
};

static const struct metric_family moved_family = {
	"xagent_received_profiles_moved_total",
	"Received profiles of the same millisecond as another, where receivers change labels: "
	"moved by milliseconds, "
	"or crowded, where a second was not enough.",
	METRIC_COUNTER,
	{ "component_path", "component_id", "result" },
};

static const struct metric_family divided_family = {
	"xagent_received_profiles_divided_total",
	"Received profiles that were handed on as several, because servers take none of their "
	"size.",
	METRIC_COUNTER,
	{ "component_path", "component_id" },
};

/* ---- worker: a time of its own ---- */

/* The same for the same bytes of the same series. */
static uint64_t origin_of(const struct profile *p)
{
	const struct shared_bytes *pprof = profile_form(p, FORM_PPROF);
	uint64_t h = hash_bytes(pprof->data, pprof->n, 0);

	for (size_t i = 0; i < p->labels->n; i++) {
		h = hash_bytes(p->labels->items[i].name, strlen(p->labels->items[i].name), h);
		h = hash_bytes(p->labels->items[i].value, strlen(p->labels->items[i].value), h);
	}
	return h;
}

static int copy_moved(const struct profile *p, uint64_t time_ns, struct profile **ret_profile)
{
	const struct shared_bytes *pprof = profile_form(p, FORM_PPROF);
	_cleanup_buf_ struct buf out = BUF_INIT(pprof->n + TIME_MAX_BYTES);
	_cleanup_(shared_bytes_unrefp) struct shared_bytes *bytes = NULL;
	const struct str plain = { (const char *)pprof->data, pprof->n };
	int r = pprof_time_set(plain, time_ns, &out);

	if (r == 0) {
		size_t n = out.len;

		r = shared_bytes_new((uint8_t *)buf_take(&out), n, &bytes);
	}
	return r < 0 ? r : profile_of_pprof(bytes, p->labels, time_ns, ret_profile);
}

/* What has no time gets one where it ends, and what is not read here (relay.h) keeps its own. */
static uint64_t time_of(const struct job *job, struct read_budget *budget)
{
	const struct shared_bytes *pprof = profile_form(job->profile, FORM_PPROF);

	if (labels_get(job->profile->labels, PUSH_RELAY_LABEL))
		return 0;
	return pprof_time_of((struct str){ (const char *)pprof->data, pprof->n }, budget);
}

static int move_apart(struct job *job, struct read_budget *budget)
{
	struct received *r = job->received;
	uint64_t had_ns = time_of(job, budget), time_ns;
	struct profile *moved = NULL;
	int result = r->moments ? 0 : moments_new(&r->moments);

	if (result < 0 || had_ns == 0)
		return result;
	job->crowded = !moments_take(r->moments, origin_of(job->profile), had_ns, &time_ns);
	if (job->crowded || time_ns == had_ns)
		return 0;
	result = copy_moved(job->profile, time_ns, &moved);
	if (result < 0)
		return result;
	job->moved = true;
	profile_unref(job->profile);
	job->profile = moved;
	return 0;
}

/* ---- worker: forms ---- */

static int make_forms(struct job *job, struct pprof_builder **tables)
{
	int r = 0;

	profile_lend_tables(job->profile, tables);
	for (enum profile_form form = 0; r == 0 && form < FORM_MAX; form++)
		if (job->wants & PROFILE_WANT(form))
			r = profile_make(job->profile, form);
	profile_drop_tables(job->profile);
	return r;
}

static int read_tables(struct job *job, struct read_budget *budget)
{
	const struct shared_bytes *pprof = profile_form(job->profile, FORM_PPROF);
	_cleanup_(pprof_builder_freep) struct pprof_builder *tables = NULL;
	int r = ingest_tables(pprof->data, pprof->n, job->now_ns, budget, &job->why, &tables);

	return r == INGEST_OPENED ? make_forms(job, &tables) : r;
}

static void job_run(struct worker_job *worker_job)
{
	struct job *job = CONTAINER_OF(worker_job, struct job, worker_job);
	const struct read_budget_options options = { .inflated_bytes = 2 * INGEST_MAX_PLAIN_BYTES,
						     .elements = MAX_ELEMENTS,
						     .cpu_ns = MAX_CPU_NS };
	struct read_budget budget;

	read_budget_init(&budget, &options);
	read_budget_begin(&budget);
	job->result = job->wants & PROFILE_WANT_APART ? move_apart(job, &budget) : 0;
	if (job->result == 0 && job->may_divide)
		divided_make(job->profile, job->wants, job->now_ns, &budget, &job->parts);
	if (job->result == 0 && job->parts.n == 0 && job->wants & MADE_FORMS)
		job->result = read_tables(job, &budget);
	read_budget_end(&budget);
}

/* ---- loop ---- */

static void job_free(struct job *job)
{
	divided_fini(&job->parts);
	profile_unref(job->profile);
	buf_fini(&job->why);
	free(job);
}

static const char *reason_of(const struct job *job)
{
	if (job->result == -ECANCELED)
		return "it takes too much to read";
	return job->result < 0 ? strerror(-job->result) : buf_str(&job->why);
}

static void not_encoded(struct received *r, const char *reason)
{
	unsigned int n_held = 0;

	metric_add(r->not_encoded, 1);
	if (ratelimit_pass(&r->warnings, clock_mono_ns(), &n_held))
		log_warn("a received profile cannot be changed as receivers want it",
			 LOG_STR("component_id", r->c->id), LOG_STR("reason", reason),
			 LOG_UINT("unsaid_before", n_held));
}

static void job_done(struct worker_job *worker_job)
{
	struct job *job = CONTAINER_OF(worker_job, struct job, worker_job);
	struct received *r = job->received;

	r->n_waiting_bytes -= job->n_bytes;
	metric_add(r->moved, job->moved);
	metric_add(r->crowded, job->crowded);
	if (job->result != INGEST_OPENED)
		not_encoded(r, reason_of(job));
	metric_add(r->divided, job->parts.n > 0);
	for (size_t i = 0; i < job->parts.n; i++)
		fan_out(r->to, job->parts.items[i], job->deadline_ns);
	if (job->parts.n == 0)
		fan_out(r->to, job->profile, job->deadline_ns);
	job_free(job);
}

static int submit(struct received *r, struct profile *profile, unsigned int wants,
		  uint64_t deadline_ns)
{
	int result = r->worker ? 0 : worker_new(r->c->env->loop, MAX_JOBS, &r->worker);
	struct job *job = result == 0 ? malloc(sizeof(*job)) : NULL;

	if (!job)
		return -ENOMEM;
	*job = (struct job){ .worker_job = { .run = job_run, .done = job_done },
			     .received = r,
			     .profile = profile,
			     .wants = wants & MADE,
			     .may_divide = divided_may_be(profile_form_bytes(profile, FORM_PPROF)),
			     .n_bytes = profile_form_bytes(profile, FORM_PPROF),
			     .deadline_ns = deadline_ns,
			     .now_ns = profile->time_ns ? profile->time_ns : clock_real_ns(),
			     .why = BUF_INIT(WHY_MAX_BYTES) };
	result = worker_submit(r->worker, &job->worker_job);
	if (result < 0) {
		free(job);
		return result;
	}
	r->n_waiting_bytes += job->n_bytes;
	return 0;
}

static bool has_room_to_encode(const struct received *r, size_t n_bytes)
{
	return n_bytes <= MAX_WAITING_BYTES && r->n_waiting_bytes <= MAX_WAITING_BYTES - n_bytes &&
	       (!r->worker || worker_has_room(r->worker));
}

bool received_has_room(const struct received *r, size_t n_bytes)
{
	unsigned int wants = fan_out_wants(r->to) & MADE;

	return (!wants || has_room_to_encode(r, n_bytes)) && fan_out_has_room(r->to, n_bytes);
}

bool received_may_relay(const struct received *r)
{
	return fan_out_wants(r->to) & PROFILE_WANT(FORM_PPROF);
}

/* What is to be made, and the bytes where they may be too many. */
static unsigned int wants_of(const struct received *r, const struct profile *p)
{
	unsigned int wants = fan_out_wants(r->to) & (MADE | PROFILE_WANT(FORM_PPROF));

	return divided_may_be(profile_form_bytes(p, FORM_PPROF)) ? wants : wants & MADE;
}

void received_deliver(struct received *r, struct profile **profile, uint64_t deadline_ns)
{
	_cleanup_(profile_unrefp) struct profile *p = TAKE_PTR(*profile);
	unsigned int wants = wants_of(r, p);

	if (!wants) {
		fan_out(r->to, p, deadline_ns);
		return;
	}
	int result = has_room_to_encode(r, profile_form_bytes(p, FORM_PPROF))
			     ? submit(r, p, wants, deadline_ns)
			     : -EAGAIN;
	if (result == 0) {
		p = NULL;
		return;
	}
	if (wants & MADE)
		not_encoded(r, result == -EAGAIN ? "too many wait for it" : strerror(-result));
	fan_out(r->to, p, deadline_ns);
}

void received_forward_to(struct received *r, const struct river_capsules *to)
{
	r->to = to;
}

int received_new(const struct component *c, struct received **ret_received)
{
	struct received *r = calloc(1, sizeof(*r));
	const char *const labels[] = { c->path, c->local_id };
	const char *const moved[] = { c->path, c->local_id, "moved" };
	const char *const crowded[] = { c->path, c->local_id, "crowded" };

	if (!r)
		return -ENOMEM;
	r->c = c;
	r->not_encoded = telemetry_series(c->env->telemetry, &not_encoded_family, labels);
	r->moved = telemetry_series(c->env->telemetry, &moved_family, moved);
	r->divided = telemetry_series(c->env->telemetry, &divided_family, labels);
	r->crowded = telemetry_series(c->env->telemetry, &moved_family, crowded);
	r->warnings = (struct ratelimit){ .interval_ns = WARNINGS_INTERVAL_NS, .burst = 1 };
	*ret_received = r;
	return 0;
}

void received_free(struct received *r)
{
	if (!r)
		return;
	worker_free(r->worker);
	moments_free(r->moments);
	free(r);
}
