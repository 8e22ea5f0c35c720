/* SPDX-License-Identifier: Apache-2.0 */
/* Label sets as text, for tables: "name=value|name=value". */
#ifndef XAGENT_TESTS_UNIT_AGENT_TARGET_MAKE_LABELS_H
#define XAGENT_TESTS_UNIT_AGENT_TARGET_MAKE_LABELS_H

#include <stdlib.h>
#include <string.h>

#include "agent/target/label.h"
#include "tests/support/unit.h"

#define MAKE_LABELS_MAX 600

/* Cuts `text` in place; a pair without '=' has an empty value. */
static inline size_t split_labels(char *text, struct label items[MAKE_LABELS_MAX])
{
	size_t n = 0;
	char *rest = text;

	while (rest && *rest) {
		char *name = strsep(&rest, "|");
		char *value = strchr(name, '=');

		assert_true(n < MAKE_LABELS_MAX);
		if (value)
			*value++ = '\0';
		items[n++] = (struct label){ name, value ? value : "" };
	}
	return n;
}

static inline struct labels *make_labels(const char *text)
{
	struct label items[MAKE_LABELS_MAX];
	_cleanup_free_ char *copy = strdup(text);
	struct labels *l = NULL;

	assert_non_null(copy);
	assert_int_equal(labels_new(items, split_labels(copy, items), &l), 0);
	return l;
}

/* To be freed. */
static inline char *labels_text(const struct labels *l)
{
	size_t size = 1;

	for (size_t i = 0; i < l->n; i++)
		size += strlen(l->items[i].name) + strlen(l->items[i].value) + 2;
	char *text = malloc(size), *at = text;
	assert_non_null(text);
	*at = '\0';
	for (size_t i = 0; i < l->n; i++) {
		at = i > 0 ? stpcpy(at, "|") : at;
		at = stpcpy(stpcpy(stpcpy(at, l->items[i].name), "="), l->items[i].value);
	}
	return text;
}

static inline void assert_labels(const struct labels *l, const char *expected)
{
	_cleanup_free_ char *text = labels_text(l);

	assert_string_equal(text, expected);
}

#endif
