/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular expression of a relabel rule: RE2's syntax, anchored, over text that need not be UTF-8.
 *
 * The engine backtracks, so an expression can be slow on some text. A match may take a few steps for nothing; what takes more is
 * paid from the budget of a pass, and when that is spent it is given up. So a pass over any number of targets ends. Loop thread.
 */
#ifndef XAGENT_AGENT_TARGET_RELABEL_REGEX_H
#define XAGENT_AGENT_TARGET_RELABEL_REGEX_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/target/relabel_syntax.h"
#include "agent/util/str.h"

/* Of one match, in calls of PCRE2's matching function (some 20 ns each), before and when it is paid for. */
#define RELABEL_FREE_STEPS 2000
#define RELABEL_MATCH_STEPS 200000
/* Of one pass: less than half a second. */
#define RELABEL_PASS_STEPS ((uint64_t)20 * 1000 * 1000)

struct relabel_pass {
	uint64_t n_steps;    /* that may still be paid */
	uint64_t n_given_up; /* matches: taken as none */
	uint64_t n_too_long; /* labels that would have become too long: left as they were */
};

#define RELABEL_PASS_INIT ((struct relabel_pass){ .n_steps = RELABEL_PASS_STEPS })

#define RELABEL_NO_OFFSET SIZE_MAX

/* Offsets of begin and end, the whole match first, then groups; RELABEL_NO_OFFSET for a group that took no part. */
struct relabel_spans {
	const size_t *offsets; /* valid until the next match */
	size_t n;
};

struct relabel_regex;

/* Compiles ^(?s:text)$. 0; RELABEL_WRONG with `why`; -ENOMEM. */
int relabel_regex_new(const char *text, struct buf *why, struct relabel_regex **ret_regex);
void relabel_regex_free(struct relabel_regex *re); /* NULL-safe */
DEFINE_CLEANUP(struct relabel_regex *, relabel_regex_free);

/* Groups that capture. */
size_t relabel_regex_n_groups(const struct relabel_regex *re);
/* The first group of that name that took part in the match; SIZE_MAX: none. */
size_t relabel_regex_named(const struct relabel_regex *re, struct str name,
			   const struct relabel_spans *spans);

/* `ret_spans` may be NULL. What is given up is no match, and counted. */
bool relabel_regex_match(struct relabel_regex *re, const char *text, size_t n,
			 struct relabel_pass *pass, struct relabel_spans *ret_spans);

#endif
