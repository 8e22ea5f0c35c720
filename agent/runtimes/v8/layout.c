/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of V8's objects. */
#include "agent/runtimes/v8/layout.h"

#include "agent/util/macro.h"

/* What the step over the frames takes for granted: builds with other pointers, or other strings, are not walked. */
static const struct {
	enum v8_constant constant;
	int32_t value;
} expected[] = {
	{ V8_HEAP_TAG, V8_TAG },
	{ V8_SMALL_TAG_MASK, V8_TAG },
	{ V8_SMALL_SHIFT, 31 },
	{ V8_POINTER_BYTES, 8 },
	{ V8_FP_KIND, -V8_FRAME_KIND },
	{ V8_FP_FUNCTION, -V8_FRAME_FUNCTION },
	{ V8_STRING_LENGTH_AT, V8_STRING_LENGTH },
	{ V8_ONE_BYTE_CHARS, V8_STRING_CHARS },
	{ V8_TWO_BYTE_CHARS, V8_STRING_CHARS },
	{ V8_CONS_FIRST, V8_STRING_FIRST },
	{ V8_CONS_SECOND, V8_STRING_SECOND },
	{ V8_SLICED_PARENT, V8_STRING_FIRST },
	{ V8_SLICED_OFFSET, V8_STRING_OFFSET },
	{ V8_THIN_ACTUAL, V8_STRING_FIRST },
	{ V8_STRING_KIND_MASK, V8_STRING_KIND },
	{ V8_CONS_TAG, V8_STRING_CONS },
	{ V8_EXTERNAL_TAG, V8_STRING_EXTERNAL },
	{ V8_SLICED_TAG, V8_STRING_SLICED },
	{ V8_THIN_TAG, V8_STRING_THIN },
	{ V8_ENCODING_MASK, V8_STRING_ONE_BYTE },
	{ V8_ONE_BYTE_TAG, V8_STRING_ONE_BYTE },
};

static bool is_as_expected(const struct v8_constants *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		if (!c->has[expected[i].constant] ||
		    c->value[expected[i].constant] != expected[i].value)
			return false;
	return c->major >= V8_FIRST_MAJOR && c->major <= V8_LAST_MAJOR;
}

/* Whole words of an object, of which `bytes` can be read. */
static bool take(const struct v8_constants *c, enum v8_constant which, int32_t step, int32_t bytes,
		 uint8_t *ret)
{
	if (!c->has[which] || c->value[which] < step || c->value[which] % step ||
	    c->value[which] > bytes - step)
		return false;
	*ret = (uint8_t)c->value[which];
	return true;
}

static bool take_type(const struct v8_constants *c, enum v8_constant which, uint16_t *ret)
{
	if (!c->has[which] || c->value[which] <= 0 || c->value[which] > UINT16_MAX)
		return false;
	*ret = (uint16_t)c->value[which];
	return true;
}

static bool take_types(const struct v8_constants *c, struct v8_layout *l)
{
	return take_type(c, V8_TYPE_SHARED, &l->type_shared) &&
	       take_type(c, V8_TYPE_SCOPE, &l->type_scope) &&
	       take_type(c, V8_TYPE_SCRIPT, &l->type_script) &&
	       take_type(c, V8_FIRST_NO_STRING, &l->first_no_string);
}

static bool take_shared(const struct v8_constants *c, struct v8_layout *l)
{
	enum v8_constant script = c->has[V8_SHARED_SCRIPT] ? V8_SHARED_SCRIPT : V8_SHARED_SCRIPT_22;

	/* Which literal it is follows the flags (shared-function-info.tq). */
	if (!take(c, V8_SHARED_NAME, 8, V8_SHARED_BYTES, &l->shared_name) ||
	    !take(c, script, 8, V8_SHARED_BYTES, &l->shared_script) ||
	    !take(c, V8_SHARED_PARAMETERS, 2, V8_SHARED_BYTES - 4, &l->shared_parameters) ||
	    !take(c, V8_SHARED_FLAGS, 4, V8_SHARED_BYTES - 4, &l->shared_id))
		return false;
	l->shared_id = (uint8_t)(l->shared_id + 4);
	return l->shared_id > l->shared_name && l->shared_id > l->shared_script &&
	       l->shared_id > l->shared_parameters && c->has[V8_SHARED_TOKEN] &&
	       c->value[V8_SHARED_TOKEN] == l->shared_parameters + 2;
}

/* The number of a script follows its line ends. 9.x has no constant for the source, which is first in all versions (script.tq). */
static bool take_script(const struct v8_constants *c, struct v8_layout *l)
{
	l->script_source = 8;
	if (!take(c, V8_SCRIPT_NAME, 8, 128, &l->script_name) ||
	    !take(c, V8_SCRIPT_LINE_ENDS, 8, 120, &l->script_line_ends))
		return false;
	l->script_id = (uint8_t)(l->script_line_ends + 8);
	return !c->has[V8_SCRIPT_SOURCE] || c->value[V8_SCRIPT_SOURCE] == l->script_source;
}

/* In words behind the map. From 13.x on the flags are no small integer, and the positions come before the names. */
static bool take_scope(const struct v8_constants *c, struct v8_layout *l)
{
	if (!take(c, V8_SCOPE_N_LOCALS, 1, 16, &l->scope_n_locals) ||
	    !take(c, V8_SCOPE_LOCALS, 1, 16, &l->scope_locals) ||
	    l->scope_n_locals >= l->scope_locals)
		return false;
	bool has_positions = l->scope_locals == l->scope_n_locals + 3;
	l->scope_positions = has_positions ? (uint8_t)(l->scope_n_locals + 2) : 0;
	l->scope_flags_shift = has_positions ? 0 : 32;
	l->has_hashed_locals = c->major >= 10;
	l->has_receivers = c->major < 10;
	l->scope_n_locals++;
	l->scope_locals++;
	return has_positions || l->scope_locals == l->scope_n_locals + 1;
}

void v8_layout_from_constants(const struct v8_constants *c, struct v8_layout *ret_layout)
{
	struct v8_layout l = { .builtins_at = c->builtins_at,
			       .builtins_bytes = c->builtins_bytes,
			       .major = (uint8_t)MIN_OF(c->major, 255U),
			       .minor = (uint8_t)MIN_OF(c->minor, 255U) };

	l.is_supported = is_as_expected(c) && take_types(c, &l) && take_shared(c, &l) &&
			 take_script(c, &l) && take_scope(c, &l) &&
			 take(c, V8_MAP_TYPE, 2, 32, &l.map_type) &&
			 take(c, V8_FUNCTION_SHARED, 8, 128, &l.function_shared);
	*ret_layout = l;
}
