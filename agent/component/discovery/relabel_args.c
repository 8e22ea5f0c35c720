/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a relabel rule.
 *
 * An action or a regex that is none is an error of its value; what does not fit together is one of the block, in the order of
 * `checks`, the first alone.
 */
#include "agent/component/discovery/relabel_args.h"

#include <errno.h>
#include <string.h>

#include "agent/component/args_equal.h"
#include "agent/util/label_name.h"
#include "agent/util/macro.h"

#define DEFAULT_SEPARATOR ";"
#define DEFAULT_REGEX "(.*)"
#define DEFAULT_REPLACEMENT "$1"
/* Texts of a configuration, quoted: a byte becomes four at most. */
#define MESSAGE_MAX ((size_t)4 << 20)

#define NO_MEMORY "not enough memory"

static const char *take_message(struct buf *message, struct river_arena *arena)
{
	const char *copy = river_arena_strndup(arena, buf_str(message), message->len);

	return copy ? copy : NO_MEMORY;
}

static void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static void append_quoted(struct buf *out, const char *text, struct river_arena *arena)
{
	const struct river_value *v = river_value_string(arena, text, strlen(text));

	if (v)
		(void)river_value_write(v, RIVER_LAYOUT_LINE, arena, write_buf, out);
}

static const char *check_action(const char *text, struct river_arena *arena)
{
	_cleanup_buf_ struct buf message = BUF_INIT(MESSAGE_MAX);
	enum relabel_action action;

	if (relabel_action_parse(text, &action))
		return NULL;
	(void)buf_append_str(&message, "unrecognized action type ");
	append_quoted(&message, text, arena);
	return take_message(&message, arena);
}

static const char *check_regex(const char *text, struct river_arena *arena)
{
	_cleanup_(relabel_regex_freep) struct relabel_regex *regex = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX);
	int r = relabel_regex_new(text, &why, &regex);

	if (r < 0)
		return NO_MEMORY;
	return r == 0 ? NULL : take_message(&why, arena);
}

#define BIT(action) (1u << (action))
#define KEEP_DROP_EQUAL (BIT(RELABEL_KEEPEQUAL) | BIT(RELABEL_DROPEQUAL))
#define CASES (BIT(RELABEL_LOWERCASE) | BIT(RELABEL_UPPERCASE))
#define NAMES (BIT(RELABEL_LABELDROP) | BIT(RELABEL_LABELKEEP))
#define ANY (BIT(RELABEL_ACTION_MAX) - 1)

typedef bool (*relabel_check_fn)(const struct relabel_rule_args *args);

static bool has_modulus(const struct relabel_rule_args *args)
{
	return args->modulus != 0;
}

static bool has_target(const struct relabel_rule_args *args)
{
	return *args->target_label;
}

static bool target_is_template(const struct relabel_rule_args *args)
{
	return relabel_is_name_template(args->target_label);
}

static bool target_is_name(const struct relabel_rule_args *args)
{
	return label_name_is_valid(args->target_label);
}

static bool replacement_is_default(const struct relabel_rule_args *args)
{
	return strcmp(args->replacement, DEFAULT_REPLACEMENT) == 0;
}

static bool replacement_is_template(const struct relabel_rule_args *args)
{
	return relabel_is_name_template(args->replacement);
}

static bool separator_and_modulus_are_default(const struct relabel_rule_args *args)
{
	return !has_modulus(args) && strcmp(args->separator, DEFAULT_SEPARATOR) == 0;
}

static bool is_two_labels(const struct relabel_rule_args *args)
{
	return separator_and_modulus_are_default(args) && replacement_is_default(args) &&
	       strcmp(args->regex, DEFAULT_REGEX) == 0;
}

/* A list that is given, be it empty, has items that are not NULL. */
static bool is_regex_alone(const struct relabel_rule_args *args)
{
	return separator_and_modulus_are_default(args) && replacement_is_default(args) &&
	       !has_target(args) && !args->source_labels.items;
}

/* What must hold for which actions; in the sentence @ is the action, # target_label and % replacement in quotes. */
static const struct {
	unsigned int actions;
	relabel_check_fn holds;
	const char *sentence;
} checks[] = {
	{ BIT(RELABEL_HASHMOD), has_modulus,
	  "relabel configuration for hashmod requires non-zero modulus" },
	{ BIT(RELABEL_REPLACE) | BIT(RELABEL_HASHMOD) | CASES | KEEP_DROP_EQUAL, has_target,
	  "relabel configuration for @ action requires 'target_label' value" },
	{ BIT(RELABEL_REPLACE) | CASES | KEEP_DROP_EQUAL, target_is_template,
	  "# is invalid 'target_label' for @ action" },
	{ CASES | KEEP_DROP_EQUAL, replacement_is_default,
	  "'replacement' can not be set for @ action" },
	{ BIT(RELABEL_LABELMAP), replacement_is_template,
	  "% is invalid 'replacement' for @ action" },
	{ BIT(RELABEL_HASHMOD), target_is_name, "# is invalid 'target_label' for @ action" },
	{ KEEP_DROP_EQUAL, is_two_labels,
	  "@ action requires only 'source_labels' and 'target_label', and no other fields" },
	{ NAMES, is_regex_alone, "@ action requires only 'regex', and no other fields" },
};

static const char *say(const char *sentence, const struct relabel_rule_args *args,
		       enum relabel_action action, struct river_arena *arena)
{
	_cleanup_buf_ struct buf message = BUF_INIT(MESSAGE_MAX);

	for (; *sentence; sentence++) {
		if (*sentence == '@')
			(void)buf_append_str(&message, relabel_action_text(action));
		else if (*sentence == '#')
			append_quoted(&message, args->target_label, arena);
		else if (*sentence == '%')
			append_quoted(&message, args->replacement, arena);
		else
			(void)buf_append_char(&message, *sentence);
	}
	return take_message(&message, arena);
}

static const char *validate_rule(const void *self, struct river_arena *arena)
{
	const struct relabel_rule_args *args = self;
	enum relabel_action action = RELABEL_REPLACE;

	/* Only null gets this far as no action. */
	if (!relabel_action_parse(args->action, &action))
		return "relabel action cannot be empty";
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if ((checks[i].actions & BIT(action)) && !checks[i].holds(args))
			return say(checks[i].sentence, args, action, arena);
	return NULL;
}

#define R struct relabel_rule_args
static const struct river_field rule_fields[] = {
	RIVER_FIELD_STRING_LIST(R, source_labels, "source_labels"),
	RIVER_FIELD_STRING(R, separator, "separator", .def = DEFAULT_SEPARATOR),
	RIVER_FIELD_STRING(R, regex, "regex", .def = DEFAULT_REGEX, .check_text = check_regex),
	RIVER_FIELD_UINT(R, modulus, "modulus"),
	RIVER_FIELD_STRING(R, target_label, "target_label"),
	RIVER_FIELD_STRING(R, replacement, "replacement", .def = DEFAULT_REPLACEMENT),
	RIVER_FIELD_STRING(R, action, "action", .def = "replace", .check_text = check_action),
};
const struct river_schema relabel_rule_schema =
	RIVER_SCHEMA(R, "rule", rule_fields, .validate = validate_rule);
#undef R

_Static_assert(RELABEL_RULES_MAX == 1024, "the sentence says it");

const char *relabel_rules_validate(const void *field, struct river_arena *arena)
{
	const struct river_blocks *blocks = field;

	(void)arena;
	return blocks->n_items <= RELABEL_RULES_MAX ? NULL : "there are more than 1024 rules";
}

bool relabel_rules_args_equal(const struct river_blocks *a, const struct river_blocks *b)
{
	const struct relabel_rule_args *x = a->items, *y = b->items;

	if (a->n_items != b->n_items)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!args_equal(&relabel_rule_schema, &x[i], &y[i]))
			return false;
	return true;
}

static struct relabel_config config_of(const struct relabel_rule_args *args)
{
	struct relabel_config config = {
		.source_labels = args->source_labels.items,
		.n_source_labels = args->source_labels.n_items,
		.separator = args->separator,
		.regex = args->regex,
		.modulus = args->modulus,
		.target_label = args->target_label,
		.replacement = args->replacement,
	};

	(void)relabel_action_parse(args->action, &config.action);
	return config;
}

int relabel_rules_of_args(const struct river_blocks *blocks, struct relabel_rules **ret_rules)
{
	const struct relabel_rule_args *items = blocks->items;
	_cleanup_free_ struct relabel_config *configs =
		calloc(blocks->n_items + 1, sizeof(*configs));
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX);
	int r;

	if (!configs)
		return -ENOMEM;
	for (size_t i = 0; i < blocks->n_items; i++)
		configs[i] = config_of(&items[i]);
	r = relabel_rules_new(configs, blocks->n_items, &why, ret_rules);
	return r == RELABEL_WRONG ? -EINVAL : r;
}
