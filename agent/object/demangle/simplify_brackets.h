/* SPDX-License-Identifier: Apache-2.0 */
/* Finding one's way among the brackets of demangled names, where '<' may be an operator. Pure. */
#ifndef XAGENT_AGENT_OBJECT_DEMANGLE_SIMPLIFY_BRACKETS_H
#define XAGENT_AGENT_OBJECT_DEMANGLE_SIMPLIFY_BRACKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/str.h"

/* A letter of an identifier; bytes of UTF-8 are. */
bool is_name_char(char c);

/* Length of the C++ operator token at `at` ("operator<<", "operator()", "operator new" without what
 * follows), 0 when none begins there. */
size_t operator_len(struct str s, size_t at);

/* The place behind the bracket that matches the one at `at`; 0 when there is none or
 * SIMPLIFY_MAX_DEPTH is exceeded. Angle brackets inside of round and square ones are comparisons
 * and are not counted. */
size_t bracket_end(struct str s, size_t at);

#endif
