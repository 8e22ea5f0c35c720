/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of selectors, a function a production. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/selector_syntax.h"
#include "agent/util/label_name.h"
#include "agent/util/str.h"

/* Of a text that a message repeats. */
#define SHOWN_MAX 64

int selector_refuse(const struct selector_scan *scan, const char *at, const char *fmt, ...)
{
	size_t line = 1, column = 1;
	va_list ap;

	assert(at >= scan->text);
	for (const char *s = scan->text; s < at; s++) {
		column = *s == '\n' ? 1 : column + 1;
		line += *s == '\n';
	}
	(void)buf_printf(scan->why, "%zu:%zu: parse error: ", line, column);
	va_start(ap, fmt);
	(void)buf_vprintf(scan->why, fmt, ap);
	va_end(ap);
	return SELECTOR_WRONG;
}

/* Blanks, and comments from # up to the end of the line. */
static void skip_blank(struct selector_scan *scan)
{
	for (;;) {
		scan->at += strspn(scan->at, " \t\r\n");
		if (*scan->at != '#')
			return;
		scan->at += strcspn(scan->at, "\n");
	}
}

/* The length of a name at `at`: a colon is part of those of metrics alone. */
static size_t name_length(const char *at, bool metric)
{
	size_t n = 0;

	while ((n > 0 ? label_name_is_next(at[n]) : label_name_is_first(at[n])) ||
	       (metric && at[n] == ':'))
		n++;
	return n;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static int refuse_here(const struct selector_scan *scan, bool in_braces, const char *expected)
{
	const char *where = in_braces ? " in label matching" : "";
	const char *comma = expected ? ", expected " : "";
	size_t n = name_length(scan->at, !in_braces);

	expected = expected ? expected : "";
	if (!*scan->at)
		return selector_refuse(scan, scan->at, "unexpected end of input%s%s%s",
				       in_braces ? " inside braces" : "", comma, expected);
	if (n > 0)
		return selector_refuse(scan, scan->at, "unexpected identifier \"%.*s\"%s%s%s",
				       (int)(n < SHOWN_MAX ? n : SHOWN_MAX), scan->at, where, comma,
				       expected);
	if (is_quote(*scan->at))
		return selector_refuse(scan, scan->at, "unexpected string%s%s%s", where, comma,
				       expected);
	n = str_utf8_len(str_from(scan->at));
	return selector_refuse(scan, scan->at, "unexpected \"%.*s\"%s%s%s", (int)(n ? n : 1),
			       scan->at, where, comma, expected);
}

/* operator = "=" | "!=" | "=~" | "!~" */
static int parse_operator(struct selector_scan *scan, enum selector_operator *ret_op)
{
	static const struct {
		const char *text;
		enum selector_operator op;
	} operators[] = { { "=~", SELECTOR_LIKE },
			  { "!~", SELECTOR_UNLIKE },
			  { "!=", SELECTOR_UNEQUAL },
			  { "=", SELECTOR_EQUAL } };

	skip_blank(scan);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (strncmp(scan->at, operators[i].text, strlen(operators[i].text)) == 0) {
			scan->at += strlen(operators[i].text);
			*ret_op = operators[i].op;
			return 0;
		}
	return refuse_here(scan, true, "label matching operator");
}

static int compile(struct selector_scan *scan, const char *at, struct selector_matcher *m)
{
	_cleanup_buf_ struct buf why = BUF_INIT(2 * SELECTOR_TEXT_MAX);
	int r;

	if (m->op == SELECTOR_EQUAL || m->op == SELECTOR_UNEQUAL)
		return 0;
	if (strlen(m->value) != m->n_value)
		return selector_refuse(scan, at, "a regular expression with a NUL byte");
	r = relabel_regex_new(m->value, &why, &m->regex);
	return r == RELABEL_WRONG ? selector_refuse(scan, at, "%s", buf_str(&why)) : r;
}

/* value = string */
static int parse_value(struct selector_scan *scan, const char *at, struct selector_matcher *m)
{
	int r;

	skip_blank(scan);
	if (!is_quote(*scan->at))
		return refuse_here(scan, true, "string");
	r = selector_string(scan, &m->value, &m->n_value);
	return r == 0 ? compile(scan, at, m) : r;
}

/* name = identifier | string */
static int parse_name(struct selector_scan *scan, struct selector_matcher *m)
{
	size_t n = name_length(scan->at, false);
	int r;

	if (n == 0 && !is_quote(*scan->at))
		return refuse_here(scan, true, "identifier or \"}\"");
	if (n == 0) {
		const char *at = scan->at;

		r = selector_string(scan, &m->name, &n);
		return r == 0 && strlen(m->name) != n
			       ? selector_refuse(scan, at, "a label name with a NUL byte")
			       : r;
	}
	m->name = strndup(scan->at, n);
	scan->at += n;
	return m->name ? 0 : -ENOMEM;
}

/* A string alone, among the matchers, is the name of the metric. */
static int take_metric(struct selector_matcher *m)
{
	m->op = SELECTOR_EQUAL;
	m->value = TAKE_PTR(m->name);
	m->n_value = strlen(m->value);
	m->name = strdup("__name__");
	return m->name ? 0 : -ENOMEM;
}

/* matcher = name operator value | string */
static int parse_matcher(struct selector_scan *scan, struct selector *s)
{
	struct selector_matcher *m = &s->matchers[s->n_matchers];
	const char *at = scan->at;
	int r;

	if (s->n_matchers == SELECTOR_MATCHERS_MAX)
		return selector_refuse(scan, at, "more than %d matchers", SELECTOR_MATCHERS_MAX);
	s->n_matchers++;
	r = parse_name(scan, m);
	if (r != SELECTOR_PARSED)
		return r;
	skip_blank(scan);
	if (is_quote(*at) && (*scan->at == ',' || *scan->at == '}'))
		return take_metric(m);
	r = parse_operator(scan, &m->op);
	if (r != SELECTOR_PARSED)
		return r;
	return parse_value(scan, at, m);
}

/* matchers = "{" [ matcher { "," matcher } [ "," ] ] "}" */
static int parse_matchers(struct selector_scan *scan, struct selector *s)
{
	scan->at++;
	skip_blank(scan);
	while (*scan->at != '}') {
		int r = parse_matcher(scan, s);

		if (r != SELECTOR_PARSED)
			return r;
		skip_blank(scan);
		if (*scan->at == ',')
			scan->at++;
		else if (*scan->at != '}')
			return refuse_here(scan, true, "\",\" or \"}\"");
		skip_blank(scan);
	}
	scan->at++;
	return SELECTOR_PARSED;
}

/* selector = [ metric ] [ matchers ] */
int selector_parse(struct selector_scan *scan, struct selector *s)
{
	size_t n;

	assert(s->n_matchers == 0 && !s->head);
	skip_blank(scan);
	n = name_length(scan->at, true);
	if (n > 0) {
		s->head = strndup(scan->at, n);
		if (!s->head)
			return -ENOMEM;
		scan->at += n;
		skip_blank(scan);
	}
	if (*scan->at == '{') {
		int r = parse_matchers(scan, s);

		if (r != SELECTOR_PARSED)
			return r;
	}
	skip_blank(scan);
	return *scan->at ? refuse_here(scan, false, NULL) : SELECTOR_PARSED;
}
