/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text, appended to a buffer. Pure. */
#ifndef XAGENT_AGENT_STORE_CONNECT_JSON_TEXT_H
#define XAGENT_AGENT_STORE_CONNECT_JSON_TEXT_H

#include "agent/util/buf.h"
#include "agent/util/str.h"

/* With its quotes; what is no UTF-8 becomes U+FFFD. What buf_append returns. */
int json_put_text(struct buf *out, struct str text);

/* The shortest digits that mean this very number; "NaN", "Infinity" and "-Infinity" (with quotes) where there are none. */
int json_put_double(struct buf *out, double value);

#endif
