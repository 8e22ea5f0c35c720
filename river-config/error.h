/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an expression has no value.
 *
 * The text is `<expression><path> <problem>`: the expression is the innermost one in the file that
 * yielded the bad value, the path leads on from there to what cannot be seen in the file. A fault
 * finds its place while it travels outwards: each container that has no expression of its own puts
 * a step in front of the path; the first one that has ends the search.
 */
#ifndef XAGENT_RIVER_CONFIG_ERROR_H
#define XAGENT_RIVER_CONFIG_ERROR_H

#include "river-config/value.h"

struct river_error {
	struct river_arena *arena;
	const struct river_expr *origin; /* NULL: not found yet */
	const char *path;
	const char *problem; /* NULL: no error */

	/* A message about a place rather than a value: shown without the expression's text. */
	const struct river_range *range;
};

/* Each returns RIVER_INVALID, or -ENOMEM. */
int river_error_set(struct river_error *err, const struct river_value *v, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int river_error_set_at(struct river_error *err, const struct river_range *range, const char *fmt,
		       ...) __attribute__((format(printf, 3, 4)));
int river_error_type(struct river_error *err, const struct river_value *v,
		     enum river_type expected);

/* On the way out through `container`, whose item or member was wrong. `r` is passed through. */
int river_error_in_item(struct river_error *err, const struct river_value *container, size_t i,
			int r);
int river_error_in_member(struct river_error *err, const struct river_value *container,
			  const char *key, int r);

/* Appends the diagnostic; RIVER_INVALID or -ENOMEM. */
int river_error_report(const struct river_error *err, struct river_diags *diags);

#endif
