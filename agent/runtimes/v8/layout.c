/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of V8's objects. */
#include "agent/runtimes/v8/layout.h"

#include <elf.h>

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
	/* The interpreter is one of the builtins: without them half of a chain of calls would be missing. */
	return c->builtins_bytes && c->major >= V8_FIRST_MAJOR && c->major <= V8_LAST_MAJOR;
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

/*
 * Where code has what tells its inlined functions is not among the constants of all versions: those that were tried are here (class Code and class InstructionStream of each).
 * Code is aligned to 32 bytes, since V8 9.6 on x86-64 to 64 bytes, and so is the header of one that holds all of Code.
 */
static const struct {
	uint8_t major, minor;
	uint8_t header, is_inside, deopt, positions, begin, bytes, flags;
} codes[] = {
	{ 9, 4, 96, 1, 16, 24, 0, 40, 48 },   { 9, 6, 96, 1, 16, 24, 0, 40, 48 },
	{ 10, 2, 96, 1, 16, 24, 0, 40, 48 },  { 10, 8, 96, 1, 16, 24, 0, 40, 48 },
	{ 11, 3, 16, 0, 16, 24, 40, 56, 48 }, { 11, 8, 32, 0, 8, 16, 32, 44, 40 },
	{ 12, 4, 32, 0, 8, 16, 40, 52, 48 },  { 12, 9, 32, 0, 8, 16, 40, 52, 48 },
	{ 13, 6, 32, 0, 8, 16, 40, 56, 52 },  { 14, 1, 32, 0, 8, 16, 40, 56, 52 },
	{ 14, 6, 32, 0, 8, 16, 40, 56, 52 },
};

static uint8_t code_alignment(const struct v8_constants *c)
{
	bool is_newer = c->major >= 10 || c->minor >= 6;

	return c->machine == EM_X86_64 && is_newer ? 64 : 32;
}

/* Instructions of translations: how many, which begin one, which are functions, and their numbers (TRANSLATION_OPCODE_LIST of each; the file has the numbers as counts of TranslationOpcodeOperandCount). */
static const struct {
	uint8_t major, minor;
	uint8_t n, begin, function;
	uint64_t numbers[3];
} translations[] = {
	{ 11, 3, 36, 2, 23, { 0x1211111313113301, 0x1110433351111111, 0x1211 } },
	{ 11, 8, 40, 12, 0, { 0x1133012343123335, 0x1111111111111111, 0x12111110 } },
	{ 12, 4, 40, 12, 0, { 0x1133012343123335, 0x1111111111111111, 0x12111110 } },
	{ 12, 9, 44, 14, 0, { 0x3300123343123335, 0x1111111111111111, 0x121111101111 } },
	{ 13, 6, 45, 14, 0, { 0x3300133343123346, 0x1111111111110111, 0x1211111011111 } },
	{ 14, 1, 45, 14, 0, { 0x3300133343123346, 0x1111111111110111, 0x1211111011111 } },
	{ 14, 6, 45, 14, 0, { 0x3300133343123346, 0x1111111111110111, 0x1211111011111 } },
};

static void take_translations(const struct v8_constants *c, struct v8_layout *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(translations); i++) {
		if (translations[i].major != c->major || translations[i].minor != c->minor)
			continue;
		l->n_translation_opcodes = translations[i].n;
		/* From 13.x on the frame's size comes before it (SafepointTable). */
		l->safepoints_length = c->major >= 13 ? 4 : 0;
		l->translation_begin = translations[i].begin;
		l->translation_function = translations[i].function;
		for (size_t k = 0; k < ARRAY_SIZE(translations[i].numbers); k++)
			l->translation_numbers[k] = translations[i].numbers[k];
	}
}

/* 9.4 and 10.2 have no constants for what is the same there. */
static int32_t or_else(const struct v8_constants *c, enum v8_constant which, int32_t otherwise)
{
	return c->has[which] ? c->value[which] : otherwise;
}

#define NO_FRAME 255

static void take_code(const struct v8_constants *c, struct v8_layout *l)
{
	int32_t baseline = or_else(c, V8_KIND_BASELINE, 11);
	int32_t literals = or_else(c, V8_DEOPT_LITERALS, 2), id = or_else(c, V8_DEOPT_ID, 5);
	int32_t inlines = or_else(c, V8_DEOPT_INLINES, 7);

	if (!take_type(c, V8_TYPE_CODE, &l->type_code) || baseline < 0 || baseline > V8_CODE_KIND ||
	    literals < 0 || literals > 32 || id < 0 || id > 32 || inlines < 0 || inlines > 32)
		return;
	l->kind_baseline = (uint8_t)baseline;
	l->deopt_literals = (uint8_t)literals;
	l->deopt_id = (uint8_t)id;
	l->deopt_inlines = (uint8_t)inlines;
	(void)take(c, V8_WRAPPER_SHARED, 8, 64, &l->wrapper_shared);
	l->exit_builtin = (uint8_t)or_else(c, V8_EXIT_BUILTIN, NO_FRAME);
	l->exit_callback = (uint8_t)or_else(c, V8_EXIT_CALLBACK, NO_FRAME);
	l->frame_construct = (uint8_t)or_else(c, V8_FRAME_CONSTRUCT, NO_FRAME);
	l->frame_fast_construct = (uint8_t)or_else(c, V8_FRAME_FAST_CONSTRUCT, NO_FRAME);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		if (codes[i].major != c->major || codes[i].minor != c->minor)
			continue;
		l->is_code_inside = codes[i].is_inside;
		l->code_alignment = code_alignment(c);
		l->code_header = codes[i].header;
		if (codes[i].is_inside && l->code_header % l->code_alignment)
			l->code_header = (uint8_t)(l->code_header + 32);
		l->code_deopt = codes[i].deopt;
		l->code_positions = codes[i].positions;
		l->code_begin = codes[i].begin;
		l->code_bytes = codes[i].bytes;
		l->code_flags = codes[i].flags;
	}
}

/* Its source positions have no constant: they follow its constants and handlers, or, where it has a wrapper, that (bytecode-array.tq). */
static void take_bytecode(const struct v8_constants *c, struct v8_layout *l)
{
	uint8_t wrapper = 0;

	if (!c->has[V8_FP_BYTECODE] || c->value[V8_FP_BYTECODE] != -V8_FRAME_BYTECODE ||
	    !c->has[V8_FP_BYTECODE_AT] || c->value[V8_FP_BYTECODE_AT] != -V8_FRAME_BYTECODE_AT ||
	    !take(c, V8_BYTECODE_DATA, 2, 128, &l->bytecode_data))
		return;
	if (c->has[V8_BYTECODE_WRAPPER] && !take(c, V8_BYTECODE_WRAPPER, 8, 64, &wrapper))
		return;
	l->has_statement_bits = c->major >= 14;
	l->bytecode_positions = wrapper ? (uint8_t)(wrapper + 8) : 32;
	if (l->bytecode_positions < l->bytecode_data)
		(void)take_type(c, V8_TYPE_BYTECODE, &l->type_bytecode);
	l->n_bytecodes = (uint16_t)c->n_bytecodes;
	l->sizes_at = c->sizes_at;
}

/* A reaction has the context that it was made in before the next one from 12.x on (promise.tq). */
static void take_promises(const struct v8_constants *c, struct v8_layout *l)
{
	if (take_type(c, V8_TYPE_ASYNC_FUNCTION, &l->type_async_function) &&
	    take_type(c, V8_TYPE_ASYNC_GENERATOR, &l->type_async_generator) &&
	    take_type(c, V8_TYPE_ASYNC_REQUEST, &l->type_async_request) &&
	    take_type(c, V8_TYPE_PROMISE, &l->type_promise) &&
	    take_type(c, V8_TYPE_REACTION, &l->type_reaction) &&
	    take_type(c, V8_TYPE_CAPABILITY, &l->type_capability) &&
	    take(c, V8_FUNCTION_CONTEXT, 8, 128, &l->function_context))
		l->reaction_next = c->major >= 12 ? 16 : 8;
}

/* What a frame of WebAssembly has leads to its module, and that to its code, by objects of C++ that have no constants: those that were looked at are here. A mutex
 * lies before the tree, which AArch64 has another size of. */
static const struct {
	uint8_t major, minor;
	uint8_t instance, module, script, code_bytes, code_index;
	uint16_t bytes, tree, tree_aarch64; /* 0: not known */
} modules[] = {
	{ 9, 4, 0, 208, 40, 32, 48, 312, 432, 440 },
	{ 9, 6, 0, 208, 40, 32, 48, 312, 432, 0 },
	{ 10, 2, 0, 208, 40, 32, 48, 312, 432, 440 },
	{ 10, 8, 0, 216, 32, 32, 48, 312, 432, 0 },
	{ 11, 3, 0, 208, 32, 24, 44, 200, 320, 328 },
	{ 11, 8, 0, 216, 32, 24, 44, 200, 320, 0 },
	{ 12, 4, 160, 32, 32, 24, 44, 200, 408, 424 },
	{ 12, 9, 152, 32, 32, 24, 48, 240, 448, 464 },
	{ 13, 6, 152, 32, 32, 32, 56, 240, 328, 328 },
	{ 14, 1, 152, 32, 32, 32, 56, 240, 328, 0 },
	{ 14, 6, 104, 32, 32, 32, 56, 232, 320, 320 },
};

static void take_wasm(const struct v8_constants *c, struct v8_layout *l)
{
	l->frame_wasm = (uint8_t)or_else(c, V8_FRAME_WASM, NO_FRAME);
	if (!take(c, V8_SCRIPT_MODULE, 8, 128, &l->wasm_managed))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		bool is_aarch64 = c->machine == EM_AARCH64;
		uint16_t tree = is_aarch64 ? modules[i].tree_aarch64 : modules[i].tree;

		if (modules[i].major != c->major || modules[i].minor != c->minor || tree == 0)
			continue;
		l->wasm_instance = modules[i].instance;
		l->wasm_module = modules[i].module;
		l->wasm_script = modules[i].script;
		l->wasm_code_bytes = modules[i].code_bytes;
		l->wasm_code_index = modules[i].code_index;
		l->wasm_bytes = modules[i].bytes;
		l->wasm_tree = tree;
	}
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
	take_code(c, &l);
	if (l.code_header)
		take_translations(c, &l);
	take_bytecode(c, &l);
	take_promises(c, &l);
	take_wasm(c, &l);
	*ret_layout = l;
}
