/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions in the syntax of RE2, checked and handed on to PCRE2.
 *
 * PCRE2 knows nearly all that RE2 knows and reads it alike. What it alone knows is refused here: references, lookaround, possessive and
 * atomic groups, recursion, conditions, comments, callouts, verbs, \K, \R, \X and so on. What both read differently is written anew: \v,
 * braces that count nothing, a hyphen behind a class within a class. What is left is read as PCRE2 does: \s takes \v too, \p{Greek}
 * asks for the extensions of a script. Pure.
 */
#ifndef XAGENT_AGENT_TARGET_RELABEL_SYNTAX_H
#define XAGENT_AGENT_TARGET_RELABEL_SYNTAX_H

#include "agent/util/buf.h"

#define RELABEL_WRONG 1 /* the outcome of a text that is none; `why` says what is wrong */

/* Appends the text for PCRE2 to `out`, at most twice as long. 0, RELABEL_WRONG, -ENOBUFS, -ENOMEM. */
int relabel_syntax_translate(const char *text, struct buf *out, struct buf *why);

#endif
