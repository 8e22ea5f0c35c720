/* SPDX-License-Identifier: Apache-2.0 */
/* discovery.dns: the records of names as targets. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/component/target_maps.h"
#include "agent/discovery/dns_targets.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

struct dns_args {
	struct river_strings names;
	const char *type;
	int64_t port, refresh_interval_ns;
};

struct dns_discovery {
	struct component *c;
	const struct dns_args *args;
	struct dns_targets *engine;
	bool running;
};

static const struct {
	const char *text;
	enum dns_type type;
} types[] = {
	{ "SRV", DNS_SRV }, { "A", DNS_A },   { "AAAA", DNS_AAAA },
	{ "MX", DNS_MX },   { "NS", DNS_NS },
};

/* False: there is none of this name. */
static bool find_type(const char *text, enum dns_type *ret_type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcasecmp(types[i].text, text) == 0) {
			*ret_type = types[i].type;
			return true;
		}
	return false;
}

_Static_assert(DNS_TARGETS_MAX_NAMES == 1000, "the sentence says it");

static const char *validate(const void *self, struct river_arena *arena)
{
	const struct dns_args *a = self;
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);
	enum dns_type type;

	if (!find_type(a->type, &type)) {
		(void)buf_printf(&text, "invalid DNS-SD records type %.200s", a->type);
		const char *copy = river_arena_strndup(arena, buf_str(&text), text.len);
		return copy ? copy : "invalid DNS-SD records type";
	}
	if (type != DNS_SRV && a->port == 0)
		return "a port is required in DNS-SD configs for all record types except SRV";
	if (a->port < 0 || a->port > UINT16_MAX)
		return "port must be from 0 to 65535";
	if (a->refresh_interval_ns <= 0)
		return "refresh_interval must be greater than 0";
	return a->names.n_items <= DNS_TARGETS_MAX_NAMES ? NULL : "names has more than 1000 items";
}

#define A struct dns_args
static const struct river_field dns_fields[] = {
	RIVER_FIELD_STRING_LIST(A, names, "names", .flags = RIVER_REQUIRED),
	RIVER_FIELD_DURATION(A, refresh_interval_ns, "refresh_interval", .def = "30s"),
	RIVER_FIELD_STRING(A, type, "type", .def = "SRV"),
	RIVER_FIELD_INT(A, port, "port", .def = "0"),
};
static const struct river_schema dns_schema =
	RIVER_SCHEMA(A, "discovery.dns", dns_fields, .validate = validate);
#undef A

/* The first name's problem, and how many more there are. */
static size_t describe_problems(const struct dns_targets *t, struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < dns_targets_n_names(t); i++) {
		struct dns_targets_name name = dns_targets_name(t, i);

		if (*name.problem && n++ == 0)
			(void)buf_printf(text, "could not resolve \"%.150s\": %.200s", name.name,
					 name.problem);
	}
	if (n > 1)
		(void)buf_printf(text, "; and %zu more names", n - 1);
	return n;
}

static void tell_problems(struct dns_discovery *d, const char *text)
{
	const struct health *known = &d->c->reported;
	bool new = known->state != HEALTH_UNHEALTHY || strcmp(known->message, text) != 0;

	component_set_health(d->c, HEALTH_UNHEALTHY, text);
	if (new)
		log_warn("cannot resolve all names, their last targets stay",
			 LOG_STR("component_id", d->c->id), LOG_STR("reason", text));
}

/* Health is told when each name was asked for. */
static void tell(struct dns_discovery *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT(COMPONENT_MESSAGE_MAX);
	size_t n_targets = 0;

	for (size_t i = 0; i < dns_targets_n_names(d->engine); i++) {
		struct dns_targets_name name = dns_targets_name(d->engine, i);

		if (!name.was_asked)
			return;
		n_targets += name.targets->n;
	}
	if (describe_problems(d->engine, &text) > 0) {
		tell_problems(d, buf_str(&text));
		return;
	}
	(void)buf_printf(&text, "%zu targets of %zu names", n_targets,
			 dns_targets_n_names(d->engine));
	component_set_health(d->c, HEALTH_HEALTHY, buf_str(&text));
}

static void on_answer(bool changed, void *data)
{
	struct dns_discovery *d = data;

	tell(d);
	if (changed)
		component_exports_changed(d->c);
}

/* An engine for other arguments, which has found what the one before it has. */
static int open_engine(struct dns_discovery *d, const struct dns_args *args)
{
	_cleanup_(dns_targets_freep) struct dns_targets *engine = NULL;
	struct dns_targets_options options = {
		.names = args->names.items,
		.n_names = args->names.n_items,
		.type = DNS_SRV,
		.port = (uint16_t)args->port,
		.refresh_interval_ns = (uint64_t)args->refresh_interval_ns,
	};

	(void)find_type(args->type, &options.type);
	int r = dns_targets_new(d->c->env->loop, &options, on_answer, d, &engine);
	if (r < 0)
		return r;
	if (d->engine)
		dns_targets_inherit(engine, d->engine);
	dns_targets_free(d->engine);
	d->engine = TAKE_PTR(engine);
	d->args = args;
	return 0;
}

static int dns_build(struct component *c, const void *args, struct buf *why)
{
	struct dns_discovery *d = calloc(1, sizeof(*d));

	(void)why;
	if (!d)
		return -ENOMEM;
	c->state = d;
	d->c = c;
	return open_engine(d, args);
}

static int dns_run(struct component *c, struct buf *why)
{
	struct dns_discovery *d = c->state;

	(void)why;
	d->running = true;
	component_set_health(c, HEALTH_UNKNOWN, "waiting for the first answers");
	tell(d);
	dns_targets_start(d->engine);
	return 0;
}

/* Names that are not asked for any more have no targets. */
static int dns_update(struct component *c, const void *args, struct buf *why)
{
	struct dns_discovery *d = c->state;
	int r = open_engine(d, args);

	(void)why;
	if (r < 0)
		return r;
	component_exports_changed(c);
	if (d->running) {
		tell(d);
		dns_targets_start(d->engine);
	}
	return 0;
}

static void dns_stop(struct component *c)
{
	struct dns_discovery *d = c->state;

	if (!d)
		return;
	dns_targets_free(d->engine);
	free(d);
	c->state = NULL;
}

static int dns_exports(struct component *c, struct river_arena *arena,
		       const struct river_value **ret_exports)
{
	const struct dns_discovery *d = c->state;
	_cleanup_target_list_ struct target_list list = { 0 };
	int r = dns_targets_get(d->engine, &list);

	return r < 0 ? r : target_maps_export(arena, list.items, list.n, ret_exports);
}

static const struct river_value *name_value(struct river_arena *arena,
					    const struct dns_targets_name *n)
{
	struct river_member members[] = {
		{ "name", river_value_string(arena, n->name, strlen(n->name)) },
		{ "targets", river_value_uint(arena, n->targets->n) },
		{ "problem", river_value_string(arena, n->problem, strlen(n->problem)) },
	};

	return members[0].value && members[1].value && members[2].value
		       ? river_value_object(arena, members, 3)
		       : NULL;
}

static int dns_debug(struct component *c, struct river_arena *arena,
		     const struct river_value **ret_info)
{
	const struct dns_discovery *d = c->state;
	size_t n = d ? dns_targets_n_names(d->engine) : 0;
	const struct river_value **items = river_arena_alloc(arena, (n + 1) * sizeof(*items));
	struct river_member member = { .key = "names" };

	for (size_t i = 0; items && i < n; i++) {
		struct dns_targets_name name = dns_targets_name(d->engine, i);

		items[i] = name_value(arena, &name);
		if (!items[i])
			return -ENOMEM;
	}
	member.value = items ? river_value_array(arena, items, n) : NULL;
	*ret_info = member.value ? river_value_object(arena, &member, 1) : NULL;
	return *ret_info ? 0 : -ENOMEM;
}

const struct component_kind discovery_dns_kind = {
	.name = "discovery.dns",
	.schema = &dns_schema,
	.wants_label = true,
	.build = dns_build,
	.run = dns_run,
	.update = dns_update,
	.stop = dns_stop,
	.exports = dns_exports,
	.debug_info = dns_debug,
};
