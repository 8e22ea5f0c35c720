/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions in the syntax of RE2, as Go has it, rewritten for PCRE2.
 *
 * The text is parsed whole and written anew, so nothing reaches PCRE2 that RE2 does not know (references, lookaround, possessive
 * and atomic groups, recursion, conditions, callouts, \K, \R, \X and so on), and what both know means what it means in RE2: classes are
 * ASCII unless they name a property of Unicode, `$` is the very end, `\s` has no vertical tab. Mistakes are told in the words of
 * Go. Pure.
 */
#ifndef XAGENT_AGENT_TARGET_RELABEL_SYNTAX_H
#define XAGENT_AGENT_TARGET_RELABEL_SYNTAX_H

#include <stdint.h>

#include "agent/util/buf.h"

#define RELABEL_WRONG 1 /* the outcome of a text that is none; `why` says what is wrong */

/* Groups that capture, from 1; a name is NULL when there is none. */
struct relabel_groups {
	char **names; /* n + 1, the first for the whole match */
	size_t n;
};

void relabel_groups_fini(struct relabel_groups *g);

/*
 * Appends the text for PCRE2 (UTF, DOTALL) to `out`. Its groups with a name are none of the text's. 0, RELABEL_WRONG, -ENOMEM. `ret_groups` is
 * the caller's to empty, whatever the result.
 */
int relabel_syntax_translate(const char *text, struct buf *out, struct buf *why,
			     struct relabel_groups *ret_groups);

#endif
