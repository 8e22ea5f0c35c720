/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that files of other agents have and that mean nothing here: their arguments are checked like all others. */
#include "agent/component/kinds.h"

#include "agent/component/http/http_client_args.h"
#include "agent/util/log.h"

/* What tracing, livedebugging and remotecfg have in common: nothing happens. */
static int accepted_build(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	c->state = (void *)args;
	return 0;
}

static int accepted_run(struct component *c, struct buf *why)
{
	(void)why;
	component_set_health(c, HEALTH_HEALTHY, "accepted, has no effect");
	return 0;
}

static int accepted_update(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	c->state = (void *)args;
	return 0;
}

static void accepted_stop(struct component *c)
{
	c->state = NULL;
}

struct sampler_args {
	char unused;
};

static const struct river_field jaeger_remote_fields[] = {
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "url", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_INT, "max_operations", 0),
	RIVER_FIELD_IGNORED(RIVER_KIND_DURATION, "refresh_interval", 0),
};
static const struct river_schema jaeger_remote_schema =
	RIVER_SCHEMA(struct sampler_args, "jaeger_remote", jaeger_remote_fields);

static const struct river_field sampler_fields[] = {
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "jaeger_remote",
	  .flags = RIVER_IGNORED,
	  .schema = &jaeger_remote_schema },
};
static const struct river_schema sampler_schema =
	RIVER_SCHEMA(struct sampler_args, "sampler", sampler_fields);

struct tracing_args {
	double sampling_fraction;
	struct river_capsules write_to;
};

static const char *validate_fraction(const void *field, struct river_arena *arena)
{
	double fraction = *(const double *)field;

	(void)arena;
	return fraction >= 0 && fraction <= 1 ? NULL : "sampling_fraction must be between 0 and 1";
}

static const struct river_field tracing_fields[] = {
	RIVER_FIELD_FLOAT(struct tracing_args, sampling_fraction, "sampling_fraction", .def = "0.1",
			  .validate = validate_fraction),
	RIVER_FIELD_CAPSULE_LIST(struct tracing_args, write_to, "write_to", "otelcol.Consumer"),
	{ .kind = RIVER_KIND_BLOCK,
	  .name = "sampler",
	  .flags = RIVER_IGNORED,
	  .schema = &sampler_schema },
};
static const struct river_schema tracing_schema =
	RIVER_SCHEMA(struct tracing_args, "tracing", tracing_fields);

const struct component_kind tracing_kind = {
	.name = "tracing",
	.schema = &tracing_schema,
	.build = accepted_build,
	.run = accepted_run,
	.update = accepted_update,
	.stop = accepted_stop,
};

struct livedebugging_args {
	bool enabled;
};

static const struct river_field livedebugging_fields[] = {
	RIVER_FIELD_BOOL(struct livedebugging_args, enabled, "enabled", .def = "true"),
};
static const struct river_schema livedebugging_schema =
	RIVER_SCHEMA(struct livedebugging_args, "livedebugging", livedebugging_fields);

const struct component_kind livedebugging_kind = {
	.name = "livedebugging",
	.schema = &livedebugging_schema,
	.build = accepted_build,
	.run = accepted_run,
	.update = accepted_update,
	.stop = accepted_stop,
};

struct remotecfg_args {
	const char *url, *id, *name;
	struct river_string_map attributes;
	int64_t poll_frequency_ns;
	struct http_client_args client;
};

static const char *validate_remotecfg(const void *self, struct river_arena *arena)
{
	(void)arena;
	return http_client_args_check(&((const struct remotecfg_args *)self)->client);
}

#define R struct remotecfg_args
static const struct river_field remotecfg_fields[] = {
	RIVER_FIELD_STRING(R, url, "url"),
	RIVER_FIELD_STRING(R, id, "id"),
	RIVER_FIELD_STRING(R, name, "name"),
	RIVER_FIELD_STRING_MAP(R, attributes, "attributes"),
	RIVER_FIELD_DURATION(R, poll_frequency_ns, "poll_frequency", .def = "1m"),
	HTTP_CLIENT_FIELDS(R, client),
};
static const struct river_schema remotecfg_schema =
	RIVER_SCHEMA(R, "remotecfg", remotecfg_fields, .validate = validate_remotecfg);
#undef R

/* Without a url the block asks for nothing in the other agents either. */
static void warn(struct component *c)
{
	const struct remotecfg_args *args = c->state;

	component_set_health(c, HEALTH_HEALTHY, "remote configuration is not supported");
	if (*args->url)
		log_warn("remote configuration is not supported, the block has no effect",
			 LOG_STR("component_id", c->id), LOG_STR("url", args->url));
}

static int remotecfg_run(struct component *c, struct buf *why)
{
	(void)why;
	warn(c);
	return 0;
}

static int remotecfg_update(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	c->state = (void *)args;
	warn(c);
	return 0;
}

const struct component_kind remotecfg_kind = {
	.name = "remotecfg",
	.schema = &remotecfg_schema,
	.build = accepted_build,
	.run = remotecfg_run,
	.update = remotecfg_update,
	.stop = accepted_stop,
};
