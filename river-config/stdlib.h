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
	bool is_variadic;     /* n_args or more */
	bool is_constant;     /* no function: evaluated where it is named */
	bool is_deprecated;   /* an old flat name */
	bool is_experimental; /* needs a scope of that stability */
};

/* A family of functions: the rows of one file. */
struct river_family {
	const struct river_function *rows;
	size_t n_rows;
};

#define RIVER_FAMILY(table)                                                 \
	{                                                                   \
		.rows = (table), .n_rows = sizeof(table) / sizeof(table[0]) \
	}

/* A function under its name and under the flat one that it had before there were namespaces. */
#define RIVER_FUNCTION_AND_OLD(name_now, name_before, function, n)                              \
	{ .name = (name_now), .call = (function), .n_args = (n) },                              \
	{                                                                                       \
		.name = (name_before), .call = (function), .n_args = (n), .is_deprecated = true \
	}

/* What a first name means, "sys" being an object of functions. RIVER_OK, -ENOMEM, or -ENOENT. */
int river_stdlib_value(const char *name, const struct river_scope *scope, struct river_error *err,
		       struct river_value **ret_value);

/* Checks the number of arguments and calls. */
int river_function_call(struct river_call *c);

/* What is wrong with the call as a whole; the message names the function. */
int river_call_error(struct river_call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same as the whole message, at the function's name. */
int river_call_error_bare(struct river_call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Secrets, wherever in v, do not turn into text: RIVER_OK where there is none, and where v is not
 * deeper than RIVER_DEPTH_MAX, so that who calls this first may recurse.
 */
int river_check_open(const struct river_value *v, struct river_error *err);

extern const struct river_family river_stdlib_array;
extern const struct river_family river_stdlib_encoding;
extern const struct river_family river_stdlib_file;
extern const struct river_family river_stdlib_format;
extern const struct river_family river_stdlib_json_path;
extern const struct river_family river_stdlib_string;

#endif
