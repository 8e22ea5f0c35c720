/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoded blocks and values as JSON, in the shape that web pages of such agents read:
 *
 *	body	[ { name, type: "attr", value: VALUE } | { name, type: "block", label, body } … ]
 *	VALUE	{ type: "string", value: … }
 *
 * Fields come in the order of their table; one that is not required and has its default is left out. A secret is never shown: its
 * text is "(secret)". All functions return a new reference, NULL when memory is out. Pure.
 */
#ifndef XAGENT_AGENT_COMPONENT_JSON_BODY_JSON_H
#define XAGENT_AGENT_COMPONENT_JSON_BODY_JSON_H

#include <jansson.h>

#include "river-config/river.h"

json_t *body_json(const struct river_schema *schema, const void *args);

/* Each member of an object as an attribute; an empty body for anything else and for NULL. */
json_t *body_json_of_object(const struct river_value *object);

json_t *value_json(const struct river_value *v);

/* A JSON string; what is no UTF-8 becomes U+FFFD. */
json_t *text_json(const char *s, size_t n);

#endif
