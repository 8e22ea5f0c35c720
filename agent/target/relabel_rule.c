/* SPDX-License-Identifier: Apache-2.0 */
/* Rules made ready, and the words they are written with. */
#include "agent/target/relabel_rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/util/label_name.h"

static const char *const actions[RELABEL_ACTION_MAX] = {
	[RELABEL_REPLACE] = "replace",	   [RELABEL_KEEP] = "keep",
	[RELABEL_DROP] = "drop",	   [RELABEL_HASHMOD] = "hashmod",
	[RELABEL_LABELMAP] = "labelmap",   [RELABEL_LABELDROP] = "labeldrop",
	[RELABEL_LABELKEEP] = "labelkeep", [RELABEL_LOWERCASE] = "lowercase",
	[RELABEL_UPPERCASE] = "uppercase", [RELABEL_KEEPEQUAL] = "keepequal",
	[RELABEL_DROPEQUAL] = "dropequal",
};

const char *relabel_action_text(enum relabel_action action)
{
	return actions[action];
}

bool relabel_action_parse(const char *text, enum relabel_action *ret_action)
{
	for (int i = 0; i < RELABEL_ACTION_MAX; i++)
		if (strcasecmp(text, actions[i]) == 0) {
			*ret_action = (enum relabel_action)i;
			return true;
		}
	return false;
}

/* Behind a dollar sign: a word, or one in braces; NULL when there is none. */
static const char *skip_reference(const char *s)
{
	bool braces = *s == '{';
	const char *from = s += braces;

	while (label_name_is_next(*s))
		s++;
	if (s == from || (braces && *s != '}'))
		return NULL;
	return s + braces;
}

bool relabel_is_name_template(const char *text)
{
	const char *s = text;

	while (s && *s) {
		if (*s == '$')
			s = skip_reference(s + 1);
		else if ((s > text ? label_name_is_next(*s) : label_name_is_first(*s)))
			s++;
		else
			return false;
	}
	return s && s > text;
}

static void rule_fini(struct relabel_rule *rule)
{
	for (size_t i = 0; i < rule->n_sources; i++)
		free(rule->sources[i]);
	free(rule->sources);
	free(rule->separator);
	relabel_regex_free(rule->regex);
	relabel_template_fini(&rule->target);
	relabel_template_fini(&rule->replacement);
}

static int copy_sources(struct relabel_rule *rule, const struct relabel_config *config)
{
	rule->sources = calloc(config->n_source_labels + 1, sizeof(*rule->sources));
	rule->separator = strdup(config->separator);
	if (!rule->sources || !rule->separator)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_source_labels; i++) {
		rule->sources[i] = strdup(config->source_labels[i]);
		if (!rule->sources[i])
			return -ENOMEM;
		rule->n_sources++;
	}
	return 0;
}

static int rule_init(struct relabel_rule *rule, const struct relabel_config *config,
		     struct buf *why)
{
	int r = copy_sources(rule, config);

	if (r < 0)
		return r;
	rule->action = config->action;
	rule->modulus = config->modulus;
	r = relabel_template_init(&rule->target, config->target_label);
	if (r < 0)
		return r;
	r = relabel_template_init(&rule->replacement, config->replacement);
	if (r < 0)
		return r;
	return relabel_regex_new(config->regex, why, &rule->regex);
}

int relabel_rules_new(const struct relabel_config *configs, size_t n, struct buf *why,
		      struct relabel_rules **ret_rules)
{
	_cleanup_(relabel_rules_freep) struct relabel_rules *rules = calloc(1, sizeof(*rules));

	if (n > RELABEL_RULES_MAX)
		return -E2BIG;
	if (!rules)
		return -ENOMEM;
	rules->items = calloc(n + 1, sizeof(*rules->items));
	if (!rules->items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		/* Counted first: a rule that is half-made is freed like any other. */
		int r = rule_init(&rules->items[rules->n++], &configs[i], why);

		if (r != 0)
			return r;
	}
	buf_init(&rules->source, RELABEL_VALUE_MAX);
	buf_init(&rules->name, RELABEL_VALUE_MAX);
	buf_init(&rules->value, RELABEL_VALUE_MAX);
	*ret_rules = TAKE_PTR(rules);
	return 0;
}

void relabel_rules_free(struct relabel_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n; i++)
		rule_fini(&rules->items[i]);
	free(rules->items);
	buf_fini(&rules->source);
	buf_fini(&rules->name);
	buf_fini(&rules->value);
	free(rules);
}
