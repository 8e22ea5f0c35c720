/* SPDX-License-Identifier: Apache-2.0 */
/* A profile for speedscope. */
#include "agent/draw/speedscope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/draw/flame_walk.h"
#include "agent/store/connect/json_text.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define TEXT_MAX_BYTES 16384

/* Frames from the outermost to where the walk is. */
struct path {
	uint32_t *names; /* owned */
	size_t cap;
};

static void put_frames(const struct call_tree *tree, struct buf *out)
{
	for (uint32_t i = 0; i < call_tree_n_names(tree); i++) {
		(void)buf_append_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		(void)json_put_text(out, str_from(call_tree_text(tree, i)));
		(void)buf_append_char(out, '}');
	}
}

/* The root is no frame: depth 1 is the first. */
static int path_set(struct path *p, const struct flame_walk *w)
{
	if (w->depth > p->cap) {
		size_t cap = MAX_OF(2 * p->cap, 64U);
		uint32_t *names = reallocarray(p->names, cap, sizeof(*names));

		if (!names)
			return -ENOMEM;
		p->names = names;
		p->cap = cap;
	}
	if (w->depth > 0)
		p->names[w->depth - 1] = flame_walk_node(w)->name;
	return 0;
}

static void put_stack(const struct path *p, size_t n, struct buf *out)
{
	(void)buf_append_char(out, '[');
	for (size_t i = 0; i < n; i++)
		(void)buf_printf(out, "%s%" PRIu32, i ? "," : "", p->names[i]);
	(void)buf_append_char(out, ']');
}

static int put_samples(const struct call_tree *tree, struct buf *out)
{
	struct flame_walk w = FLAME_WALK_INIT(tree);
	struct path p = { 0 };
	const char *between = "\n";
	int r;

	do {
		r = path_set(&p, &w);
		if (r < 0 || flame_walk_node(&w)->self[CALL_LEFT] <= 0)
			continue;
		(void)buf_append_str(out, between);
		put_stack(&p, w.depth, out);
		between = ",\n";
	} while (r == 0 && flame_walk_next(&w, true));
	free(p.names);
	return r;
}

static void put_weights(const struct call_tree *tree, int64_t period, struct buf *out)
{
	struct flame_walk w = FLAME_WALK_INIT(tree);
	const char *between = "";

	do {
		int64_t self = flame_walk_node(&w)->self[CALL_LEFT];

		if (self <= 0)
			continue;
		(void)buf_printf(out, "%s%" PRId64, between, self * period);
		between = ",";
	} while (flame_walk_next(&w, true));
}

/* The viewer shows the name of the profile on top, that of the file in the window's title. */
static void put_names(const struct flame_facts *facts, struct buf *out)
{
	_cleanup_buf_ struct buf title = BUF_INIT(TEXT_MAX_BYTES);
	_cleanup_buf_ struct buf line = BUF_INIT(TEXT_MAX_BYTES);

	flame_facts_title(facts, &title);
	flame_facts_line(facts, &line);
	(void)buf_append_str(out, "{\"$schema\":\"" SCHEMA "\",\n\"exporter\":");
	(void)json_put_text(out, str_from(facts->exporter));
	(void)buf_append_str(out, ",\n\"name\":");
	(void)json_put_text(out, (struct str){ buf_str(&title), title.len });
	(void)buf_append_str(out, ",\n\"activeProfileIndex\":0,\n"
				  "\"profiles\":[{\"type\":\"sampled\",\"name\":");
	(void)json_put_text(out, (struct str){ buf_str(&line), line.len });
}

/* One of those that the viewer knows. */
static const char *unit_of(enum event event)
{
	const char *unit = event_type(event)->values[0].unit;

	return strcmp(unit, "count") == 0 ? "none" : unit;
}

int speedscope_json(const struct call_tree *tree, const struct flame_facts *facts, struct buf *out)
{
	bool is_time = facts->event.event == EVENT_CPU;
	int64_t period = is_time ? (int64_t)(NS_PER_S / facts->hz) : 1;
	int64_t all = call_tree_node(tree, CALL_ROOT)->total[CALL_LEFT];

	put_names(facts, out);
	(void)buf_printf(
		out, ",\n\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRId64 ",\n\"samples\":[",
		unit_of(facts->event.event), all * period);
	int r = put_samples(tree, out);
	(void)buf_append_str(out, "],\n\"weights\":[");
	put_weights(tree, period, out);
	(void)buf_append_str(out, "]}],\n\"shared\":{\"frames\":[");
	put_frames(tree, out);
	(void)buf_append_str(out, "]}}\n");
	return out->failed ? -ENOBUFS : r;
}
