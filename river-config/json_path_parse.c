/* SPDX-License-Identifier: Apache-2.0 */
/* JSON paths: text to fragments. Messages and the positions in them are those of the reference. */
#include "river-config/json_path_parse.h"

#include <errno.h>
#include <string.h>

#include "river-config/unicode.h"

/* An end that is beyond all lists. */
#define END_MAX INT32_MAX

bool river_path_fail(struct river_path_parser *p, const char *fmt, ...)
{
	struct river_text t = RIVER_TEXT_INIT(p->arena);
	va_list ap;

	if (p->problem || p->failed)
		return false;
	va_start(ap, fmt);
	river_text_vprintf(&t, fmt, ap);
	va_end(ap);
	river_text_printf(&t, " at %zu in ", p->i + 1);
	river_text_append(&t, p->s, p->n);
	p->problem = river_text_take(&t);
	p->failed = !p->problem;
	return false;
}

char river_path_take(struct river_path_parser *p)
{
	return p->i < p->n ? p->s[p->i++] : '\0';
}

char river_path_take_past_blanks(struct river_path_parser *p)
{
	char c = ' ';

	while (c == ' ' && p->i < p->n)
		c = p->s[p->i++];
	return c == ' ' ? '\0' : c;
}

char river_path_peek_past_blanks(struct river_path_parser *p)
{
	while (p->i < p->n && p->s[p->i] == ' ')
		p->i++;
	return p->i < p->n ? p->s[p->i] : '\0';
}

/* What a name without quotes may be made of. */
static bool is_name_byte(char c)
{
	if ((c >= '0' && c <= ';') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= '~'))
		return true;
	return (unsigned char)c >= 0x80 || (c && strchr("#%?^_", c));
}

static bool push(struct river_path_parser *p, struct river_vec *fragments,
		 const struct river_path_fragment *fragment)
{
	if (fragments->n_items >= RIVER_DEPTH_MAX)
		return river_path_fail(p, "more than %d fragments", RIVER_DEPTH_MAX);
	if (river_vec_push(fragments, p->arena, fragment) == 0)
		return true;
	p->failed = true;
	return false;
}

static bool push_kind(struct river_path_parser *p, struct river_vec *fragments,
		      enum river_path_kind kind)
{
	const struct river_path_fragment fragment = { .kind = kind };

	return push(p, fragments, &fragment);
}

static bool push_name(struct river_path_parser *p, struct river_vec *fragments, size_t begin)
{
	struct river_path_fragment fragment = { .kind = RIVER_PATH_UNION, .n_items = 1 };

	while (p->i < p->n && is_name_byte(p->s[p->i]))
		p->i++;
	fragment.items = river_arena_alloc(p->arena, sizeof(*fragment.items));
	if (fragment.items)
		fragment.items->name = river_arena_strndup(p->arena, p->s + begin, p->i - begin);
	p->failed = !fragment.items || !fragment.items->name;
	return !p->failed && push(p, fragments, &fragment);
}

static bool after_dot(struct river_path_parser *p, struct river_vec *fragments)
{
	char c;

	if (p->i >= p->n)
		return river_path_fail(p, "not terminated");
	c = river_path_take(p);
	if (c == '*')
		return push_kind(p, fragments, RIVER_PATH_ALL);
	if (c == '.')
		return push_kind(p, fragments, RIVER_PATH_DESCENT);
	if (!is_name_byte(c))
		return river_path_fail(p, "an expression fragment can not start with a '%c'", c);
	return push_name(p, fragments, p->i - 1);
}

/* `c` is the first byte, taken; *ret_next the byte behind the number, taken, or its last digit at the end. */
static bool take_integer(struct river_path_parser *p, char c, int64_t *ret, char *ret_next)
{
	bool negative = c == '-';
	int64_t value = 0;
	size_t start;

	if (negative && p->i >= p->n)
		return river_path_fail(p, "expected a number");
	if (negative)
		c = river_path_take(p);
	start = p->i;
	while (c >= '0' && c <= '9') {
		/* Beyond all lists is far enough. */
		value = value > END_MAX ? value : value * 10 + (c - '0');
		if (p->i >= p->n)
			break;
		c = river_path_take(p);
	}
	if (p->i == start)
		return river_path_fail(p, "expected a number");
	*ret = negative ? -value : value;
	*ret_next = c;
	return true;
}

/* The last number of a slice, if there is one before the bracket. */
static bool take_bound(struct river_path_parser *p, int64_t *ret, char *ret_next)
{
	if (p->i >= p->n)
		return river_path_fail(p, "not terminated");
	*ret_next = river_path_take(p);
	return *ret_next == ']' || take_integer(p, *ret_next, ret, ret_next);
}

/* Behind the first colon. */
static bool take_slice(struct river_path_parser *p, int64_t start, struct river_vec *fragments)
{
	struct river_path_fragment f = {
		.kind = RIVER_PATH_SLICE, .start = start, .end = END_MAX, .step = 1
	};
	char c;

	if (p->i >= p->n)
		return river_path_fail(p, "not terminated");
	c = river_path_take_past_blanks(p);
	if (c != ']' && c != ':' && !take_integer(p, c, &f.end, &c))
		return false;
	if (c == ':' && !take_bound(p, &f.step, &c))
		return false;
	if (c != ']')
		return river_path_fail(p, "invalid slice syntax");
	return push(p, fragments, &f);
}

/* A text or a number; *ret_next as above. */
static bool take_item(struct river_path_parser *p, char c, struct river_path_item *item,
		      char *ret_next)
{
	struct river_text t = RIVER_TEXT_INIT(p->arena);

	*item = (struct river_path_item){ 0 };
	if (c != '\'' && c != '"')
		return take_integer(p, c, &item->index, ret_next);
	if (!river_path_text(p, c, &t))
		return false;
	item->name = river_text_take(&t);
	p->failed = !item->name;
	*ret_next = river_path_take_past_blanks(p);
	return !p->failed;
}

static bool is_item_start(char c)
{
	return c == '\'' || c == '"' || c == '-' || (c >= '0' && c <= '9');
}

/* Behind the first item, at the comma `c`, up to the bracket. */
static bool take_union(struct river_path_parser *p, const struct river_path_item *first, char c,
		       struct river_vec *fragments)
{
	struct river_vec items = RIVER_VEC_INIT(struct river_path_item);
	struct river_path_fragment fragment = { .kind = RIVER_PATH_UNION };
	struct river_path_item item = *first;

	p->failed = river_vec_push(&items, p->arena, &item) < 0;
	while (!p->failed && c == ',') {
		if (p->i >= p->n)
			return river_path_fail(p, "not terminated");
		c = river_path_take_past_blanks(p);
		if (!is_item_start(c))
			return river_path_fail(p, "invalid union syntax");
		if (!take_item(p, c, &item, &c))
			return false;
		if (c == ' ')
			c = river_path_take_past_blanks(p);
		p->failed = river_vec_push(&items, p->arena, &item) < 0;
	}
	if (!p->failed && c != ']')
		return river_path_fail(p, "invalid union syntax");
	fragment.items = items.data;
	fragment.n_items = items.n_items;
	return !p->failed && push(p, fragments, &fragment);
}

static bool take_items(struct river_path_parser *p, char c, struct river_vec *fragments)
{
	struct river_path_item first;

	if (!take_item(p, c, &first, &c))
		return false;
	if (c == ' ')
		c = river_path_take_past_blanks(p);
	if (c == ':' && !first.name)
		return take_slice(p, first.index, fragments);
	if (c != ']' && c != ',')
		return river_path_fail(p, "invalid bracket fragment");
	return take_union(p, &first, c, fragments);
}

static bool take_filter(struct river_path_parser *p, struct river_vec *fragments)
{
	struct river_path_fragment fragment = { .kind = RIVER_PATH_FILTER };

	if (p->i >= p->n)
		return river_path_fail(p, "not terminated");
	if (!river_path_filter(p, &fragment.filter))
		return false;
	if (river_path_peek_past_blanks(p) != ']')
		return river_path_fail(p, "not terminated");
	p->i++;
	return push(p, fragments, &fragment);
}

static bool after_bracket(struct river_path_parser *p, struct river_vec *fragments)
{
	char c;

	if (p->i >= p->n)
		return river_path_fail(p, "not terminated");
	c = river_path_take_past_blanks(p);
	if (is_item_start(c))
		return take_items(p, c, fragments);
	switch (c) {
	case '*':
		if (river_path_take_past_blanks(p) != ']')
			return river_path_fail(p, "not terminated");
		return push_kind(p, fragments, RIVER_PATH_ALL);
	case ':':
		return take_slice(p, 0, fragments);
	case '?':
		return take_filter(p, fragments);
	case '(':
		/* The dialect has no scripts either; the words are its own. */
		return river_path_fail(p, "scripts not implemented yet");
	default:
		p->i--;
		return river_path_fail(p, "parse error");
	}
}

/* One fragment; *ret_done where there is none. */
static bool take_fragment(struct river_path_parser *p, struct river_vec *fragments, bool *ret_done)
{
	const struct river_path_fragment *all = fragments->data;
	size_t n = fragments->n_items;
	bool after_descent = n > 0 && all[n - 1].kind == RIVER_PATH_DESCENT;
	char c = p->s[p->i];

	if ((c == '$' || c == '@') && n == 0) {
		p->i++;
		return push_kind(p, fragments, c == '$' ? RIVER_PATH_ROOT : RIVER_PATH_AT);
	}
	if (c == '.' || c == '[' || c == '*') {
		p->i++;
		return c == '.'	  ? after_dot(p, fragments)
		       : c == '[' ? after_bracket(p, fragments)
				  : push_kind(p, fragments, RIVER_PATH_ALL);
	}
	if (is_name_byte(c) && (n == 0 || after_descent))
		return push_name(p, fragments, p->i);
	*ret_done = true;
	return true;
}

bool river_path_fragments(struct river_path_parser *p, struct river_path *ret)
{
	struct river_vec fragments = RIVER_VEC_INIT(struct river_path_fragment);
	bool done = false;

	while (!done && p->i < p->n)
		if (!take_fragment(p, &fragments, &done))
			return false;
	ret->fragments = fragments.data;
	ret->n_fragments = fragments.n_items;
	return true;
}

static bool hex_digits(struct river_path_parser *p, size_t n, uint32_t *ret)
{
	*ret = 0;
	for (; n > 0; n--) {
		char c = river_path_take(p);
		uint32_t digit = c >= '0' && c <= '9'	? (uint32_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
							: 16;

		if (digit > 15)
			return river_path_fail(p, "invalid escaped character");
		*ret = *ret << 4 | digit;
	}
	return true;
}

static bool take_escape(struct river_path_parser *p, struct river_text *t)
{
	static const char names[] = "btnfr\"'\\", bytes[] = "\b\t\n\f\r\"'\\";
	char c = river_path_take(p);
	const char *found = c ? strchr(names, c) : NULL;
	uint32_t code;

	if (found) {
		river_text_char(t, bytes[found - names]);
		return true;
	}
	if (c == 'x' && hex_digits(p, 2, &code)) {
		river_text_char(t, (char)code);
		return true;
	}
	if ((c == 'u' || c == 'U') && hex_digits(p, 4, &code)) {
		river_text_rune(t, code);
		return true;
	}
	return river_path_fail(p, "invalid escaped character");
}

bool river_path_text(struct river_path_parser *p, char end, struct river_text *t)
{
	while (p->i < p->n) {
		char c = river_path_take(p);

		if (c == end)
			return true;
		if (c != '\\')
			river_text_char(t, c);
		else if (!take_escape(p, t))
			return false;
	}
	return river_path_fail(p, "not terminated");
}

int river_path_parse(const char *s, size_t n, struct river_arena *arena, struct river_path *ret,
		     const char **ret_problem)
{
	struct river_path_parser p = { .s = s, .n = n, .arena = arena };

	if (river_path_fragments(&p, ret) && p.i < n)
		river_path_fail(&p, "parse error");
	if (p.failed)
		return -ENOMEM;
	*ret_problem = p.problem;
	return p.problem ? RIVER_INVALID : RIVER_OK;
}
