/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What values are made of.
 *
 * `origin` is the expression that yielded a value while that expression is being evaluated: error
 * texts name it. Outside of an evaluation no value has one: river_value_forget runs before a value
 * is handed out. A value with an origin was made by the running evaluation, so it may be written
 * to; values of the host have none and are never touched.
 */
#ifndef XAGENT_RIVER_CONFIG_VALUE_H
#define XAGENT_RIVER_CONFIG_VALUE_H

#include "river-config/ast.h"
#include "river-config/river.h"

/* A number's kind; arithmetic takes the higher one of both sides. */
enum river_number_kind {
	RIVER_NUMBER_UINT,
	RIVER_NUMBER_INT,
	RIVER_NUMBER_FLOAT,
};

enum river_capsule_kind {
	RIVER_CAPSULE_HOST,
	RIVER_CAPSULE_SECRET,
	RIVER_CAPSULE_OPTIONAL_SECRET,
};

struct river_function;

struct river_object_member {
	const char *key;
	size_t key_len;
	struct river_value *value;
};

struct river_value {
	enum river_type type;
	union {
		enum river_number_kind number_kind;
		enum river_capsule_kind capsule_kind;
	};
	const struct river_expr *origin;
	union {
		bool boolean;
		uint64_t uint_value;
		int64_t int_value;
		double float_value;
		struct { /* STRING, and CAPSULE of both secret kinds */
			const char *text;
			size_t len;
			bool is_secret;
		} string;
		struct {
			struct river_value **items;
			size_t n_items;
		} array;
		struct {
			struct river_object_member *members; /* sorted by key, unique */
			size_t n_members;
			/* NULL: a plain object. Else members are there after river_value_open. */
			struct river_foreign_list *foreign;
			const void *item;
		} object;
		const struct river_function *function;
		struct {
			const char *type;
			void *ptr;
		} capsule;
	};
};

struct river_value *river_value_new(struct river_arena *a, enum river_type type);

/* Over `items`, which the value takes over; the array is not copied. */
struct river_value *river_value_wrap_array(struct river_arena *a, struct river_value **items,
					   size_t n_items);

/* Over `members`, which are sorted in place and lose earlier duplicates. */
struct river_value *river_value_wrap_object(struct river_arena *a,
					    struct river_object_member *members, size_t n_members);

struct river_value *river_value_new_string(struct river_arena *a, const char *s, size_t len);

/* A text of a kind; the bytes are borrowed and end in a NUL. */
struct river_value *river_value_wrap_text(struct river_arena *a, const char *text, size_t len);

/* The same value with an origin of its own. */
struct river_value *river_value_alias(struct river_arena *a, const struct river_value *v);

/* As river_value_find, for a key that may hold any byte. */
const struct river_value *river_value_find_bytes(const struct river_value *v, const char *key,
						 size_t len);

/* Makes the members of a foreign object, if need be; to be called before they are looked at.
 * Nothing to do for any other value. False: no memory, it has none then. */
bool river_value_open(const struct river_value *v);

/* For copies of values that are not of the same arena. NULL: no memory. */
struct river_value *river_foreign_copy(struct river_arena *a, const struct river_value *v);
/* NULL with *ret_same false: they are not all of one kind. */
struct river_value *river_foreign_copy_array(struct river_arena *a, const struct river_value *v,
					     bool *ret_same);
/* Whether both are of one kind; then *ret_equal tells the rest. */
bool river_foreign_compare(const struct river_value *a, const struct river_value *b,
			   bool *ret_equal);

static inline bool river_value_is_foreign(const struct river_value *v)
{
	return v->type == RIVER_TYPE_OBJECT && v->object.foreign;
}

/* Cuts all ties to expressions. */
void river_value_forget(struct river_value *v);

/* Whether v carries text: a string or either kind of secret. */
bool river_value_has_text(const struct river_value *v);
bool river_value_is_capsule(const struct river_value *v, enum river_capsule_kind kind);
bool river_value_is_secret_kind(const struct river_value *v);
double river_value_as_double(const struct river_value *number);
uint64_t river_value_as_bits(const struct river_value *number);

#endif
