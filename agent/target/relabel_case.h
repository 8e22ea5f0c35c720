/* SPDX-License-Identifier: Apache-2.0 */
/* Upper and lower case of text in UTF-8, without a locale. Pure. */
#ifndef XAGENT_AGENT_TARGET_RELABEL_CASE_H
#define XAGENT_AGENT_TARGET_RELABEL_CASE_H

#include <stddef.h>

#include "agent/util/buf.h"

/* Appends the text, character by character in the other case (simple mappings of Unicode). What
 * is no UTF-8 becomes U+FFFD. 0, -ENOBUFS, -ENOMEM. */
int relabel_append_upper(struct buf *out, const char *text, size_t n);
int relabel_append_lower(struct buf *out, const char *text, size_t n);

#endif
