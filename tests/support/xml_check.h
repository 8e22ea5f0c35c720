/* SPDX-License-Identifier: Apache-2.0 */
/* Whether bytes are an XML document, as far as our own writers use XML: no document type, no CDATA. */
#ifndef XAGENT_TESTS_SUPPORT_XML_CHECK_H
#define XAGENT_TESTS_SUPPORT_XML_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Tags are balanced, attributes quoted, entities known, characters those of XML 1.0. */
bool xml_is_well_formed(const char *text, size_t n);

#endif
