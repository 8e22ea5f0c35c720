/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text → rules (a line each: action, sources, regex, target, replacement, separator, modulus, with tabs between) and, behind an
 * empty line, labels (name=value): whatever comes in, what goes out is a label set, and a match lies in its text.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "agent/target/relabel.h"
#include "agent/util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RULES_MAX 16
#define SOURCES_MAX 8
#define ITEMS_MAX 64
/* Enough for the engine to show its ways, too few to be slow. */
#define STEPS ((uint64_t)2 * RELABEL_MATCH_STEPS)

struct input {
	struct relabel_config configs[RULES_MAX];
	const char *sources[RULES_MAX][SOURCES_MAX];
	size_t n_configs;
	struct label items[ITEMS_MAX];
	size_t n_items;
};

static const char *next_field(char **line, const char *otherwise)
{
	const char *field = *line ? strsep(line, "\t") : NULL;

	return field && *field ? field : otherwise;
}

static void read_sources(struct input *in, char *text)
{
	struct relabel_config *c = &in->configs[in->n_configs];

	c->source_labels = in->sources[in->n_configs];
	while (text && *text && c->n_source_labels < SOURCES_MAX)
		in->sources[in->n_configs][c->n_source_labels++] = strsep(&text, ",");
}

static void read_rule(struct input *in, char *line)
{
	struct relabel_config *c = &in->configs[in->n_configs];
	uint64_t modulus = 0;

	*c = RELABEL_CONFIG_INIT;
	if (!relabel_action_parse(next_field(&line, "replace"), &c->action))
		c->action = RELABEL_REPLACE;
	read_sources(in, line ? strsep(&line, "\t") : NULL);
	c->regex = next_field(&line, c->regex);
	c->target_label = next_field(&line, c->target_label);
	c->replacement = next_field(&line, c->replacement);
	c->separator = next_field(&line, c->separator);
	(void)str_parse_u64(str_from(next_field(&line, "8")), 10, UINT64_MAX, &modulus);
	c->modulus = modulus;
	in->n_configs++;
}

static void read_label(struct input *in, char *line)
{
	char *value = strchr(line, '=');

	if (value)
		*value++ = '\0';
	in->items[in->n_items++] = (struct label){ line, value ? value : "" };
}

static void read_input(struct input *in, char *text)
{
	char *line;

	memset(in, 0, sizeof(*in));
	while ((line = strsep(&text, "\n")) && *line && in->n_configs < RULES_MAX)
		read_rule(in, line);
	while ((line = strsep(&text, "\n")) && in->n_items < ITEMS_MAX)
		read_label(in, line);
}

static void check_regex(const char *regex, const char *text)
{
	_cleanup_(relabel_regex_freep) struct relabel_regex *re = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)1 << 20);
	struct relabel_pass pass = { .n_steps = STEPS };
	struct relabel_spans spans;
	int r = relabel_regex_new(regex, &why, &re);

	assert((r == RELABEL_WRONG) == (why.len > 0) && (r == 0) == !!re);
	if (!re || !relabel_regex_match(re, text, strlen(text), &pass, &spans))
		return;
	assert(spans.n >= 1 && spans.n <= relabel_regex_n_groups(re) + 1);
	for (size_t i = 0; i < 2 * spans.n; i++)
		assert(spans.offsets[i] == RELABEL_NO_OFFSET || spans.offsets[i] <= strlen(text));
}

static void check_rules(const struct input *in, struct labels *labels)
{
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = NULL;
	_cleanup_(labels_unrefp) struct labels *out = NULL, *again = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)1 << 20);
	struct relabel_pass pass = { .n_steps = STEPS }, same = { .n_steps = STEPS };

	if (relabel_rules_new(in->configs, in->n_configs, &why, &rules) != 0)
		return;
	if (relabel_rules_apply(rules, labels, &pass, &out) != RELABEL_KEPT)
		return;
	for (size_t i = 0; i < out->n; i++)
		assert(out->items[i].value[0] &&
		       (i == 0 || strcmp(out->items[i - 1].name, out->items[i].name) < 0));
	/* Nothing is left behind from one target to the next. */
	assert(relabel_rules_apply(rules, labels, &same, &again) == RELABEL_KEPT);
	assert(labels_equal(out, again) && same.n_given_up == pass.n_given_up);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	_cleanup_free_ char *text = malloc(size + 1);
	struct input in;

	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	read_input(&in, text);
	if (labels_new(in.items, in.n_items, &labels) < 0)
		return 0;
	for (size_t i = 0; i < in.n_configs; i++)
		check_regex(in.configs[i].regex, labels->n ? labels->items[0].value : "");
	check_rules(&in, labels);
	return 0;
}
