/* SPDX-License-Identifier: Apache-2.0 */
/* Values under the verbs of string.format, the way Go's fmt package prints them. */
#ifndef XAGENT_RIVER_CONFIG_STDLIB_FORMAT_H
#define XAGENT_RIVER_CONFIG_STDLIB_FORMAT_H

#include "river-config/text.h"
#include "river-config/value.h"

/* Largest width and precision: of a double's digits none is further from the point. */
#define RIVER_FORMAT_NUMBER_MAX 1100

/* What stands between the percent sign and the verb. */
struct river_format {
	struct river_text *out;
	bool minus;
	bool plus;
	bool sharp; /* a prefix: whole numbers under b, o, x and X only */
	bool space;
	bool zero;
	bool has_precision;
	size_t width; /* in characters; 0: none */
	size_t precision;
	char verb; /* of "vtdbcoUxXeEfFgGsq" */
};

/* False: the verb, or a flag, does not fit the value, or one within it, which is in *ret_misfit. */
bool river_format_value(const struct river_format *f, const struct river_value *v,
			const struct river_value **ret_misfit);

#endif
