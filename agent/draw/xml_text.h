/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as text of an XML document. Pure. */
#ifndef XAGENT_AGENT_DRAW_XML_TEXT_H
#define XAGENT_AGENT_DRAW_XML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/util/buf.h"

/* Whether a text takes no more columns of a font with equal widths. */
bool xml_text_fits(const char *text, size_t columns);

/*
 * At most so many columns, "…" included where more would follow. Good in elements and in attributes; what is no
 * UTF-8, and what XML 1.0 has no place for, becomes U+FFFD. 0 or -errno of buf.
 */
int xml_text(struct buf *out, const char *text, size_t columns);

#endif
