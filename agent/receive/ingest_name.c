/* SPDX-License-Identifier: Apache-2.0 */
/* "app{key=value}". */
#include "agent/receive/ingest_name.h"

#include <errno.h>
#include <string.h>

#include "agent/util/label_name.h"
#include "agent/util/str.h"

#define NAME "__name__"

struct parser {
	struct arena *arena;
	struct ingest_name *name;
	struct buf *why;
};

static int complain(const struct parser *p, const char *what, struct str s, const char *bad)
{
	(void)buf_printf(p->why, "name: %s", what);
	if (bad)
		(void)buf_printf(
			p->why, ": %.*s: character is not allowed: '%.*s'", (int)s.n, s.p,
			(int)(str_utf8_len((struct str){ bad, s.n - (size_t)(bad - s.p) })), bad);
	return -EINVAL;
}

/* The first that may not be there; NULL: none. */
static const char *find_bad(struct str s, const char *also)
{
	for (size_t i = 0; i < s.n; i++)
		if (!label_name_is_next(s.p[i]) && !strchr(also, s.p[i]))
			return s.p + i;
	return NULL;
}

static const char *keep(const struct parser *p, struct str s)
{
	return arena_strndup(p->arena, s.p ? s.p : "", s.n);
}

static int take_app(const struct parser *p, struct str s)
{
	const char *bad = find_bad(s, ".-/");

	if (s.n == 0)
		return complain(p, "service name is required", s, NULL);
	if (bad)
		return complain(p, "invalid service name", s, bad);
	p->name->app = keep(p, s);
	return p->name->app ? 0 : -ENOMEM;
}

static struct label *find(struct ingest_name *name, struct str key)
{
	for (size_t i = 0; i < name->n; i++)
		if (str_eq(str_from(name->items[i].name), key))
			return &name->items[i];
	return NULL;
}

/* Nobody's name, or another one. */
static int replace_app(const struct parser *p, struct str value)
{
	if (value.n == 0)
		return complain(p, "service name is required", value, NULL);
	p->name->app = keep(p, value);
	return p->name->app ? 0 : -ENOMEM;
}

static int take_pair(const struct parser *p, struct str key, struct str value)
{
	const char *bad = find_bad(key, ".");
	struct label *l = find(p->name, key);

	if (str_eq(key, STR_LIT(NAME)))
		return replace_app(p, value);
	if (key.n == 0)
		return complain(p, "label name is required", key, NULL);
	if (bad)
		return complain(p, "invalid label name", key, bad);
	if (!l && p->name->n == LABELS_MAX)
		return complain(p, "too many labels", key, NULL);
	if (!l)
		l = &p->name->items[p->name->n++];
	*l = (struct label){ keep(p, key), keep(p, value) };
	return l->name && l->value ? 0 : -ENOMEM;
}

/* The part before one of `ends`, which is cut off together with it. False: none of them comes. */
static bool cut(struct str *rest, const char *ends, struct str *ret_part, char *ret_end)
{
	for (size_t i = 0; i < rest->n; i++) {
		if (!strchr(ends, rest->p[i]))
			continue;
		*ret_part = str_trim((struct str){ rest->p, i });
		*ret_end = rest->p[i];
		*rest = (struct str){ rest->p + i + 1, rest->n - i - 1 };
		return true;
	}
	return false;
}

int ingest_name_parse(const char *text, struct arena *arena, struct ingest_name *ret_name,
		      struct buf *why)
{
	const struct parser p = { arena, ret_name, why };
	struct str rest = str_from(text), app, key, value;
	char end = '\0';
	int r;

	*ret_name = (struct ingest_name){ 0 };
	if (!str_is_utf8(rest))
		return complain(&p, "not UTF-8", rest, NULL);
	if (!cut(&rest, "{", &app, &end)) {
		app = str_trim(rest);
		rest.n = 0;
	}
	r = take_app(&p, app);
	while (r == 0 && cut(&rest, "=}", &key, &end) && end == '=' &&
	       cut(&rest, ",}", &value, &end))
		r = take_pair(&p, key, value);
	return r;
}

const char *ingest_name_label(const struct ingest_name *name, const char *key)
{
	const struct label *l = find((struct ingest_name *)name, str_from(key));

	return l ? l->value : NULL;
}
