/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which series: {a="b", c!="d", e=~"f.*", g!~`h`}, as PromQL has it.
 *
 * Expressions are RE2's and match the whole value. Strings are in double quotes, single quotes or backquotes; a label that a series does
 * not have counts as empty. A selector may also begin with a metric name or profile type id: `process_cpu:cpu:nanoseconds:cpu:nanoseconds{…}`.
 */
#ifndef XAGENT_AGENT_STORE_QUERY_SELECTOR_H
#define XAGENT_AGENT_STORE_QUERY_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/store/segment/segment.h"
#include "agent/util/buf.h"

/* Of the text: a choice of some thousand services in one expression. */
#define SELECTOR_TEXT_MAX ((size_t)64 << 10)
/* More than twice as many labels as a series may have. */
#define SELECTOR_MATCHERS_MAX 64

enum selector_outcome { SELECTOR_PARSED, SELECTOR_WRONG };

struct selector;

/* "" and "{}" are all series. SELECTOR_PARSED; SELECTOR_WRONG with a sentence in `why` that names the place; -ENOMEM. */
int selector_new(const char *text, struct buf *why, struct selector **ret_selector);
void selector_free(struct selector *s); /* NULL-safe */
DEFINE_CLEANUP(struct selector *, selector_free);

/* What was before the braces, NULL when nothing was. Series that are selected have it as __name__ or __profile_type__. */
const char *selector_head(const struct selector *s);

/* What the selector says of the series of one segment: each value is compared once. One thread at a time. 0; -ENOMEM; -ETIMEDOUT: an
 * expression takes too long on a value, so nobody knows whether it matches. */
struct selector_on;
int selector_on_new(struct selector *s, const struct segment *segment, struct selector_on **ret_on);
void selector_on_free(struct selector_on *on); /* NULL-safe */
DEFINE_CLEANUP(struct selector_on *, selector_on_free);
bool selector_on_match(const struct selector_on *on, size_t series);

#endif
