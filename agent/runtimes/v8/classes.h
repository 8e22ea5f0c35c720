/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which classes the methods of a script are of: V8 keeps a method's name and place, and the script's source, but not the class. Pure.
 *
 * The source is read from its beginning to its end, by words and brackets. Where what a slash or a brace is cannot be told for certain, or brackets do not
 * match, none of the script's methods has a class.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_CLASSES_H
#define XAGENT_AGENT_RUNTIMES_V8_CLASSES_H

#include "agent/runtimes/v8/tokens.h"

/* A part of the source. */
struct source_part {
	uint32_t begin, end;
};

/* As V8 has its place: from the parenthesis before its parameters to behind its closing brace. */
struct class_method {
	struct source_part place;
	struct source_part name;
	struct source_part of; /* the name of its class */
	const char *before;    /* what is shown before its name: "get ", "set ", or "" */
};

struct class_methods {
	struct class_method *methods; /* by where they begin */
	size_t n;
};

/* Of as many methods as max_bytes hold; those behind them are left out. 0, or -EINVAL: not for certain; -ENOMEM. The methods are to be freed. */
int class_methods_read(const struct source *source, size_t max_bytes,
		       struct class_methods *ret_methods);

#endif
