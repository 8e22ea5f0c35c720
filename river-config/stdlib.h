/* SPDX-License-Identifier: Apache-2.0 */
/* The standard library: one table, a row a name. */
#ifndef XAGENT_RIVER_CONFIG_STDLIB_H
#define XAGENT_RIVER_CONFIG_STDLIB_H

#include "river-config/error.h"

/* One call: arguments in, a value or an error out. */
struct river_call {
	const struct river_scope *scope;
	const struct river_value *function; /* whom errors without a better place are about */
	struct river_value **args;
	size_t n_args;
	struct river_error *err; /* its arena is where results go */
	struct river_value *result;
};

/* RIVER_OK with `result` set (NULL: memory was out), RIVER_INVALID with `err` set, or -ENOMEM. */
typedef int (*river_call_fn)(struct river_call *c);

struct river_function {
	const char *name; /* "string.join" */
	river_call_fn call;
	unsigned char n_args;
	bool is_variadic;   /* n_args or more */
	bool is_constant;   /* no function: evaluated where it is named */
	bool is_deprecated; /* an old flat name */
};

/* What a first name means, "sys" being an object of functions. RIVER_OK, -ENOMEM, or -ENOENT. */
int river_stdlib_value(const char *name, const struct river_scope *scope, struct river_error *err,
		       struct river_value **ret_value);

/* Checks the number of arguments and calls. */
int river_function_call(struct river_call *c);

/* Rows of stdlib_string.c; every further family is another such file and a line in stdlib.c. */
extern const struct river_function river_stdlib_strings[];
extern const size_t river_stdlib_n_strings;

#endif
