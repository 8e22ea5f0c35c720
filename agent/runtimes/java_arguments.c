/* SPDX-License-Identifier: Apache-2.0 */
/* One type after another. */
#include "agent/runtimes/java_arguments.h"

#include <stdint.h>
#include <string.h>

#include "agent/runtimes/name_texts.h"
#include "agent/util/macro.h"

struct writer {
	char *to;
	size_t at;
	size_t n_to;
};

static void put(struct writer *w, const char *text)
{
	w->at = name_texts_utf8(text, strlen(text), WIRE_UTF8, w->to, w->at, w->n_to);
}

static const char *primitive(char c)
{
	static const struct {
		char c;
		const char *name;
	} names[] = { { 'B', "byte" }, { 'C', "char" }, { 'D', "double" }, { 'F', "float" },
		      { 'I', "int" },  { 'J', "long" }, { 'S', "short" },  { 'Z', "boolean" } };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].c == c)
			return names[i].name;
	return NULL;
}

/* The class in L…; without its package. Returns how many bytes it has there; 0: it has no end. */
static size_t put_class(struct writer *w, const char *text, size_t n)
{
	const char *end = memchr(text, ';', n), *begin = text + 1;

	if (!end)
		return 0;
	for (const char *at = begin; at < end; at++)
		if (*at == '/' && !(at + 2 < end && at[1] == '0' && at[2] == 'x'))
			begin = at + 1;
	w->at = name_texts_utf8(begin, (size_t)(end - begin), WIRE_JAVA_CLASS, w->to, w->at,
				w->n_to);
	return (size_t)(end - text) + 1;
}

/* One type. Returns how many bytes it has; 0: it is none. */
static size_t put_type(struct writer *w, const char *text, size_t n)
{
	size_t n_arrays = 0, n_bytes;

	while (n_arrays < n && text[n_arrays] == '[')
		n_arrays++;
	if (n_arrays == n)
		return 0;
	const char *name = primitive(text[n_arrays]);
	if (name)
		put(w, name);
	else if (text[n_arrays] != 'L')
		return 0;
	n_bytes = name ? 1 : put_class(w, text + n_arrays, n - n_arrays);
	if (!n_bytes)
		return 0;
	for (size_t i = 0; i < n_arrays; i++)
		put(w, "[]");
	return n_arrays + n_bytes;
}

static bool is_type(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] == '[')
		i++;
	return i < n &&
	       (primitive(text[i]) || (text[i] == 'L' && memchr(text + i, ';', n - i)));
}

/* Behind the parenthesis. Of a type that is none nothing is told, as of void. */
static void put_result(struct writer *w, const char *text, size_t n)
{
	if (!is_type(text, n))
		return;
	put(w, ": ");
	(void)put_type(w, text, n);
}

size_t java_arguments(const char *descriptor, size_t n, char *to, size_t at, size_t n_to)
{
	struct writer w = { to, at, n_to };
	size_t i = 1;

	put(&w, "(");
	while (n && descriptor[0] == '(' && i < n && descriptor[i] != ')') {
		if (i > 1)
			put(&w, ", ");
		size_t n_bytes = put_type(&w, descriptor + i, n - i);
		if (!n_bytes)
			break;
		i += n_bytes;
	}
	bool is_whole = n && descriptor[0] == '(' && i < n && descriptor[i] == ')';
	if (!is_whole)
		put(&w, NAME_TEXTS_ELLIPSIS);
	put(&w, ")");
	if (is_whole)
		put_result(&w, descriptor + i + 1, n - i - 1);
	return w.at;
}
