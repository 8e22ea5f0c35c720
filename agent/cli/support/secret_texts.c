/* SPDX-License-Identifier: Apache-2.0 */
/* Literals that are secrets. */
#include "agent/cli/support/secret_texts.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/component/json/body_json.h"
#include "agent/util/cleanup.h"
#include "river-config/river.h"

/* More than any configuration has; each is looked for in all of the bundle. */
#define MAX_TEXTS 4096
/* A configuration in a literal of a configuration. */
#define MAX_DEPTH 3
/* Of one literal: many times what the largest file can hold. */
#define LITERAL_MAX_BYTES ((size_t)256 << 20)

struct scan {
	struct secret_texts *texts;
	bool broken; /* not the language: what looks like the label of a block is one */
	int depth;
};

void secret_texts_fini(struct secret_texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i]);
	free(t->items);
	*t = (struct secret_texts){ 0 };
}

static bool is_known(const struct secret_texts *t, const char *text, size_t n)
{
	for (size_t i = 0; i < t->n; i++)
		if (strlen(t->items[i]) == n && memcmp(t->items[i], text, n) == 0)
			return true;
	return false;
}

static int add(struct secret_texts *t, const char *text, size_t n)
{
	unsigned char first = n ? (unsigned char)text[0] : 0;

	n = strnlen(text, n);
	if (n < SECRET_TEXT_MIN_BYTES || is_known(t, text, n))
		return 0;
	if (t->n >= MAX_TEXTS)
		return -E2BIG;
	char **items = reallocarray(t->items, t->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	t->items = items;
	items[t->n] = strndup(text, n);
	if (!items[t->n])
		return -ENOMEM;
	t->n++;
	t->starts[first / 64] |= UINT64_C(1) << (first % 64);
	return 0;
}

/* Without the quotes around it. */
static int add_json(struct secret_texts *t, const char *text, size_t n)
{
	json_t *json = text_json(text, n);
	_cleanup_free_ char *dump = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
	size_t len = dump ? strlen(dump) : 0;

	json_decref(json);
	return len >= 2 ? add(t, dump + 1, len - 2) : -ENOMEM;
}

static int add_literals(struct scan scan, const char *from, const char *to);

static int add_meaning(struct scan scan, const char *text, size_t n)
{
	int r = add(scan.texts, text, n);

	if (r < 0)
		return r;
	r = add_json(scan.texts, text, n);
	if (r < 0)
		return r;
	scan.depth++;
	return scan.depth < MAX_DEPTH ? add_literals(scan, text, text + n) : 0;
}

/* `n` bytes with their quotes. */
static int add_literal(struct scan scan, const char *quoted, size_t n)
{
	const struct river_scope scope = { 0 };
	const struct river_expr *expr = NULL;
	const struct river_value *v = NULL;
	struct river_arena arena;
	struct river_diags diags;
	size_t len = 0;
	int r = add(scan.texts, quoted + 1, n - 2);

	if (r < 0)
		return r;
	river_arena_init(&arena, LITERAL_MAX_BYTES);
	river_diags_init(&diags, &arena);
	r = river_parse_expr("", quoted, n, &arena, &diags, &expr);
	if (r == RIVER_OK)
		r = river_eval(expr, &scope, &arena, &diags, &v);
	if (r == RIVER_OK) {
		const char *text = river_value_get_string(v, &len);

		r = text ? add_meaning(scan, text, len) : 0;
	}
	river_arena_fini(&arena);
	return r < 0 ? r : 0;
}

/* Where the literal that begins at `from` ends, on its quote, or at `to`. One in double quotes has no line break. */
static const char *literal_end(const char *from, const char *to)
{
	const char quote = *from;
	const char *at = from + 1;

	while (at < to && *at != quote && (quote == '`' || *at != '\n'))
		at += *at == '\\' && quote == '"' && at + 1 < to ? 2 : 1;
	return at;
}

/* "key" = */
static bool is_key(const char *after, const char *to)
{
	while (after < to && (*after == ' ' || *after == '\t'))
		after++;
	return after < to && *after == '=' && (after + 1 == to || after[1] != '=');
}

/* block "label" */
static bool is_label(const char *begin, const char *at)
{
	if (at == begin || (at[-1] != ' ' && at[-1] != '\t'))
		return false;
	while (at > begin && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at > begin && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
}

static int add_literals(struct scan scan, const char *from, const char *to)
{
	const char *begin = from;
	int r = 0;

	while (r == 0 && from < to) {
		const char *end;

		if (*from != '"' && *from != '`') {
			from++;
			continue;
		}
		end = literal_end(from, to);
		bool whole = end < to && *end == *from;
		if (whole && !is_key(end + 1, to) && !(scan.broken && is_label(begin, from)))
			r = add_literal(scan, from, (size_t)(end - from) + 1);
		else if (!whole)
			r = add(scan.texts, from + 1, (size_t)(end - from) - 1);
		from = end < to ? end + 1 : to;
	}
	return r;
}

int secret_texts_add_literals(struct secret_texts *t, const char *from, const char *to)
{
	assert(from <= to);
	return add_literals((struct scan){ .texts = t }, from, to);
}

int secret_texts_add_broken(struct secret_texts *t, const char *from, const char *to)
{
	assert(from <= to);
	return add_literals((struct scan){ .texts = t, .broken = true }, from, to);
}

size_t secret_texts_match(const struct secret_texts *t, const char *at, const char *end)
{
	assert(at < end);

	unsigned char first = (unsigned char)*at;
	size_t longest = 0;

	if (!(t->starts[first / 64] >> (first % 64) & 1))
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		size_t n = strlen(t->items[i]);

		if (n > longest && n <= (size_t)(end - at) && memcmp(at, t->items[i], n) == 0)
			longest = n;
	}
	return longest;
}
