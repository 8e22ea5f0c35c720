/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to values and back; messages are those of Go's encoding/json. */
#ifndef XAGENT_RIVER_CONFIG_JSON_H
#define XAGENT_RIVER_CONFIG_JSON_H

#include "river-config/text.h"
#include "river-config/value.h"

enum river_json_numbers {
	RIVER_JSON_FLOATS,   /* all are floats, as from_json has it */
	RIVER_JSON_INTEGERS, /* what is written as an integer is one */
};

/*
 * RIVER_OK, RIVER_INVALID with *ret_problem set to what is wrong, or -ENOMEM. Of equal keys the last
 * one counts; what is no character in a text becomes a replacement character.
 */
int river_json_read(const char *s, size_t n, enum river_json_numbers numbers,
		    struct river_arena *arena, struct river_value **ret_value,
		    const char **ret_problem);

/*
 * Whether it is JSON at all, not nested deeper than RIVER_DEPTH_MAX. Appends the text to `clean`, all
 * that is no character replaced. NULL, or what is wrong, in clean's arena.
 */
const char *river_json_check(const char *s, size_t n, struct river_text *clean);

/* NULL, or what cannot be written (a function, a number that is none). The value must be shallow: see river_check_open. */
const char *river_json_write(struct river_text *t, const struct river_value *v);

#endif
