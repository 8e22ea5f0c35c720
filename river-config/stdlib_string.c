/* SPDX-License-Identifier: Apache-2.0 */
/* The string.* family. Lengths are bytes; letters and sets of characters are Unicode. */
#include <unicase.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "river-config/convert.h"
#include "river-config/stdlib.h"
#include "river-config/text.h"
#include "river-config/unicode.h"

/* No function here has more arguments. */
#define TEXT_ARGS_MAX 3

struct slice {
	const char *s;
	size_t len;
};

static int text_args(struct river_call *c, struct slice *slices)
{
	int r = RIVER_OK;

	for (size_t i = 0; i < c->n_args && i < TEXT_ARGS_MAX && r == RIVER_OK; i++)
		r = river_to_text(c->args[i], c->err, &slices[i].s, &slices[i].len);
	return r;
}

static int return_slice(struct river_call *c, struct slice slice)
{
	c->result = river_value_new_string(c->err->arena, slice.s, slice.len);
	return RIVER_OK;
}

static int return_built(struct river_call *c, struct river_text *t)
{
	c->result = river_value_wrap_text(c->err->arena, river_text_take(t), t->len);
	return RIVER_OK;
}

static int list_texts(struct river_call *c, const struct river_value *list,
		      struct slice **ret_items)
{
	size_t n = river_value_len(list);
	struct slice *items = river_arena_alloc(c->err->arena, n * sizeof(*items));

	if (list->type != RIVER_TYPE_NULL && list->type != RIVER_TYPE_ARRAY)
		return river_error_type(c->err, list, RIVER_TYPE_ARRAY);
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int r = river_to_text(list->array.items[i], c->err, &items[i].s, &items[i].len);

		if (r != RIVER_OK)
			return river_error_in_item(c->err, list, i, r);
	}
	*ret_items = items;
	return RIVER_OK;
}

static int call_join(struct river_call *c)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct slice *items = NULL, separator = { "", 0 };
	int r = list_texts(c, c->args[0], &items);

	if (r == RIVER_OK)
		r = river_to_text(c->args[1], c->err, &separator.s, &separator.len);
	if (r != RIVER_OK)
		return r;
	for (size_t i = 0; i < river_value_len(c->args[0]); i++) {
		if (i > 0)
			river_text_append(&t, separator.s, separator.len);
		river_text_append(&t, items[i].s, items[i].len);
	}
	return return_built(c, &t);
}

/* Bytes up to the next `what` in s, or -1. An empty `what` is found behind every character. */
static ptrdiff_t find(struct slice s, struct slice what)
{
	const char *found;
	uint32_t ignored;

	if (what.len == 0)
		return s.len ? (ptrdiff_t)river_utf8_decode(s.s, s.len, &ignored) : -1;
	found = memmem(s.s, s.len, what.s, what.len);
	return found ? found - s.s : -1;
}

static struct slice drop(struct slice s, size_t n)
{
	return (struct slice){ .s = s.s + n, .len = s.len - n };
}

static int call_replace(struct river_call *c)
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct slice args[TEXT_ARGS_MAX], rest;
	ptrdiff_t at;
	int r = text_args(c, args);

	if (r != RIVER_OK)
		return r;
	rest = args[0];
	if (args[1].len == 0)
		river_text_append(&t, args[2].s, args[2].len);
	while ((at = find(rest, args[1])) >= 0) {
		river_text_append(&t, rest.s, (size_t)at);
		river_text_append(&t, args[2].s, args[2].len);
		rest = drop(rest, (size_t)at + args[1].len);
	}
	river_text_append(&t, rest.s, rest.len);
	return return_built(c, &t);
}

/* Pieces between separators; by an empty one, the characters. */
static size_t count_pieces(struct slice s, struct slice separator)
{
	size_t n = separator.len ? 1 : 0;
	ptrdiff_t at;

	for (; (at = find(s, separator)) >= 0; n++)
		s = drop(s, (size_t)at + separator.len);
	return n;
}

static int call_split(struct river_call *c)
{
	struct slice args[TEXT_ARGS_MAX], rest;
	struct river_value **items;
	size_t n;
	int r = text_args(c, args);

	if (r != RIVER_OK)
		return r;
	rest = args[0];
	n = count_pieces(rest, args[1]);
	items = river_arena_alloc(c->err->arena, n * sizeof(struct river_value *));
	for (size_t i = 0; items && i < n; i++) {
		ptrdiff_t at = find(rest, args[1]);
		size_t len = at < 0 ? rest.len : (size_t)at;

		items[i] = river_value_new_string(c->err->arena, rest.s, len);
		if (!items[i])
			return -ENOMEM;
		rest = drop(rest, at < 0 ? len : len + args[1].len);
	}
	c->result = items ? river_value_wrap_array(c->err->arena, items, n) : NULL;
	return RIVER_OK;
}

static int map_case(struct river_call *c, uint32_t (*map)(uint32_t))
{
	struct river_text t = RIVER_TEXT_INIT(c->err->arena);
	struct slice args[TEXT_ARGS_MAX];
	int r = text_args(c, args);
	uint32_t ch;
	size_t step;

	if (r != RIVER_OK)
		return r;
	for (size_t i = 0; i < args[0].len; i += step) {
		step = river_utf8_decode(args[0].s + i, args[0].len - i, &ch);
		river_text_rune(&t, ch == RIVER_CHAR_INVALID ? ch : map(ch));
	}
	return return_built(c, &t);
}

static int call_to_lower(struct river_call *c)
{
	return map_case(c, uc_tolower);
}

static int call_to_upper(struct river_call *c)
{
	return map_case(c, uc_toupper);
}

/* Sorted. */
struct char_set {
	uint32_t *chars;
	size_t n;
};

static int compare_chars(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int char_set_init(struct char_set *set, struct slice chars, struct river_arena *arena)
{
	set->n = 0;
	set->chars = river_arena_alloc(arena, chars.len * sizeof(*set->chars));
	if (!set->chars)
		return -ENOMEM;
	for (size_t i = 0; i < chars.len; set->n++)
		i += river_utf8_decode(chars.s + i, chars.len - i, &set->chars[set->n]);
	qsort(set->chars, set->n, sizeof(*set->chars), compare_chars);
	return RIVER_OK;
}

/* NULL set: white space. */
static bool is_in_set(uint32_t ch, const struct char_set *set)
{
	if (!set)
		return river_is_space(ch);
	return bsearch(&ch, set->chars, set->n, sizeof(*set->chars), compare_chars);
}

static size_t last_char_len(struct slice s)
{
	size_t len = 1;
	uint32_t ch;

	while (len < RIVER_UTF8_MAX && len < s.len &&
	       ((unsigned char)s.s[s.len - len] & 0xc0) == 0x80)
		len++;
	return river_utf8_decode(s.s + s.len - len, len, &ch) == len ? len : 1;
}

static struct slice trim_slice(struct slice s, const struct char_set *set)
{
	uint32_t ch;
	size_t n;

	while (s.len > 0) {
		n = river_utf8_decode(s.s, s.len, &ch);
		if (!is_in_set(ch, set))
			break;
		s = drop(s, n);
	}
	while (s.len > 0) {
		n = last_char_len(s);
		river_utf8_decode(s.s + s.len - n, n, &ch);
		if (!is_in_set(ch, set))
			break;
		s.len -= n;
	}
	return s;
}

static int call_trim(struct river_call *c)
{
	struct slice args[TEXT_ARGS_MAX];
	struct char_set set;
	int r = text_args(c, args);

	if (r == RIVER_OK)
		r = char_set_init(&set, args[1], c->err->arena);
	return r != RIVER_OK ? r : return_slice(c, trim_slice(args[0], &set));
}

static int call_trim_space(struct river_call *c)
{
	struct slice args[TEXT_ARGS_MAX];
	int r = text_args(c, args);

	return r != RIVER_OK ? r : return_slice(c, trim_slice(args[0], NULL));
}

static int call_trim_prefix(struct river_call *c)
{
	struct slice args[TEXT_ARGS_MAX];
	int r = text_args(c, args);

	if (r != RIVER_OK)
		return r;
	if (args[1].len <= args[0].len && memcmp(args[0].s, args[1].s, args[1].len) == 0)
		args[0] = drop(args[0], args[1].len);
	return return_slice(c, args[0]);
}

static int call_trim_suffix(struct river_call *c)
{
	struct slice args[TEXT_ARGS_MAX];
	int r = text_args(c, args);

	if (r != RIVER_OK)
		return r;
	if (args[1].len <= args[0].len &&
	    memcmp(args[0].s + args[0].len - args[1].len, args[1].s, args[1].len) == 0)
		args[0].len -= args[1].len;
	return return_slice(c, args[0]);
}

#define ROWS(name, function, n) RIVER_FUNCTION_AND_OLD("string." name, name, function, n)

static const struct river_function rows[] = {
	ROWS("join", call_join, 2),
	ROWS("replace", call_replace, 3),
	ROWS("split", call_split, 2),
	ROWS("to_lower", call_to_lower, 1),
	ROWS("to_upper", call_to_upper, 1),
	ROWS("trim", call_trim, 2),
	ROWS("trim_prefix", call_trim_prefix, 2),
	ROWS("trim_suffix", call_trim_suffix, 2),
	ROWS("trim_space", call_trim_space, 1),
};

const struct river_family river_stdlib_string = RIVER_FAMILY(rows);
