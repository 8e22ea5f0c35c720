/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangled text without what makes names long: parameters and template arguments.
 *
 * Each function appends the shorter form of `text` to `out` and returns true, or false when
 * brackets do not match or nest deeper than SIMPLIFY_MAX_DEPTH, or `out` is full; `out` is then
 * unspecified. Pure.
 */
#ifndef XAGENT_AGENT_OBJECT_DEMANGLE_SIMPLIFY_H
#define XAGENT_AGENT_OBJECT_DEMANGLE_SIMPLIFY_H

#include <stdbool.h>

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* Open brackets at one place; real names stay below 30. */
#define SIMPLIFY_MAX_DEPTH 256

bool simplify_cxx(struct str text, bool keep_templates, struct buf *out);
bool simplify_rust(struct str text, struct buf *out);
bool simplify_d(struct str text, bool keep_templates, struct buf *out);

#endif
