/* SPDX-License-Identifier: Apache-2.0 */
/* The YAML of an older profiler. */
#include "agent/cli/old_yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/duration.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* Two levels of settings are all there are; aliases could make each of more lead to four below it. */
#define MAX_SETTINGS_DEPTH 4
/* What pyroscope.ebpf takes. */
#define MAX_RATE_HZ 10000

struct reader {
	struct old_yaml *y;
	struct old_notes *notes;
};

void old_note(struct old_notes *notes, bool is_error, const yaml_mark_t *at, const char *fmt, ...)
{
	va_list ap;

	(void)buf_printf(notes->out, "%s: %s:", is_error ? "Error" : "Warning", notes->file);
	if (at)
		(void)buf_printf(notes->out, "%zu:%zu:", at->line + 1, at->column + 1);
	(void)buf_append_char(notes->out, ' ');
	va_start(ap, fmt);
	(void)buf_vprintf(notes->out, fmt, ap);
	va_end(ap);
	(void)buf_append_char(notes->out, '\n');
	notes->n_errors += is_error;
}

static yaml_node_t *node(const struct reader *r, int id)
{
	return yaml_document_get_node(&r->y->document, id);
}

static const char *scalar(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* The value of a key, whatever its case; NULL: none, or no mapping. */
static yaml_node_t *get(const struct reader *r, const yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const char *name = scalar(node(r, p->key));

		if (name && strcasecmp(name, key) == 0)
			return node(r, p->value);
	}
	return NULL;
}

static const char *get_text(const struct reader *r, const yaml_node_t *map, const char *key)
{
	return scalar(get(r, map, key));
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

/* null, as YAML spells it: a key that was left without a value. */
static bool is_null(const yaml_node_t *n)
{
	static const char *const words[] = { "", "~", "null" };
	const char *text = scalar(n);

	return !n || (text && n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		      is_word(text, words, ARRAY_SIZE(words)));
}

static void read_rate(struct reader *r, const yaml_node_t *n)
{
	const char *text = scalar(n);

	if (!text || str_parse_u64(str_from(text), 10, MAX_RATE_HZ, &r->y->sample_rate_hz) < 0 ||
	    r->y->sample_rate_hz == 0) {
		r->y->sample_rate_hz = 0;
		old_note(r->notes, true, &n->start_mark,
			 "sample_rate must be a number from 1 to %d", MAX_RATE_HZ);
	}
}

static void read_interval(struct reader *r, const yaml_node_t *n)
{
	const char *text = scalar(n);

	if (!text || duration_parse(str_from(text), &r->y->interval_ns) < 0 ||
	    r->y->interval_ns == 0) {
		r->y->interval_ns = 0;
		old_note(r->notes, true, &n->start_mark,
			 "gather_interval must be a number of seconds, or a duration such as 5s");
	}
}

static void read_match(struct reader *r, const yaml_node_t *map, struct old_target *t)
{
	static const char *const names[OLD_MATCH_MAX] = {
		[OLD_MATCH_NONE] = "MatchTargetNone",
		[OLD_MATCH_COMM] = "MatchTargetComm",
		[OLD_MATCH_PGID] = "MatchTargetPgID",
		[OLD_MATCH_PIDNS] = "MatchTargetPidNS",
	};
	const yaml_node_t *n = get(r, map, "match");
	const char *text = scalar(n);

	if (!n)
		n = get(r, map, "type");
	text = scalar(n);
	for (int i = 0; text && i < OLD_MATCH_MAX; i++) {
		if (strcmp(text, names[i]) != 0 &&
		    strcmp(text, names[i] + strlen("MatchTarget")) != 0)
			continue;
		t->match = (enum old_match)i;
		return;
	}
	old_note(r->notes, true, n ? &n->start_mark : &map->start_mark,
		 n ? "match must be one of MatchTargetComm, MatchTargetPgID, MatchTargetPidNS, "
		     "MatchTargetNone"
		   : "the target has no match");
}

static int add_label(struct reader *r, struct old_target *t, const char *name, const char *value,
		     const yaml_mark_t *at)
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
static int read_labels(struct reader *r, const yaml_node_t *n, struct old_target *t)
{
	int result = 0;

	if (n->type == YAML_MAPPING_NODE)
		for (yaml_node_pair_t *p = n->data.mapping.pairs.start;
		     result == 0 && p < n->data.mapping.pairs.top; p++)
			result = add_label(r, t, scalar(node(r, p->key)), scalar(node(r, p->value)),
					   &node(r, p->key)->start_mark);
	else if (n->type == YAML_SEQUENCE_NODE)
		for (yaml_node_item_t *i = n->data.sequence.items.start;
		     result == 0 && i < n->data.sequence.items.top; i++)
			result = add_label(r, t, get_text(r, node(r, *i), "l_name"),
					   get_text(r, node(r, *i), "l_val"),
					   &node(r, *i)->start_mark);
	else
		old_note(r->notes, true, &n->start_mark, "labels must be a list");
	return result;
}

static int read_target(struct reader *r, const yaml_node_t *map, struct old_target *t)
{
	const yaml_node_t *labels = get(r, map, "labels");

	*t = (struct old_target){ .at = map->start_mark, .name = get_text(r, map, "name") };
	read_match(r, map, t);
	t->value = get_text(r, map, get(r, map, "val") ? "val" : "value");
	if (!t->name || !*t->name)
		old_note(r->notes, true, &map->start_mark, "the target has no name");
	if (t->match != OLD_MATCH_NONE && (!t->value || !*t->value))
		old_note(r->notes, true, &map->start_mark, "the target has no val");
	return is_null(labels) ? 0 : read_labels(r, labels, t);
}

static int read_targets(struct reader *r, const yaml_node_t *list)
{
	size_t n;

	if (list->type != YAML_SEQUENCE_NODE) {
		old_note(r->notes, true, &list->start_mark, "targets must be a list");
		return 0;
	}
	n = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
	if (n > OLD_YAML_MAX_ITEMS) {
		old_note(r->notes, true, &list->start_mark, "there are more than %d targets",
			 OLD_YAML_MAX_ITEMS);
		return 0;
	}
	r->y->targets = calloc(n + 1, sizeof(*r->y->targets));
	if (!r->y->targets)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = node(r, list->data.sequence.items.start[i]);
		int result = read_target(r, item, &r->y->targets[r->y->n_targets++]);

		if (result < 0)
			return result;
	}
	return 0;
}

/* 1 is the whole host, as here. */
static void read_filter(struct reader *r, const yaml_node_t *map)
{
	const yaml_node_t *scope = get(r, map, "filter_scope_type");
	const char *text = scalar(scope);

	if (text && strcmp(text, "1") != 0 && strcmp(text, "0") != 0)
		old_note(r->notes, false, &scope->start_mark,
			 "filter_scope_type %s is left out: every process is sampled, and targets "
			 "say what is profiled",
			 text);
}

static int read_settings(struct reader *r, const yaml_node_t *map, int depth)
{
	static const char *const nested[] = { "args", "private", "profile", "ebpf_prog" };
	const yaml_node_t *rate = get(r, map, "sample_rate");
	const yaml_node_t *interval = get(r, map, "gather_interval");
	const yaml_node_t *targets = get(r, map, "targets");
	const char *url = get_text(r, map, "pyroscope_server_addr");
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
		const yaml_node_t *inner = get(r, map, nested[i]);

		if (inner && depth < MAX_SETTINGS_DEPTH)
			result = read_settings(r, inner, depth + 1);
	}
	return result;
}

static bool is_profile(const struct reader *r, const yaml_node_t *program)
{
	const char *name = get_text(r, program, "name");

	return name ? strcasecmp(name, "profile") == 0 : get(r, program, "profile") != NULL;
}

static int read_programs(struct reader *r, const yaml_node_t *list)
{
	const yaml_node_t *found = NULL;

	for (yaml_node_item_t *i = list->data.sequence.items.start;
	     i < list->data.sequence.items.top; i++) {
		const yaml_node_t *program = node(r, *i);
		const char *name = get_text(r, program, "name");

		if (is_off(get_text(r, program, "enabled")))
			continue;
		if (!is_profile(r, program))
			old_note(r->notes, false, &program->start_mark,
				 "program \"%s\" is left out: CPU profiles are all that is made "
				 "here",
				 name ? name : "");
		else if (found)
			old_note(r->notes, true, &program->start_mark,
				 "there is more than one program \"profile\"");
		else
			found = program;
	}
	if (!found)
		old_note(r->notes, true, &list->start_mark,
			 "there is no enabled program \"profile\" in ebpf.programs");
	return found ? read_settings(r, found, 0) : 0;
}

static int read_root(struct reader *r, const yaml_node_t *root)
{
	const yaml_node_t *programs = get(r, get(r, root, "ebpf"), "programs");
	const char *url = get_text(r, get(r, root, "net"), "pyroscope");

	if (url && *url)
		r->y->url = url;
	if (programs && programs->type == YAML_SEQUENCE_NODE)
		return read_programs(r, programs);
	old_note(r->notes, true,
		 programs ? &programs->start_mark
		 : root	  ? &root->start_mark
			  : NULL,
		 "ebpf.programs must be a list of programs");
	return 0;
}

static void note_parser(const yaml_parser_t *parser, struct old_notes *notes)
{
	old_note(notes, true, &parser->problem_mark, "%s%s%s",
		 parser->context ? parser->context : "", parser->context ? ": " : "",
		 parser->problem ? parser->problem : "this is no YAML");
}

static int load(const char *text, size_t n, struct old_notes *notes, struct old_yaml *y)
{
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
	y->has_document = yaml_parser_load(&parser, &y->document);
	bool no_memory = parser.error == YAML_MEMORY_ERROR;
	if (!y->has_document && !no_memory)
		note_parser(&parser, notes);
	yaml_parser_delete(&parser);
	return y->has_document ? 0 : no_memory ? -ENOMEM : -EINVAL;
}

int old_yaml_read(const char *text, size_t n, struct old_notes *notes, struct old_yaml *ret_yaml)
{
	struct old_yaml y = { 0 };
	struct reader reader = { &y, notes };
	int r = load(text, n, notes, &y);

	if (r == 0)
		r = read_root(&reader, yaml_document_get_root_node(&y.document));
	if (r == 0 && notes->n_errors > 0)
		r = -EINVAL;
	if (r < 0) {
		old_yaml_fini(&y);
		return r;
	}
	*ret_yaml = y;
	return 0;
}

void old_yaml_fini(struct old_yaml *y)
{
	for (size_t i = 0; i < y->n_targets; i++)
		free(y->targets[i].labels);
	free(y->targets);
	if (y->has_document)
		yaml_document_delete(&y->document);
	*y = (struct old_yaml){ 0 };
}
