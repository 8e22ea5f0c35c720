/* SPDX-License-Identifier: Apache-2.0 */
/* JSON paths: text to fragments. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "river-config/json_path.h"

/* An index or an end that is beyond all lists. */
#define FAR INT32_MAX

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

static char next(const struct river_path_parser *p)
{
	return p->i < p->n ? p->s[p->i] : '\0';
}

char river_path_peek(struct river_path_parser *p)
{
	while (next(p) == ' ')
		p->i++;
	return next(p);
}

bool river_path_accept(struct river_path_parser *p, const char *text)
{
	size_t n = strlen(text);

	(void)river_path_peek(p);
	if (p->n - p->i < n || memcmp(p->s + p->i, text, n) != 0)
		return false;
	p->i += n;
	return true;
}

static bool push(struct river_path_parser *p, struct river_vec *fragments,
		 const struct river_path_fragment *fragment)
{
	if (fragments->n_items >= RIVER_DEPTH_MAX)
		return river_path_fail(p, "more than %d fragments", RIVER_DEPTH_MAX);
	p->failed |= river_vec_push(fragments, p->arena, fragment) < 0;
	return !p->failed;
}

static bool push_items(struct river_path_parser *p, struct river_vec *fragments,
		       const struct river_vec *items)
{
	const struct river_path_fragment fragment = { .kind = RIVER_PATH_UNION,
						      .items = items->data,
						      .n_items = items->n_items };

	return push(p, fragments, &fragment);
}

/* What a name without quotes may be made of. */
static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("_:;#%^~", c));
}

static bool name(struct river_path_parser *p, struct river_vec *fragments)
{
	struct river_vec items = RIVER_VEC_INIT(struct river_path_item);
	struct river_path_item item = { 0 };
	size_t begin = p->i;

	while (is_name_byte(next(p)))
		p->i++;
	if (p->i == begin)
		return river_path_fail(p, "expected a name or *");
	item.name = river_arena_strndup(p->arena, p->s + begin, p->i - begin);
	p->failed |= !item.name || river_vec_push(&items, p->arena, &item) < 0;
	return !p->failed && push_items(p, fragments, &items);
}

static bool name_or_all(struct river_path_parser *p, struct river_vec *fragments)
{
	const struct river_path_fragment all = { .kind = RIVER_PATH_ALL };

	if (next(p) != '*')
		return name(p, fragments);
	p->i++;
	return push(p, fragments, &all);
}

static bool after_dot(struct river_path_parser *p, struct river_vec *fragments)
{
	const struct river_path_fragment descent = { .kind = RIVER_PATH_DESCENT };

	if (next(p) != '.')
		return name_or_all(p, fragments);
	p->i++;
	if (!push(p, fragments, &descent))
		return false;
	/* A bracket is the next fragment. */
	return next(p) == '[' || name_or_all(p, fragments);
}

const char *river_path_text(struct river_path_parser *p, size_t *ret_len)
{
	struct river_text t = RIVER_TEXT_INIT(p->arena);
	char quote = p->s[p->i++];

	for (; next(p) && next(p) != quote; p->i++) {
		if (next(p) == '\\' && ++p->i && !strchr("\\'\"", next(p))) {
			(void)river_path_fail(p, "only \\, ' and \" can stand behind a \\");
			return NULL;
		}
		river_text_char(&t, next(p));
	}
	if (!next(p)) {
		(void)river_path_fail(p, "expected %c", quote);
		return NULL;
	}
	p->i++;
	*ret_len = t.len;
	p->failed |= !river_text_take(&t);
	return river_text_take(&t);
}

/* Left as it is where there is none. */
static bool integer(struct river_path_parser *p, int64_t *ret)
{
	bool negative = river_path_accept(p, "-");
	int64_t value = 0;

	if (!isdigit((unsigned char)river_path_peek(p)))
		return !negative || river_path_fail(p, "expected a number");
	for (; isdigit((unsigned char)next(p)); p->i++)
		value = value < FAR ? value * 10 + (next(p) - '0') : value;
	*ret = negative ? -value : value;
	return true;
}

/* From the first colon on. */
static bool slice(struct river_path_parser *p, int64_t start, struct river_vec *fragments)
{
	struct river_path_fragment f = {
		.kind = RIVER_PATH_SLICE, .start = start, .end = FAR, .step = 1
	};

	p->i++;
	if (!integer(p, &f.end))
		return false;
	if (river_path_accept(p, ":") && !integer(p, &f.step))
		return false;
	return push(p, fragments, &f);
}

static bool item(struct river_path_parser *p, struct river_path_item *ret)
{
	char c = river_path_peek(p);
	size_t ignored;

	*ret = (struct river_path_item){ 0 };
	if (c == '\'' || c == '"') {
		ret->name = river_path_text(p, &ignored);
		return ret->name;
	}
	if (c != '-' && c != ':' && !isdigit((unsigned char)c))
		return river_path_fail(p, "expected a text in quotes, a number, a slice, * or ?");
	return integer(p, &ret->index);
}

static bool items(struct river_path_parser *p, struct river_vec *fragments)
{
	struct river_vec all = RIVER_VEC_INIT(struct river_path_item);
	struct river_path_item one;

	do {
		if (!item(p, &one))
			return false;
		if (all.n_items == 0 && !one.name && river_path_peek(p) == ':')
			return slice(p, one.index, fragments);
		p->failed |= river_vec_push(&all, p->arena, &one) < 0;
	} while (!p->failed && river_path_accept(p, ","));
	return !p->failed && push_items(p, fragments, &all);
}

static bool after_bracket(struct river_path_parser *p, struct river_vec *fragments)
{
	struct river_path_fragment f = { .kind = RIVER_PATH_FILTER };
	bool ok;

	if (river_path_peek(p) == '*')
		ok = name_or_all(p, fragments);
	else if (river_path_accept(p, "?"))
		ok = river_path_filter(p, &f.filter) && push(p, fragments, &f);
	else
		ok = items(p, fragments);
	return ok && (river_path_accept(p, "]") || river_path_fail(p, "expected ]"));
}

bool river_path_fragments(struct river_path_parser *p, struct river_path *ret)
{
	struct river_vec fragments = RIVER_VEC_INIT(struct river_path_fragment);

	/* A name in front of all needs no "$.". */
	if (p->i == 0 && (is_name_byte(next(p)) || next(p) == '*') && !name_or_all(p, &fragments))
		return false;
	while (next(p) == '.' || next(p) == '[')
		if (p->s[p->i++] == '.' ? !after_dot(p, &fragments) : !after_bracket(p, &fragments))
			return false;
	ret->fragments = fragments.data;
	ret->n_fragments = fragments.n_items;
	return true;
}

int river_path_parse(const char *s, size_t n, struct river_arena *arena, struct river_path *ret,
		     const char **ret_problem)
{
	struct river_path_parser p = { .s = s, .n = n, .arena = arena };

	*ret = (struct river_path){ .is_empty = n == 0 };
	p.i = next(&p) == '$' || next(&p) == '@';
	if (river_path_fragments(&p, ret) && p.i < n)
		river_path_fail(&p, "expected . or [");
	if (p.failed)
		return -ENOMEM;
	*ret_problem = p.problem;
	return p.problem ? RIVER_INVALID : RIVER_OK;
}
