/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a selector as a list of matchers; for selector*.c only. */
#ifndef XAGENT_AGENT_STORE_QUERY_SELECTOR_SYNTAX_H
#define XAGENT_AGENT_STORE_QUERY_SELECTOR_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/store/query/selector.h"
#include "agent/target/relabel_regex.h"

enum selector_operator { SELECTOR_EQUAL, SELECTOR_UNEQUAL, SELECTOR_LIKE, SELECTOR_UNLIKE };

struct selector_matcher {
	char *name;
	enum selector_operator op;
	char *value; /* n_value bytes, any of them, and a NUL */
	size_t n_value;
	struct relabel_regex *regex; /* of LIKE and UNLIKE */
};

struct selector {
	char *head; /* or NULL */
	struct selector_matcher matchers[SELECTOR_MATCHERS_MAX];
	size_t n_matchers;
	struct relabel_pass pass; /* of all segments together */
};

/* Where the parser is. */
struct selector_scan {
	const char *text;
	const char *at;
	struct buf *why;
};

/* All of these return 0, SELECTOR_WRONG or -ENOMEM. */
int selector_parse(struct selector_scan *scan, struct selector *s);

/* A string with its quotes at `at`; *ret_text is n bytes and a NUL, the caller's to free. */
int selector_string(struct selector_scan *scan, char **ret_text, size_t *ret_n);

/* SELECTOR_WRONG, with the place before the sentence. */
int selector_refuse(const struct selector_scan *scan, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
