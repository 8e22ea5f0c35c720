/* SPDX-License-Identifier: Apache-2.0 */
/* local.file: the content of a file as a value, read again when it changes. */
#include "agent/component/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/file/file_text.h"
#include "agent/component/file/path_watch.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

/* As a configuration file may have: tokens, certificates and lists of targets have less. */
#define LOCAL_FILE_MAX_BYTES ((size_t)16 << 20)

struct local_file_args {
	const char *filename, *detector;
	int64_t poll_frequency_ns;
	bool is_secret;
};

struct local_file {
	struct component *c;
	const struct local_file_args *args;
	struct buf content;
	struct path_watch *watch;
	struct loop_timer *timer;
	bool running;
};

static const struct metric_family last_accessed = {
	"local_file_timestamp_last_accessed_unix_seconds",
	"When the file was last read without an error.",
	METRIC_GAUGE,
	{ "component_path", "component_id" }
};

static const char *validate_detector(const void *field, struct river_arena *arena)
{
	const char *name = *(const char *const *)field;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	if (strcmp(name, "fsnotify") == 0 || strcmp(name, "poll") == 0)
		return NULL;
	(void)buf_printf(&text, "unrecognized detector \"%s\", expected fsnotify or poll", name);
	const char *copy = river_arena_strndup(arena, buf_str(&text), text.len);
	return copy ? copy : "unrecognized detector, expected fsnotify or poll";
}

static const char *validate_frequency(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field > 0 ? NULL : "poll_frequency must be greater than 0";
}

#define A struct local_file_args
static const struct river_field local_file_fields[] = {
	RIVER_FIELD_STRING(A, filename, "filename", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(A, detector, "detector", .def = "fsnotify", .flags = RIVER_OF_VALUE,
			   .validate = validate_detector),
	RIVER_FIELD_DURATION(A, poll_frequency_ns, "poll_frequency", .def = "1m",
			     .validate = validate_frequency),
	RIVER_FIELD_BOOL(A, is_secret, "is_secret", .def = "false"),
};
static const struct river_schema local_file_schema =
	RIVER_SCHEMA(A, "local.file", local_file_fields);
#undef A

/* 0, or -errno with a sentence in `why`; then the old content stays. */
static int read_content(struct local_file *l, const char *filename, struct buf *why)
{
	const char *labels[] = { l->c->path, l->c->local_id };
	struct buf text = BUF_INIT(LOCAL_FILE_MAX_BYTES);

	(void)buf_append_str(why, "failed to read file: ");
	int r = file_text_read(filename, &text, why);
	if (r < 0) {
		buf_fini(&text);
		return r;
	}
	buf_reset(why);
	uint64_t now_s = clock_real_ns() / NS_PER_S;
	metric_set(telemetry_series(l->c->env->telemetry, &last_accessed, labels), (double)now_s);
	component_set_health(l->c, HEALTH_HEALTHY, "read file");
	buf_fini(&l->content);
	l->content = text;
	return 0;
}

static void tell_failure(struct local_file *l, const struct buf *why)
{
	bool known = l->c->reported.state == HEALTH_UNHEALTHY;

	component_set_health(l->c, HEALTH_UNHEALTHY, buf_str(why));
	if (!known)
		log_error("the file cannot be read, its last content stays",
			  LOG_STR("component_id", l->c->id), LOG_STR("err", buf_str(why)));
}

static void read_again(struct local_file *l)
{
	_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);
	_cleanup_buf_ struct buf old = l->content;

	l->content = BUF_INIT(LOCAL_FILE_MAX_BYTES);
	if (read_content(l, l->args->filename, &why) < 0) {
		l->content = old;
		old = BUF_INIT(0);
		tell_failure(l, &why);
		return;
	}
	if (l->content.len != old.len || memcmp(buf_str(&l->content), buf_str(&old), old.len) != 0)
		component_exports_changed(l->c);
}

static void on_changed(void *data)
{
	read_again(data);
}

/* With fsnotify too: for what inotify does not see. */
static void on_timer(void *data)
{
	struct local_file *l = data;

	loop_timer_arm(l->timer, clock_mono_ns() + (uint64_t)l->args->poll_frequency_ns);
	read_again(l);
}

/* Without a watch the file is still polled. */
static void watch(struct local_file *l)
{
	path_watch_free(TAKE_PTR(l->watch));
	loop_timer_arm(l->timer, clock_mono_ns() + (uint64_t)l->args->poll_frequency_ns);
	if (strcmp(l->args->detector, "fsnotify") != 0)
		return;
	int r = path_watch_new(l->c->env->loop, l->args->filename, on_changed, l, &l->watch);
	if (r < 0)
		log_warn("cannot watch the file, it is polled", LOG_STR("component_id", l->c->id),
			 LOG_STR("path", l->args->filename), LOG_ERR(r));
}

static int local_file_accepts(struct component *c, const void *args, struct buf *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LOCAL_FILE_MAX_BYTES);

	(void)c;
	(void)buf_append_str(why, "failed to read file: ");
	return file_text_read(((const struct local_file_args *)args)->filename, &text, why);
}

static int local_file_build(struct component *c, const void *args, struct buf *why)
{
	struct local_file *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	c->state = l;
	l->c = c;
	l->args = args;
	buf_init(&l->content, LOCAL_FILE_MAX_BYTES);
	int r = loop_timer_new(c->env->loop, on_timer, l, &l->timer);
	return r == 0 ? read_content(l, l->args->filename, why) : r;
}

/* Between build and now it may have changed. */
static int local_file_run(struct component *c, struct buf *why)
{
	struct local_file *l = c->state;

	(void)why;
	l->running = true;
	watch(l);
	read_again(l);
	return 0;
}

static int local_file_update(struct component *c, const void *args, struct buf *why)
{
	struct local_file *l = c->state;
	const struct local_file_args *next = args;
	int r = read_content(l, next->filename, why);

	if (r < 0)
		return r;
	l->args = next;
	component_exports_changed(c);
	if (l->running) {
		watch(l);
		read_again(l);
	}
	return 0;
}

static void local_file_stop(struct component *c)
{
	struct local_file *l = c->state;

	if (!l)
		return;
	path_watch_free(l->watch);
	loop_timer_free(l->timer);
	buf_fini(&l->content);
	free(l);
	c->state = NULL;
}

static int local_file_exports(struct component *c, struct river_arena *arena,
			      const struct river_value **ret_exports)
{
	const struct local_file *l = c->state;
	struct river_member member = {
		.key = "content",
		.value = river_value_optional_secret(arena, buf_str(&l->content), l->content.len,
						     l->args->is_secret),
	};

	*ret_exports = member.value ? river_value_object(arena, &member, 1) : NULL;
	return *ret_exports ? 0 : -ENOMEM;
}

const struct component_kind local_file_kind = {
	.name = "local.file",
	.schema = &local_file_schema,
	.wants_label = true,
	.build = local_file_build,
	.accepts = local_file_accepts,
	.run = local_file_run,
	.update = local_file_update,
	.stop = local_file_stop,
	.exports = local_file_exports,
};
