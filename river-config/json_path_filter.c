/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of a JSON path: evaluation.
 *
 * A path in a filter yields nothing, a value, or many. Of many, each is tried, together with each of
 * the other paths' (the steps of the search bound that); one combination that makes the filter true
 * is enough. A path alone is true when it finds something, whatever that is.
 */
#include "river-config/json_path_filter.h"

#include <string.h>

enum outcome_kind {
	OUTCOME_NOTHING,
	OUTCOME_COMPUTED,
	OUTCOME_FOUND, /* by a path: true by itself */
};

struct outcome {
	enum outcome_kind kind;
	struct river_value value;
};

/* What one path found, and which of these is tried now. */
struct choice {
	struct river_vec found;
	size_t i;
};

struct trial {
	struct river_path_search *search;
	const struct river_value *v;
	struct river_vec choices;
	size_t i_choice; /* paths are met in the same order each time */
};

static struct outcome eval(struct trial *t, const struct river_path_filter *f);

static struct outcome nothing(void)
{
	return (struct outcome){ .kind = OUTCOME_NOTHING };
}

static struct outcome computed(const struct river_value *v)
{
	return v ? (struct outcome){ .kind = OUTCOME_COMPUTED, .value = *v } : nothing();
}

static struct outcome truth(bool b)
{
	return (struct outcome){ .kind = OUTCOME_COMPUTED,
				 .value = { .type = RIVER_TYPE_BOOL, .boolean = b } };
}

static struct outcome integer(int64_t i)
{
	return (struct outcome){ .kind = OUTCOME_COMPUTED,
				 .value = { .type = RIVER_TYPE_NUMBER,
					    .number_kind = RIVER_NUMBER_INT,
					    .int_value = i } };
}

static bool is_true(const struct outcome *o)
{
	return o->kind == OUTCOME_FOUND ||
	       (o->kind == OUTCOME_COMPUTED && river_value_get_bool(&o->value));
}

/* The usual path, "@.a.b[0]", finds one value at most. */
static bool finds_one(const struct river_path *path)
{
	for (size_t i = 0; i < path->n_fragments; i++) {
		const struct river_path_fragment *f = &path->fragments[i];

		if (f->kind != RIVER_PATH_ROOT && f->kind != RIVER_PATH_AT &&
		    (f->kind != RIVER_PATH_UNION || f->n_items != 1))
			return false;
	}
	return true;
}

static const struct river_value *find_one(const struct trial *t, const struct river_path *path)
{
	const struct river_value *v = t->v;

	for (size_t i = 0; v && i < path->n_fragments; i++) {
		const struct river_path_fragment *f = &path->fragments[i];

		if (f->kind == RIVER_PATH_ROOT)
			v = t->search->root;
		else if (f->kind == RIVER_PATH_UNION && f->items->name)
			v = v->type == RIVER_TYPE_OBJECT ? river_value_find(v, f->items->name)
							 : NULL;
		else if (f->kind == RIVER_PATH_UNION)
			v = river_value_item(
				v, (size_t)(f->items->index < 0
						    ? f->items->index + (int64_t)river_value_len(v)
						    : f->items->index));
	}
	return v;
}

static struct outcome eval_path(struct trial *t, const struct river_path_filter *f)
{
	const struct river_value *v;
	struct choice *choice;

	if (finds_one(&f->path)) {
		v = find_one(t, &f->path);
	} else {
		choice = (struct choice *)t->choices.data + t->i_choice++;
		v = choice->found.n_items
			    ? ((const struct river_value **)choice->found.data)[choice->i]
			    : NULL;
	}
	return v ? (struct outcome){ .kind = OUTCOME_FOUND, .value = *v } : nothing();
}

static bool is_integer(const struct river_value *v)
{
	return v->type == RIVER_TYPE_NUMBER && v->number_kind != RIVER_NUMBER_FLOAT;
}

static int compare_text(const struct river_value *a, const struct river_value *b)
{
	size_t n = a->string.len < b->string.len ? a->string.len : b->string.len;
	int r = memcmp(a->string.text, b->string.text, n);

	return r ? r : (a->string.len > b->string.len) - (a->string.len < b->string.len);
}

/* Both numbers or both texts; all else has no order. */
static bool in_order(enum river_filter_op op, const struct river_value *a,
		     const struct river_value *b)
{
	double x = river_value_get_float(a), y = river_value_get_float(b);
	int r;

	if (a->type != b->type || (a->type != RIVER_TYPE_NUMBER && a->type != RIVER_TYPE_STRING))
		return false;
	if (a->type == RIVER_TYPE_STRING)
		r = compare_text(a, b);
	else if (is_integer(a) && is_integer(b))
		r = (a->int_value > b->int_value) - (a->int_value < b->int_value);
	else
		r = (x > y) - (x < y);
	return op == RIVER_FILTER_LT   ? r < 0
	       : op == RIVER_FILTER_LE ? r <= 0
	       : op == RIVER_FILTER_GT ? r > 0
				       : r >= 0;
}

static bool are_equal(const struct outcome *a, const struct outcome *b)
{
	bool no_a = a->kind == OUTCOME_NOTHING, no_b = b->kind == OUTCOME_NOTHING;

	return no_a || no_b ? no_a && no_b : river_value_equal(&a->value, &b->value);
}

static bool is_in(const struct outcome *a, const struct outcome *list)
{
	if (a->kind == OUTCOME_NOTHING || list->value.type != RIVER_TYPE_ARRAY)
		return false;
	for (size_t i = 0; i < list->value.array.n_items; i++)
		if (river_value_equal(&a->value, list->value.array.items[i]))
			return true;
	return false;
}

static bool has_wanted_emptiness(const struct outcome *a, const struct outcome *wanted)
{
	bool empty = a->value.type == RIVER_TYPE_STRING ? a->value.string.len == 0
							: river_value_len(&a->value) == 0;

	if (a->kind == OUTCOME_NOTHING || wanted->value.type != RIVER_TYPE_BOOL)
		return false;
	if (a->value.type != RIVER_TYPE_STRING && a->value.type != RIVER_TYPE_ARRAY &&
	    a->value.type != RIVER_TYPE_OBJECT)
		return false;
	return empty == wanted->value.boolean;
}

/* Patterns are compiled each time; that costs more than a comparison. */
#define STEPS_OF_PATTERN 200

static bool matches_pattern(struct trial *t, const struct outcome *text,
			    const struct outcome *pattern, enum river_regex_mode mode)
{
	if (text->kind == OUTCOME_NOTHING || text->value.type != RIVER_TYPE_STRING ||
	    pattern->kind == OUTCOME_NOTHING || pattern->value.type != RIVER_TYPE_STRING)
		return false;
	t->search->n_steps += STEPS_OF_PATTERN + text->value.string.len / STEPS_OF_PATTERN;
	return river_path_step(t->search) &&
	       river_regex_matches(&pattern->value, &text->value, mode);
}

static struct outcome concatenate(struct trial *t, const struct river_value *a,
				  const struct river_value *b)
{
	struct river_text text = RIVER_TEXT_INIT(t->search->arena);
	struct outcome result;

	river_text_append(&text, a->string.text, a->string.len);
	river_text_append(&text, b->string.text, b->string.len);
	result =
		computed(river_value_wrap_text(t->search->arena, river_text_take(&text), text.len));
	t->search->failed |= text.failed;
	return result;
}

static struct outcome divide(int64_t a, int64_t b)
{
	if (b == 0)
		return nothing();
	return b == -1 ? integer((int64_t)(0 - (uint64_t)a)) : integer(a / b);
}

static struct outcome calculate_integers(enum river_filter_op op, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	if (op == RIVER_FILTER_DIV)
		return divide(a, b);
	return integer((int64_t)(op == RIVER_FILTER_ADD	  ? x + y
				 : op == RIVER_FILTER_SUB ? x - y
							  : x * y));
}

static struct outcome calculate(struct trial *t, enum river_filter_op op, const struct outcome *a,
				const struct outcome *b)
{
	double x = river_value_get_float(&a->value), y = river_value_get_float(&b->value);
	struct outcome result = integer(0);

	if (a->kind == OUTCOME_NOTHING || b->kind == OUTCOME_NOTHING ||
	    a->value.type != b->value.type)
		return nothing();
	if (a->value.type == RIVER_TYPE_STRING && op == RIVER_FILTER_ADD)
		return concatenate(t, &a->value, &b->value);
	if (a->value.type != RIVER_TYPE_NUMBER)
		return nothing();
	if (is_integer(&a->value) && is_integer(&b->value))
		return calculate_integers(op, a->value.int_value, b->value.int_value);
	if (op == RIVER_FILTER_DIV && y == 0)
		return nothing();
	result.value.number_kind = RIVER_NUMBER_FLOAT;
	result.value.float_value = op == RIVER_FILTER_ADD   ? x + y
				   : op == RIVER_FILTER_SUB ? x - y
				   : op == RIVER_FILTER_MUL ? x * y
							    : x / y;
	return result;
}

static struct outcome length_of(const struct outcome *o)
{
	if (o->kind == OUTCOME_NOTHING)
		return nothing();
	if (o->value.type == RIVER_TYPE_STRING)
		return integer((int64_t)o->value.string.len);
	if (o->value.type == RIVER_TYPE_ARRAY || o->value.type == RIVER_TYPE_OBJECT)
		return integer((int64_t)river_value_len(&o->value));
	return nothing();
}

/* Of what a path finds, all of it. */
static struct outcome count_of(struct trial *t, const struct river_path_filter *f)
{
	struct river_vec found = RIVER_VEC_INIT(struct river_value *);

	if (f->op != RIVER_FILTER_PATH)
		return nothing();
	river_path_get(t->search, &f->path, t->v, &found);
	return integer((int64_t)found.n_items);
}

static struct outcome eval_binary(struct trial *t, const struct river_path_filter *f)
{
	struct outcome a = eval(t, f->left), b = f->right ? eval(t, f->right) : nothing();

	switch (f->op) {
	case RIVER_FILTER_OR:
		return truth(is_true(&a) || is_true(&b));
	case RIVER_FILTER_AND:
		return truth(is_true(&a) && is_true(&b));
	case RIVER_FILTER_EQ:
		return truth(are_equal(&a, &b));
	case RIVER_FILTER_NE:
		return truth(!are_equal(&a, &b));
	case RIVER_FILTER_IN:
		return truth(is_in(&a, &b));
	case RIVER_FILTER_EMPTY:
		return truth(has_wanted_emptiness(&a, &b));
	case RIVER_FILTER_HAS:
		return truth(b.value.type == RIVER_TYPE_BOOL &&
			     b.value.boolean == (a.kind != OUTCOME_NOTHING));
	case RIVER_FILTER_MATCHES:
	case RIVER_FILTER_SEARCH:
		return truth(matches_pattern(t, &a, &b, RIVER_REGEX_SEARCH));
	case RIVER_FILTER_MATCH:
		return truth(matches_pattern(t, &a, &b, RIVER_REGEX_WHOLE));
	case RIVER_FILTER_ADD:
	case RIVER_FILTER_SUB:
	case RIVER_FILTER_MUL:
	case RIVER_FILTER_DIV:
		return calculate(t, f->op, &a, &b);
	case RIVER_FILTER_LENGTH:
		return length_of(&a);
	default:
		return truth(a.kind != OUTCOME_NOTHING && b.kind != OUTCOME_NOTHING &&
			     in_order(f->op, &a.value, &b.value));
	}
}

static struct outcome eval(struct trial *t, const struct river_path_filter *f)
{
	struct outcome o;

	if (!river_path_step(t->search))
		return nothing();
	switch (f->op) {
	case RIVER_FILTER_CONSTANT:
		return computed(f->constant);
	case RIVER_FILTER_NOTHING:
		return nothing();
	case RIVER_FILTER_PATH:
		return eval_path(t, f);
	case RIVER_FILTER_COUNT:
		return count_of(t, f->left);
	case RIVER_FILTER_NOT:
		o = eval(t, f->left);
		return truth(!is_true(&o));
	default:
		return eval_binary(t, f);
	}
}

/* In the order in which eval meets them. */
static void collect_choices(struct trial *t, const struct river_path_filter *f)
{
	struct choice choice = { .found = RIVER_VEC_INIT(struct river_value *) };

	if (f->op == RIVER_FILTER_PATH && !finds_one(&f->path)) {
		river_path_get(t->search, &f->path, t->v, &choice.found);
		if (river_vec_push(&t->choices, t->search->arena, &choice) < 0)
			t->search->failed = true;
	}
	if (f->left && f->op != RIVER_FILTER_COUNT)
		collect_choices(t, f->left);
	if (f->right && f->op != RIVER_FILTER_COUNT)
		collect_choices(t, f->right);
}

/* The next combination; false after the last. */
static bool next_choice(struct trial *t)
{
	struct choice *choices = t->choices.data;

	for (size_t i = 0; i < t->choices.n_items; i++) {
		if (++choices[i].i < choices[i].found.n_items)
			return true;
		choices[i].i = 0;
	}
	return false;
}

bool river_path_filter_matches(struct river_path_search *search,
			       const struct river_path_filter *filter, const struct river_value *v)
{
	struct trial t = { .search = search, .v = v, .choices = RIVER_VEC_INIT(struct choice) };
	bool matched = false;

	collect_choices(&t, filter);
	if (search->failed)
		return false;
	do {
		struct outcome o;

		t.i_choice = 0;
		o = eval(&t, filter);
		matched = is_true(&o);
	} while (!matched && next_choice(&t) && river_path_step(search));
	return matched;
}
