/* SPDX-License-Identifier: Apache-2.0 */
/* The YAML of an older profiler. */
#include "agent/cli/config/old_yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/duration.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Two levels of settings are all there are; aliases could make each of more lead to four below it. */
#define MAX_SETTINGS_DEPTH 4
/* More nodes than a person writes, some hundred bytes each. */
#define NODES_MAX 100000
#define ARENA_BYTES ((size_t)64 << 20)
/* What pyroscope.ebpf takes. */
#define MAX_RATE_HZ 10000

struct reader {
	struct old_yaml *y;
	struct old_notes *notes;
};

void old_note(struct old_notes *notes, bool is_error, const struct river_yaml_node *at,
	      const char *fmt, ...)
{
	va_list ap;

	(void)buf_printf(notes->out, "%s: %s:", is_error ? "Error" : "Warning", notes->file);
	if (at)
		(void)buf_printf(notes->out, "%u:%u:", at->line, at->column);
	(void)buf_append_char(notes->out, ' ');
	va_start(ap, fmt);
	(void)buf_vprintf(notes->out, fmt, ap);
	va_end(ap);
	(void)buf_append_char(notes->out, '\n');
	notes->n_errors += is_error;
}

/* The value of a key, whatever its case; NULL: none, or no mapping. */
static const struct river_yaml_node *get(const struct river_yaml_node *map, const char *key)
{
	return river_yaml_get(map, key, strcasecmp);
}

static const char *get_text(const struct river_yaml_node *map, const char *key)
{
	return river_yaml_text(get(map, key));
}

static bool is_word(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; text && i < n; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

static bool is_off(const char *text)
{
	static const char *const words[] = { "false", "no", "off" };

	return is_word(text, words, ARRAY_SIZE(words));
}

/* Or a key that was left without a value. */
static bool is_null(const struct river_yaml_node *n)
{
	return !n || river_yaml_is_null(n);
}

static void read_rate(struct reader *r, const struct river_yaml_node *n)
{
	const char *text = river_yaml_text(n);

	if (!text || str_parse_u64(str_from(text), 10, MAX_RATE_HZ, &r->y->sample_rate_hz) < 0 ||
	    r->y->sample_rate_hz == 0) {
		r->y->sample_rate_hz = 0;
		old_note(r->notes, true, n, "sample_rate must be a number from 1 to %d",
			 MAX_RATE_HZ);
	}
}

static void read_interval(struct reader *r, const struct river_yaml_node *n)
{
	const char *text = river_yaml_text(n);

	if (!text || duration_parse(str_from(text), &r->y->interval_ns) < 0 ||
	    r->y->interval_ns == 0) {
		r->y->interval_ns = 0;
		old_note(r->notes, true, n,
			 "gather_interval must be a number of seconds, or a duration such as 5s");
	}
}

static void read_match(struct reader *r, const struct river_yaml_node *map, struct old_target *t)
{
	static const char *const names[OLD_MATCH_MAX] = {
		[OLD_MATCH_NONE] = "MatchTargetNone",
		[OLD_MATCH_COMM] = "MatchTargetComm",
		[OLD_MATCH_PGID] = "MatchTargetPgID",
		[OLD_MATCH_PIDNS] = "MatchTargetPidNS",
	};
	const struct river_yaml_node *n = get(map, "match");
	const char *text = river_yaml_text(n);

	if (!n)
		n = get(map, "type");
	text = river_yaml_text(n);
	for (int i = 0; text && i < OLD_MATCH_MAX; i++) {
		if (strcmp(text, names[i]) != 0 &&
		    strcmp(text, names[i] + strlen("MatchTarget")) != 0)
			continue;
		t->match = (enum old_match)i;
		return;
	}
	old_note(r->notes, true, n ? n : map,
		 n ? "match must be one of MatchTargetComm, MatchTargetPgID, MatchTargetPidNS, "
		     "MatchTargetNone"
		   : "the target has no match");
}

static int add_label(struct reader *r, struct old_target *t, const char *name, const char *value,
		     const struct river_yaml_node *at)
{
	struct old_label *labels;

	if (!name || !value || t->n_labels >= OLD_YAML_MAX_ITEMS) {
		old_note(r->notes, true, at, "a label is a l_name and a l_val");
		return 0;
	}
	labels = reallocarray(t->labels, t->n_labels + 1, sizeof(*labels));
	if (!labels)
		return -ENOMEM;
	t->labels = labels;
	labels[t->n_labels++] = (struct old_label){ name, value };
	return 0;
}

/* A list of { l_name, l_val }, or simply a mapping. */
static int read_labels(struct reader *r, const struct river_yaml_node *n, struct old_target *t)
{
	int result = 0;

	if (n->kind == RIVER_YAML_MAPPING)
		for (size_t i = 0; result == 0 && i < n->n_items; i += 2)
			result = add_label(r, t, river_yaml_text(n->items[i]),
					   river_yaml_text(n->items[i + 1]), n->items[i]);
	else if (n->kind == RIVER_YAML_SEQUENCE)
		for (size_t i = 0; result == 0 && i < n->n_items; i++)
			result = add_label(r, t, get_text(river_yaml_item(n, i), "l_name"),
					   get_text(river_yaml_item(n, i), "l_val"), n->items[i]);
	else
		old_note(r->notes, true, n, "labels must be a list");
	return result;
}

static int read_target(struct reader *r, const struct river_yaml_node *map, struct old_target *t)
{
	const struct river_yaml_node *labels = get(map, "labels");

	*t = (struct old_target){ .at = map, .name = get_text(map, "name") };
	read_match(r, map, t);
	t->value = get_text(map, get(map, "val") ? "val" : "value");
	if (!t->name || !*t->name)
		old_note(r->notes, true, map, "the target has no name");
	if (t->match != OLD_MATCH_NONE && (!t->value || !*t->value))
		old_note(r->notes, true, map, "the target has no val");
	return is_null(labels) ? 0 : read_labels(r, labels, t);
}

static int read_targets(struct reader *r, const struct river_yaml_node *list)
{
	size_t n;

	if (list->kind != RIVER_YAML_SEQUENCE) {
		old_note(r->notes, true, list, "targets must be a list");
		return 0;
	}
	n = list->n_items;
	if (n > OLD_YAML_MAX_ITEMS) {
		old_note(r->notes, true, list, "there are more than %d targets",
			 OLD_YAML_MAX_ITEMS);
		return 0;
	}
	r->y->targets = calloc(n + 1, sizeof(*r->y->targets));
	if (!r->y->targets)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct river_yaml_node *item = river_yaml_item(list, i);
		int result = read_target(r, item, &r->y->targets[r->y->n_targets++]);

		if (result < 0)
			return result;
	}
	return 0;
}

/* 1 is the whole host, as here. */
static void read_filter(struct reader *r, const struct river_yaml_node *map)
{
	const struct river_yaml_node *scope = get(map, "filter_scope_type");
	const char *text = river_yaml_text(scope);

	if (text && strcmp(text, "1") != 0 && strcmp(text, "0") != 0)
		old_note(r->notes, false, scope,
			 "filter_scope_type %s is left out: every process is sampled, and targets "
			 "say what is profiled",
			 text);
}

static int read_settings(struct reader *r, const struct river_yaml_node *map, int depth)
{
	static const char *const nested[] = { "args", "private", "profile", "ebpf_prog" };
	const struct river_yaml_node *rate = get(map, "sample_rate");
	const struct river_yaml_node *interval = get(map, "gather_interval");
	const struct river_yaml_node *targets = get(map, "targets");
	const char *url = get_text(map, "pyroscope_server_addr");
	int result = 0;

	if (!is_null(rate))
		read_rate(r, rate);
	if (!is_null(interval))
		read_interval(r, interval);
	if (url && *url)
		r->y->url = url;
	read_filter(r, map);
	if (!is_null(targets) && !r->y->targets)
		result = read_targets(r, targets);
	for (size_t i = 0; result == 0 && i < ARRAY_SIZE(nested); i++) {
		const struct river_yaml_node *inner = get(map, nested[i]);

		if (inner && depth < MAX_SETTINGS_DEPTH)
			result = read_settings(r, inner, depth + 1);
	}
	return result;
}

static bool is_profile(const struct river_yaml_node *program)
{
	const char *name = get_text(program, "name");

	return name ? strcasecmp(name, "profile") == 0 : get(program, "profile") != NULL;
}

static int read_programs(struct reader *r, const struct river_yaml_node *list)
{
	const struct river_yaml_node *found = NULL;

	for (size_t i = 0; i < list->n_items; i++) {
		const struct river_yaml_node *program = river_yaml_item(list, i);
		const char *name = get_text(program, "name");

		if (is_off(get_text(program, "enabled")))
			continue;
		if (!is_profile(program))
			old_note(r->notes, false, program,
				 "program \"%s\" is left out: CPU profiles are all that is made "
				 "here",
				 name ? name : "");
		else if (found)
			old_note(r->notes, true, program,
				 "there is more than one program \"profile\"");
		else
			found = program;
	}
	if (!found)
		old_note(r->notes, true, list,
			 "there is no enabled program \"profile\" in ebpf.programs");
	return found ? read_settings(r, found, 0) : 0;
}

static int read_root(struct reader *r, const struct river_yaml_node *root)
{
	const struct river_yaml_node *programs = get(get(root, "ebpf"), "programs");
	const char *url = get_text(get(root, "net"), "pyroscope");

	if (url && *url)
		r->y->url = url;
	if (programs && programs->kind == RIVER_YAML_SEQUENCE)
		return read_programs(r, programs);
	old_note(r->notes, true, programs ? programs : root,
		 "ebpf.programs must be a list of programs");
	return 0;
}

static int load(const char *text, size_t n, struct old_notes *notes, struct old_yaml *y,
		struct river_yaml_node **ret_root)
{
	struct river_yaml_problem problem;
	struct river_yaml_node at;
	int r = river_yaml_parse(text, n, NODES_MAX, &y->arena, ret_root, &problem);

	if (r != RIVER_INVALID)
		return r;
	at.line = (uint32_t)problem.line;
	at.column = (uint32_t)problem.column;
	old_note(notes, true, &at, "%s", problem.text);
	return -EINVAL;
}

int old_yaml_read(const char *text, size_t n, struct old_notes *notes, struct old_yaml *ret_yaml)
{
	_cleanup_(old_yaml_fini) struct old_yaml y = { 0 };
	struct reader reader = { &y, notes };
	struct river_yaml_node *root;
	int r;

	river_arena_init(&y.arena, ARENA_BYTES);
	r = load(text, n, notes, &y, &root);
	if (r < 0)
		return r;
	r = read_root(&reader, root);
	if (r < 0)
		return r;
	if (notes->n_errors > 0)
		return -EINVAL;
	*ret_yaml = y;
	y = (struct old_yaml){ 0 };
	return 0;
}

void old_yaml_fini(struct old_yaml *y)
{
	for (size_t i = 0; i < y->n_targets; i++)
		free(y->targets[i].labels);
	free(y->targets);
	river_arena_fini(&y->arena);
	*y = (struct old_yaml){ 0 };
}
