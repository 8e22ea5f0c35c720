/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile of stacks is of: told by the end of its app's name ("app.alloc_space"), as a Pyroscope server reads it. Pure. */
#ifndef XAGENT_AGENT_RECEIVE_PROFILE_TYPE_H
#define XAGENT_AGENT_RECEIVE_PROFILE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

struct profile_type {
	const char *metric; /* __name__ */
	const char *type, *unit;
	/* Counted in samples of a clock: with a rate they become "cpu" or "wall" in nanoseconds, with a period of CPU time. */
	const char *timed; /* the type then; NULL: they are what they are */
};

/* *ret_n: so much of the name is the app's. False: nobody knows such a type; then it is all of it. Without a '.' it is CPU time. */
bool profile_type_of_app(const char *app, struct profile_type *ret_type, size_t *ret_n);
/* By the end itself. */
bool profile_type_find(const char *suffix, struct profile_type *ret_type);

#endif
