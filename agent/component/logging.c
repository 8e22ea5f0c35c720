/* SPDX-License-Identifier: Apache-2.0 */
/* logging: level and form of the log. Takes effect when the load has succeeded. */
#include "agent/component/kinds.h"

#include <string.h>

#include "agent/util/log.h"
#include "agent/util/macro.h"

struct logging_args {
	const char *level;
	const char *format;
	struct river_capsules write_to;
};

static const char *complain(struct river_arena *arena, const char *what, const char *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	(void)buf_printf(&text, "unrecognized log %s \"%s\"", what, value);
	const char *copy = river_arena_strndup(arena, buf_str(&text), text.len);
	return copy ? copy : what;
}

/* Empty is the default, as in the other agents. */
static const char *validate_level(const void *field, struct river_arena *arena)
{
	const char *value = *(const char *const *)field;
	enum log_level level;

	return !*value || log_level_parse(value, &level) ? NULL : complain(arena, "level", value);
}

static const char *validate_format(const void *field, struct river_arena *arena)
{
	const char *value = *(const char *const *)field;

	return !*value || strcmp(value, "logfmt") == 0 || strcmp(value, "json") == 0
		       ? NULL
		       : complain(arena, "format", value);
}

static const char *validate_destination(const void *field, struct river_arena *arena)
{
	const char *value = *(const char *const *)field;

	return !*value || strcmp(value, "stderr") == 0 || strcmp(value, "windows_event_log") == 0
		       ? NULL
		       : complain(arena, "destination", value);
}

static const struct river_field logging_fields[] = {
	RIVER_FIELD_STRING(struct logging_args, level, "level", .def = "info",
			   .flags = RIVER_OF_VALUE, .validate = validate_level),
	RIVER_FIELD_STRING(struct logging_args, format, "format", .def = "logfmt",
			   .flags = RIVER_OF_VALUE, .validate = validate_format),
	RIVER_FIELD_CAPSULE_LIST(struct logging_args, write_to, "write_to", "LogsReceiver"),
	RIVER_FIELD_IGNORED(RIVER_KIND_STRING, "destination", RIVER_OF_VALUE,
			    .validate = validate_destination),
};

static const struct river_schema logging_schema =
	RIVER_SCHEMA(struct logging_args, "logging", logging_fields);

static void apply(struct component *c, const struct logging_args *args)
{
	enum log_level level = LOG_LEVEL_INFO;

	(void)log_level_parse(args->level, &level);
	log_configure(level,
		      strcmp(args->format, "json") == 0 ? LOG_FORMAT_JSON : LOG_FORMAT_LOGFMT);
	component_set_health(c, HEALTH_HEALTHY, "logging configured");
}

static int logging_build(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	c->state = (void *)args;
	return 0;
}

static int logging_run(struct component *c, struct buf *why)
{
	(void)why;
	apply(c, c->state);
	return 0;
}

static int logging_update(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	c->state = (void *)args;
	apply(c, args);
	return 0;
}

static void logging_stop(struct component *c)
{
	c->state = NULL;
}

const struct component_kind logging_kind = {
	.name = "logging",
	.schema = &logging_schema,
	.build = logging_build,
	.run = logging_run,
	.update = logging_update,
	.stop = logging_stop,
};
