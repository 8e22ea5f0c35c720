/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyroscope.store: keeps profiles of the last hours in the agent, and answers for them as a Pyroscope server does.
 *
 * There is one in a configuration, because its answers are at the agent's one address. When another takes its place in a load, the old
 * one ends a moment after the new one was to begin; so a beginning that finds the place taken is repeated.
 */
#include "agent/component/receivers/pyroscope_store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/kinds.h"
#include "agent/component/receiver.h"
#include "agent/component/receivers/store_args.h"
#include "agent/component/receivers/store_report.h"
#include "agent/profile/build.h"
#include "agent/store/api/api.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/ratelimit.h"
#include "agent/version.h"

/* Every connection of the HTTP server may ask one question; a few more are for files. */
#define MAX_JOBS 72
#define PATH_MAX_BYTES 4096
/* The old one ends before the loop goes on, or with the last update that had to be put off. */
#define RETRY_NS (100 * NS_PER_MS)
#define RETRIES_MAX 50
/* Whoever else has the directory ends some time: an agent that is being replaced, after its grace period. */
#define LATER_NS (10 * NS_PER_S)
#define REFUSAL_MAX_BYTES 200
/* Of this agent's own profiles on their way into the store, a hundred intervals of an ordinary host. They go before what others push, so only
 * a store that stands still is behind so far. */
#define WAITING_MAX_BYTES ((size_t)8 << 20)

/* Of those that came from outside, which go after all others and do not take their room. */
#define WAITING_MAX_FOREIGN_BYTES ((size_t)4 << 20)
/* What reading one of them may cost; as a pushed one. */
#define FOREIGN_MAX_ELEMENTS ((size_t)16 << 20)
#define FOREIGN_MAX_CPU_NS (5 * NS_PER_S)

_Static_assert(WAITING_MAX_BYTES > BUILD_MAX_KEPT_BYTES, "the tables of one interval find room");

/* Of the log: what is wrong with one profile is so with the next. */
#define REFUSALS_INTERVAL_NS (60 * NS_PER_S)

struct keeping {
	struct component *c;
	struct receiver receiver; /* what is exported: stays where it is through updates */
	const struct store_args *args;
	struct worker *worker; /* queries and files: naming does not wait for them */
	struct store *store;   /* NULL: it does not run */
	struct store_api *api; /* NULL: there is no server */
	struct loop_timer *soon;
	unsigned int n_retries;
	char path[PATH_MAX_BYTES]; /* of the store that runs */
	struct receiver_stats stats;
	size_t foreign_bytes; /* of those that wait */
	char last_refusal[REFUSAL_MAX_BYTES];
	struct ratelimit refusals;
	bool open_said;
};

/* A profile on its way, of this agent or of another. */
struct own_profile {
	struct store_put put;
	struct read_budget budget; /* of one that came from outside */
	struct keeping *k;
	struct profile *profile; /* a reference */
	size_t n_bytes;		 /* that it takes */
	struct buf why;
};

static void refuse(struct keeping *k, const char *reason)
{
	unsigned int n_held = 0;

	k->stats.dropped_profiles++;
	str_copy_utf8(k->last_refusal, sizeof(k->last_refusal), str_from(reason));
	if (ratelimit_pass(&k->refusals, clock_mono_ns(), &n_held))
		log_warn("a profile is refused", LOG_STR("component_id", k->c->id),
			 LOG_STR("reason", k->last_refusal), LOG_UINT("unsaid_before", n_held));
}

static void on_put(struct store_put *put)
{
	struct own_profile *own = CONTAINER_OF(put, struct own_profile, put);
	struct keeping *k = own->k;

	assert(k->stats.waiting_profiles > 0 && k->stats.waiting_bytes >= own->n_bytes);
	k->stats.waiting_profiles--;
	k->stats.waiting_bytes -= own->n_bytes;
	k->foreign_bytes -= own->profile->is_foreign ? own->n_bytes : 0;
	if (put->result == STORE_OVER_BUDGET) {
		refuse(k, "the profile takes too much to read");
	} else if (put->result < 0 || put->result == STORE_REFUSED) {
		refuse(k, put->result < 0 ? strerror(-put->result) : buf_str(&own->why));
	} else {
		k->stats.sent_profiles++;
		k->stats.sent_bytes += own->n_bytes;
	}
	profile_unref(own->profile);
	buf_fini(&own->why);
	free(own);
}

/* One that came from outside is read as a pushed one. */
static void lend_bytes(struct own_profile *own)
{
	const struct read_budget_options options = { .inflated_bytes = INGEST_MAX_PLAIN_BYTES,
						     .elements = FOREIGN_MAX_ELEMENTS,
						     .cpu_ns = FOREIGN_MAX_CPU_NS };
	const struct shared_bytes *pprof = profile_form(own->profile, FORM_PPROF);

	read_budget_init(&own->budget, &options);
	own->put.profile = NULL;
	own->put.labels = own->profile->labels;
	own->put.pprof = pprof->data;
	own->put.n = pprof->n;
	own->put.budget = &own->budget;
}

static int put_profile(struct keeping *k, struct profile *profile, uint64_t deadline_ns)
{
	struct own_profile *own = malloc(sizeof(*own));

	if (!own)
		return -ENOMEM;
	*own = (struct own_profile){ .k = k,
				     .profile = profile_ref(profile),
				     .n_bytes = profile_memory_bytes(profile),
				     .why = BUF_INIT(COMPONENT_MESSAGE_MAX) };
	own->put = (struct store_put){
		.profile = profile, .why = &own->why, .deadline_ns = deadline_ns, .done = on_put
	};
	if (profile->is_foreign)
		lend_bytes(own);
	k->foreign_bytes += profile->is_foreign ? own->n_bytes : 0;
	k->stats.waiting_profiles++;
	k->stats.waiting_bytes += own->n_bytes;
	store_put(k->store, &own->put);
	return 0;
}

static bool has_room_for(const struct keeping *k, bool is_foreign, size_t n_bytes)
{
	size_t used = is_foreign ? k->foreign_bytes : k->stats.waiting_bytes - k->foreign_bytes;
	size_t max = is_foreign ? WAITING_MAX_FOREIGN_BYTES : WAITING_MAX_BYTES;

	return n_bytes <= max && used <= max - n_bytes;
}

/* Asked only for what comes from outside. */
static bool has_room(const struct receiver *receiver, size_t n_bytes)
{
	const struct keeping *k =
		CONTAINER_OF((struct receiver *)receiver, struct keeping, receiver);

	return k->store && has_room_for(k, true, n_bytes);
}

static void receive(struct receiver *receiver, struct profile *profile, uint64_t deadline_ns)
{
	struct keeping *k = CONTAINER_OF(receiver, struct keeping, receiver);

	if (!k->store) {
		refuse(k, "the store has not begun");
		return;
	}
	if (!has_room_for(k, profile->is_foreign, profile_memory_bytes(profile))) {
		store_count_refused(k->store, INGEST_REFUSED_QUEUE, 1);
		refuse(k, "too many profiles wait for the store already");
		return;
	}
	if (put_profile(k, profile, deadline_ns) < 0)
		refuse(k, strerror(ENOMEM));
}

static void stats(const struct receiver *receiver, struct receiver_stats *ret_stats)
{
	*ret_stats = CONTAINER_OF((struct receiver *)receiver, struct keeping, receiver)->stats;
}

static bool is_open(const struct keeping *k)
{
	return k->c->env->server && http_server_is_open(k->c->env->server);
}

static struct store_report report_of(const struct keeping *k)
{
	struct store_report report = {
		.max_age_ns = (uint64_t)k->args->max_age_ns,
		.path = k->path,
		.last_refusal = k->last_refusal,
		.open = is_open(k),
	};

	store_stats(k->store, &report.stats);
	return report;
}

static void keep_check(struct component *c)
{
	const struct keeping *k = c->state;
	_cleanup_buf_ struct buf text = BUF_INIT(2 * COMPONENT_MESSAGE_MAX);

	if (!k->store)
		return;
	const struct store_report report = report_of(k);
	store_report_health(&report, &text);
	component_set_health(c, HEALTH_HEALTHY, buf_str(&text));
}

/* Who may ask is known once all blocks of the configuration have begun. */
static void say_open(struct keeping *k)
{
	if (is_open(k) && !k->open_said)
		log_warn("everybody who reaches this agent's address may read and push profiles: "
			 "there is no `auth` in an `http` block",
			 LOG_STR("component_id", k->c->id));
	k->open_said = is_open(k);
}

static int find_path(const struct component *c, const struct store_args *args,
		     char ret_path[static PATH_MAX_BYTES], struct buf *why)
{
	_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX_BYTES);

	if (store_args_path(args, c->env->storage_path, &path) < 0) {
		(void)buf_append_str(why, "path is too long");
		return -ENAMETOOLONG;
	}
	memcpy(ret_path, buf_str(&path), path.len + 1);
	return 0;
}

static int open_store(const struct keeping *k, const struct store_args *args, const char *path,
		      struct buf *why, struct store **ret_store)
{
	const struct component *c = k->c;
	struct store_options o = STORE_OPTIONS_INIT;

	o.max_bytes = store_args_max_bytes(args);
	o.max_age_ns = (uint64_t)args->max_age_ns;
	o.path = *path ? path : NULL;
	o.component_path = c->path;
	o.component_id = c->local_id;
	return store_new(c->env->loop, k->worker, c->env->telemetry, &o, why, ret_store);
}

static int open_api(struct keeping *k, struct store *store, struct buf *why)
{
	int r;

	if (!k->c->env->server)
		return 0;
	r = store_api_new(store, k->worker, k->c->env->server, XAGENT_VERSION, &k->api);
	if (r == -EEXIST)
		(void)buf_append_str(why,
				     "another pyroscope.store answers at this agent's address");
	return r;
}

static int begin(struct keeping *k, struct buf *why)
{
	_cleanup_(store_freep) struct store *store = NULL;
	int r = find_path(k->c, k->args, k->path, why);

	if (r < 0)
		return r;
	r = open_store(k, k->args, k->path, why, &store);
	if (r < 0)
		return r;
	r = open_api(k, store, why);
	if (r < 0)
		return r;
	k->store = TAKE_PTR(store);
	log_info_always("keeping profiles", LOG_STR("component_id", k->c->id),
			LOG_UINT("max_bytes", store_args_max_bytes(k->args)),
			LOG_FLOAT("max_age_s", (double)k->args->max_age_ns / 1e9),
			LOG_STR("path", k->path));
	keep_check(k->c);
	return 0;
}

/* The one that this one takes the place of has not ended yet: it answers, or has the directory. */
static bool is_taken(int r)
{
	return r == -EEXIST || r == -EBUSY || r == -EWOULDBLOCK;
}

static int begin_or_wait(struct keeping *k, struct buf *why)
{
	int r = begin(k, why);

	if (!is_taken(r) || k->n_retries++ >= RETRIES_MAX)
		return r;
	component_set_health(k->c, HEALTH_UNHEALTHY, buf_str(why));
	buf_reset(why);
	loop_timer_arm(k->soon, clock_mono_ns() + (k->n_retries > 1 ? RETRY_NS : 0));
	return 0;
}

static void on_soon(void *data)
{
	struct keeping *k = data;
	_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);
	int r = k->store ? 0 : begin_or_wait(k, &why);

	if (r < 0) {
		component_set_health(k->c, HEALTH_EXITED, buf_str(&why));
		/* Of a place that stays taken it is said once. */
		if (!is_taken(r) || k->n_retries == RETRIES_MAX + 1)
			log_error("profiles are not kept", LOG_STR("component_id", k->c->id),
				  LOG_STR("reason", buf_str(&why)));
		if (is_taken(r))
			loop_timer_arm(k->soon, clock_mono_ns() + LATER_NS);
	}
	say_open(k);
}

static int keep_build(struct component *c, const void *args, struct buf *why)
{
	struct keeping *k = calloc(1, sizeof(*k));

	(void)why;
	if (!k)
		return -ENOMEM;
	k->c = c;
	k->args = args;
	k->receiver = (struct receiver){ .receive = receive,
					 .stats = stats,
					 .has_room = has_room,
					 .wants = PROFILE_WANT_TABLES };
	k->refusals = (struct ratelimit){ .interval_ns = REFUSALS_INTERVAL_NS, .burst = 1 };
	c->state = k;
	return 0;
}

static int keep_run(struct component *c, struct buf *why)
{
	struct keeping *k = c->state;
	int r = k->soon ? 0 : loop_timer_new(c->env->loop, on_soon, k, &k->soon);

	if (r < 0)
		return r;
	if (!k->worker) {
		r = worker_new(c->env->loop, MAX_JOBS, &k->worker);
		if (r < 0)
			return r;
	}
	k->n_retries = 0;
	r = begin_or_wait(k, why);
	if (r < 0)
		return r;
	if (k->store)
		loop_timer_arm(k->soon, clock_mono_ns());
	return 0;
}

/* Another directory is another store: what the old one has in memory only is written where it was, or gone. */
static int replace(struct keeping *k, const struct store_args *args, const char *path,
		   struct buf *why)
{
	_cleanup_(store_freep) struct store *store = NULL;
	int r = open_store(k, args, path, why, &store);

	if (r < 0)
		return r;
	store_api_free(TAKE_PTR(k->api));
	r = open_api(k, store, why);
	if (r < 0) {
		(void)open_api(k, k->store, why);
		return r;
	}
	store_free(k->store);
	k->store = TAKE_PTR(store);
	memcpy(k->path, path, strlen(path) + 1);
	return 0;
}

static int keep_update(struct component *c, const void *new_args, struct buf *why)
{
	struct keeping *k = c->state;
	const struct store_args *args = new_args;
	char path[PATH_MAX_BYTES] = "";
	int r = find_path(c, args, path, why);

	if (r < 0)
		return r;
	if (k->store && strcmp(path, k->path) != 0) {
		r = replace(k, args, path, why);
		if (r < 0)
			return r;
	} else if (k->store) {
		store_set_bounds(k->store, store_args_max_bytes(args), (uint64_t)args->max_age_ns);
	}
	k->args = args;
	/* What could not begin may do so with other arguments. */
	if (!k->store)
		k->n_retries = 0;
	if (k->soon)
		loop_timer_arm(k->soon, clock_mono_ns());
	return 0;
}

static void keep_stop(struct component *c)
{
	struct keeping *k = c->state;

	if (!k)
		return;
	store_api_free(k->api);
	store_free(k->store);
	worker_free(k->worker);
	loop_timer_free(k->soon);
	free(k);
	c->state = NULL;
}

static int keep_exports(struct component *c, struct river_arena *arena,
			const struct river_value **ret_exports)
{
	struct keeping *k = c->state;
	struct river_member member = {
		.key = "receiver",
		.value = river_value_capsule(arena, RECEIVER_CAPSULE, &k->receiver),
	};

	*ret_exports = member.value ? river_value_object(arena, &member, 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}

static int keep_debug(struct component *c, struct river_arena *arena,
		      const struct river_value **ret_info)
{
	const struct keeping *k = c->state;

	if (!k || !k->store)
		return 0;
	const struct store_report report = report_of(k);
	const struct river_value *info = store_report_value(&report, arena);
	if (!info)
		return -ENOMEM;
	*ret_info = info;
	return 0;
}

bool pyroscope_store_status(const struct component *c, struct store_status *ret_status)
{
	const struct keeping *k = c->kind == &pyroscope_store_kind ? c->state : NULL;

	if (!k || !k->store)
		return false;
	store_stats(k->store, &ret_status->stats);
	ret_status->max_age_ns = (uint64_t)k->args->max_age_ns;
	return true;
}

const struct component_kind pyroscope_store_kind = {
	.name = "pyroscope.store",
	.schema = &store_schema,
	.wants_label = true,
	.only_one = true,
	.build = keep_build,
	.run = keep_run,
	.update = keep_update,
	.stop = keep_stop,
	.exports = keep_exports,
	.check = keep_check,
	.debug_info = keep_debug,
};
