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

/* Behind those of the trees before it. */
static void put_frames(const struct call_tree *tree, bool is_first, struct buf *out)
{
	for (uint32_t i = 0; i < call_tree_n_names(tree); i++) {
		(void)buf_append_str(out, i || !is_first ? ",\n{\"name\":" : "\n{\"name\":");
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

static void put_stack(const struct path *p, size_t n, size_t first_frame, struct buf *out)
{
	(void)buf_append_char(out, '[');
	for (size_t i = 0; i < n; i++)
		(void)buf_printf(out, "%s%zu", i ? "," : "", first_frame + p->names[i]);
	(void)buf_append_char(out, ']');
}

static int put_samples(const struct call_tree *tree, size_t first_frame, struct buf *out)
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
		put_stack(&p, w.depth, first_frame, out);
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

/* That of the file is in the window's title. */
static void put_head(const struct speedscope_part *parts, size_t n, struct buf *out)
{
	_cleanup_buf_ struct buf title = BUF_INIT(TEXT_MAX_BYTES);

	if (n == 1)
		flame_facts_title(parts[0].facts, &title);
	else
		(void)buf_printf(&title, "Profiles of %s", parts[0].facts->subject);
	(void)buf_append_str(out, "{\"$schema\":\"" SCHEMA "\",\n\"exporter\":");
	(void)json_put_text(out, str_from(parts[0].facts->exporter));
	(void)buf_append_str(out, ",\n\"name\":");
	(void)json_put_text(out, (struct str){ buf_str(&title), title.len });
	(void)buf_append_str(out, ",\n\"activeProfileIndex\":0,\n\"profiles\":[");
}

/* One of those that the viewer knows. */
static const char *unit_of(enum event event)
{
	const char *unit = event_type(event)->values[0].unit;

	return strcmp(unit, "count") == 0 ? "none" : unit;
}

/* The viewer shows the name of the profile on top. */
static int put_profile(const struct speedscope_part *part, size_t first_frame, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(TEXT_MAX_BYTES);
	enum event event = part->facts->event.event;
	int64_t period = event == EVENT_CPU ? (int64_t)(NS_PER_S / part->facts->hz) : 1;
	int64_t all = call_tree_node(part->tree, CALL_ROOT)->total[CALL_LEFT];

	flame_facts_line(part->facts, &line);
	(void)buf_append_str(out, "{\"type\":\"sampled\",\"name\":");
	(void)json_put_text(out, (struct str){ buf_str(&line), line.len });
	(void)buf_printf(
		out, ",\n\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRId64 ",\n\"samples\":[",
		unit_of(event), all * period);
	int r = put_samples(part->tree, first_frame, out);
	(void)buf_append_str(out, "],\n\"weights\":[");
	put_weights(part->tree, period, out);
	(void)buf_append_str(out, "]}");
	return r;
}

int speedscope_json(const struct speedscope_part *parts, size_t n, struct buf *out)
{
	size_t first_frame = 0;
	int r = 0;

	put_head(parts, n, out);
	for (size_t i = 0; r == 0 && i < n; i++) {
		(void)buf_append_str(out, i ? ",\n" : "");
		r = put_profile(&parts[i], first_frame, out);
		first_frame += call_tree_n_names(parts[i].tree);
	}
	(void)buf_append_str(out, "],\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < n; i++)
		put_frames(parts[i].tree, i == 0, out);
	(void)buf_append_str(out, "]}}\n");
	return out->failed ? -ENOBUFS : r;
}
