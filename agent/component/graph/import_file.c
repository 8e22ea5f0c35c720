/* SPDX-License-Identifier: Apache-2.0 */
/* import.file: arguments, and the watch over its file while it runs. */
#include "agent/component/graph/import_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/file/path_watch.h"
#include "agent/component/graph/graph_private.h"
#include "agent/component/graph/module_kinds.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"

/* While it runs. */
struct import_file {
	struct component *c;
	struct path_watch *watch;
	struct loop_timer *timer;
};

static const char *validate_detector(const void *field, struct river_arena *arena)
{
	const char *detector = *(const char *const *)field;

	(void)arena;
	return strcmp(detector, "fsnotify") == 0 || strcmp(detector, "poll") == 0
		       ? NULL
		       : "detector must be one of fsnotify, poll";
}

static const char *validate_frequency(const void *field, struct river_arena *arena)
{
	(void)arena;
	return *(const int64_t *)field > 0 ? NULL : "poll_frequency must be greater than 0";
}

static const struct river_field import_file_fields[] = {
	RIVER_FIELD_STRING(struct import_file_args, filename, "filename", .flags = RIVER_REQUIRED),
	RIVER_FIELD_STRING(struct import_file_args, detector, "detector", .def = "fsnotify",
			   .validate = validate_detector),
	RIVER_FIELD_DURATION(struct import_file_args, poll_frequency_ns, "poll_frequency",
			     .def = "1m", .validate = validate_frequency),
};

static const struct river_schema import_file_schema =
	RIVER_SCHEMA(struct import_file_args, "import.file", import_file_fields);

static void complain(struct component *c, const struct buf *why, int error)
{
	bool known = c->reported.state == HEALTH_UNHEALTHY;

	component_set_health(c, HEALTH_UNHEALTHY, why->len ? buf_str(why) : strerror(-error));
	if (!known)
		log_error("cannot read imported file", LOG_STR("component_id", c->id),
			  LOG_STR("err", c->reported.message));
}

static void read_again(struct component *c)
{
	struct node *node = CONTAINER_OF(c, struct node, c);
	_cleanup_buf_ struct buf why = BUF_INIT(COMPONENT_MESSAGE_MAX);
	struct import_texts texts;
	struct river_arena arena;

	/* Gone, and only kept for others. */
	if (!list_empty(&node->held))
		return;
	river_arena_init(&arena, GRAPH_MAX_ARENA_BYTES);
	int r = import_read(c->kind, node->args, &arena, &why, &texts);
	if (r < 0)
		complain(c, &why, r);
	else
		component_set_health(c, HEALTH_HEALTHY, "imported");
	if (r == 0 && texts.hash != node->source.modules->content_hash)
		graph_outgrow(c->graph, node);
	river_arena_fini(&arena);
}

static void on_change(void *data)
{
	struct import_file *f = data;

	read_again(f->c);
}

static void wait_for_poll(struct import_file *f)
{
	const struct import_file_args *args = CONTAINER_OF(f->c, struct node, c)->args;

	loop_timer_arm(f->timer, clock_mono_ns() + (uint64_t)args->poll_frequency_ns);
}

/* With fsnotify too: for what inotify does not see. */
static void on_timer(void *data)
{
	struct import_file *f = data;

	wait_for_poll(f);
	read_again(f->c);
}

/* Without a watch the file is still polled. */
static void watch(struct import_file *f, const struct import_file_args *args)
{
	path_watch_free(TAKE_PTR(f->watch));
	loop_timer_arm(f->timer, clock_mono_ns() + (uint64_t)args->poll_frequency_ns);
	if (strcmp(args->detector, "fsnotify") != 0)
		return;
	int r = path_watch_new(f->c->env->loop, args->filename, on_change, f, &f->watch);
	if (r < 0)
		log_warn("cannot watch the file, it is polled", LOG_STR("component_id", f->c->id),
			 LOG_STR("path", args->filename), LOG_ERR(r));
}

static void import_file_stop(struct component *c)
{
	struct import_file *f = c->state;

	if (!f)
		return;
	path_watch_free(f->watch);
	loop_timer_free(f->timer);
	free(f);
	c->state = NULL;
}

/* Between the load and now it may have changed. */
static int import_file_run(struct component *c, struct buf *why)
{
	struct import_file *f = calloc(1, sizeof(*f));

	(void)why;
	if (!f)
		return -ENOMEM;
	f->c = c;
	c->state = f;
	int r = loop_timer_new(c->env->loop, on_timer, f, &f->timer);
	if (r < 0) {
		import_file_stop(c);
		return r;
	}
	watch(f, CONTAINER_OF(c, struct node, c)->args);
	read_again(c);
	return 0;
}

static int import_file_update(struct component *c, const void *args, struct buf *why)
{
	(void)why;
	if (c->state)
		watch(c->state, args);
	return 0;
}

const struct component_kind import_file_kind = {
	.name = "import.file",
	.schema = &import_file_schema,
	.wants_label = true,
	.build = idle_build,
	.run = import_file_run,
	.update = import_file_update,
	.stop = import_file_stop,
};
