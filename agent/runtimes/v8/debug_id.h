/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a script is known by beside its name: "//# debugId=UUID" at its end (ECMA-426), by which its source map is found. Pure.
 *
 * It counts in the last lines alone, which have nothing but comments of one line: so it is never a part of a text that stands in the script.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_DEBUG_ID_H
#define XAGENT_AGENT_RUNTIMES_V8_DEBUG_ID_H

#include "agent/runtimes/v8/tokens.h"

/* A UUID as a text (RFC 9562, 4), and its end. */
#define DEBUG_ID_BYTES 37

/* Of the last characters of a script; `is_whole`: they are all of it. In small letters; false: it has none. */
bool debug_id_find(const struct source *end, bool is_whole, char to[DEBUG_ID_BYTES]);

#endif
