/* SPDX-License-Identifier: Apache-2.0 */
/* Where V8's objects have what is read, by what real builds say of themselves, and files that lie. */
#include <elf.h>
#include <string.h>

#include "agent/runtimes/v8/layout.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

#define NONE INT32_MAX

/* As the packages of Node.js 16.20, 18.20, 20.20, 22.23, 24.21 and 26.12 have them. */
enum { NODE_16, NODE_18, NODE_20, NODE_22, NODE_24, NODE_26, NODE_MAX };

static const int32_t values[V8_CONSTANT_MAX][NODE_MAX] = {
	[V8_HEAP_TAG] = { 1, 1, 1, 1, 1, 1 },
	[V8_SMALL_TAG_MASK] = { 1, 1, 1, 1, 1, 1 },
	[V8_SMALL_SHIFT] = { 31, 31, 31, 31, 31, 31 },
	[V8_POINTER_BYTES] = { 8, 8, 8, 8, 8, 8 },
	[V8_FP_KIND] = { -8, -8, -8, -8, -8, -8 },
	[V8_FP_FUNCTION] = { -16, -16, -16, -16, -16, -16 },
	[V8_MAP_TYPE] = { 12, 12, 12, 12, 12, 12 },
	[V8_FUNCTION_SHARED] = { 24, 24, 24, 32, 32, 32 },
	[V8_SHARED_NAME] = { 16, 16, 16, 16, 24, 24 },
	[V8_SHARED_SCRIPT] = { 32, 32, 32, NONE, NONE, NONE },
	[V8_SHARED_SCRIPT_22] = { NONE, NONE, NONE, 32, 40, 40 },
	[V8_SHARED_PARAMETERS] = { 42, 42, 42, 42, 50, 50 },
	[V8_SHARED_TOKEN] = { 44, 44, 44, 44, 52, 52 },
	[V8_SHARED_FLAGS] = { 48, 48, 48, 48, 56, 56 },
	[V8_SCRIPT_SOURCE] = { NONE, 8, 8, 8, 8, 8 },
	[V8_SCRIPT_NAME] = { 16, 16, 16, 16, 16, 16 },
	[V8_SCRIPT_LINE_ENDS] = { 56, 56, 56, 56, 56, 56 },
	[V8_STRING_LENGTH_AT] = { 12, 12, 12, 12, 12, 12 },
	[V8_ONE_BYTE_CHARS] = { 16, 16, 16, 16, 16, 16 },
	[V8_TWO_BYTE_CHARS] = { 16, 16, 16, 16, 16, 16 },
	[V8_CONS_FIRST] = { 16, 16, 16, 16, 16, 16 },
	[V8_CONS_SECOND] = { 24, 24, 24, 24, 24, 24 },
	[V8_SLICED_PARENT] = { 16, 16, 16, 16, 16, 16 },
	[V8_SLICED_OFFSET] = { 24, 24, 24, 24, 24, 24 },
	[V8_THIN_ACTUAL] = { 16, 16, 16, 16, 16, 16 },
	[V8_STRING_KIND_MASK] = { 7, 7, 7, 7, 7, 7 },
	[V8_CONS_TAG] = { 1, 1, 1, 1, 1, 1 },
	[V8_EXTERNAL_TAG] = { 2, 2, 2, 2, 2, 2 },
	[V8_SLICED_TAG] = { 3, 3, 3, 3, 3, 3 },
	[V8_THIN_TAG] = { 5, 5, 5, 5, 5, 5 },
	[V8_ENCODING_MASK] = { 8, 8, 8, 8, 8, 8 },
	[V8_ONE_BYTE_TAG] = { 8, 8, 8, 8, 8, 8 },
	[V8_FIRST_NO_STRING] = { 64, 128, 128, 128, 128, 128 },
	[V8_TYPE_SHARED] = { 179, 257, 262, 274, 282, 288 },
	[V8_TYPE_SCOPE] = { 178, 256, 261, 272, 280, 286 },
	[V8_TYPE_SCRIPT] = { 112, 170, 167, 167, 167, 166 },
	[V8_SCOPE_N_LOCALS] = { 2, 2, 2, 2, 2, 2 },
	[V8_FP_BYTECODE] = { NONE, -32, -32, -32, -32, -32 },
	[V8_FP_BYTECODE_AT] = { NONE, -40, -40, -40, -40, -40 },
	[V8_TYPE_BYTECODE] = { 133, 195, 191, 205, 186, 185 },
	[V8_BYTECODE_DATA] = { NONE, 56, 54, 64, 64, 64 },
	[V8_BYTECODE_WRAPPER] = { NONE, NONE, NONE, 16, 16, 16 },
	[V8_TYPE_CODE] = { 162, 240, 245, 206, 187, 186 },
	[V8_KIND_BASELINE] = { NONE, 11, 11, 10, 10, 11 },
	[V8_DEOPT_LITERALS] = { NONE, NONE, 2, 2, 3, 3 },
	[V8_DEOPT_ID] = { NONE, NONE, 5, 5, 6, 6 },
	[V8_DEOPT_INLINES] = { NONE, NONE, 7, 7, 8, 8 },
	[V8_WRAPPER_SHARED] = { NONE, NONE, NONE, NONE, 8, 8 },
	[V8_EXIT_BUILTIN] = { 21, 22, 25, 26, 27, 17 },
	[V8_FRAME_CONSTRUCT] = { 19, 20, 23, 23, 24, 14 },
	[V8_FRAME_FAST_CONSTRUCT] = { NONE, NONE, NONE, 24, 25, 15 },
	[V8_EXIT_CALLBACK] = { NONE, NONE, NONE, 27, 28, 18 },
	[V8_SCOPE_LOCALS] = { 3, 3, 3, 3, 5, 5 },
	[V8_FRAME_WASM] = { 4, 4, 4, 4, 4, 24 },
	[V8_SCRIPT_MODULE] = { 80, 80, 80, 80, 80, 80 },
	[V8_FUNCTION_CONTEXT] = { 32, 32, 32, 40, 40, 40 },
	[V8_TYPE_ASYNC_FUNCTION] = { 1053, 2097, 2106, 2108, 2110, 2112 },
	[V8_TYPE_ASYNC_GENERATOR] = { 1054, 2098, 2107, 2109, 2111, 2113 },
	[V8_TYPE_ASYNC_REQUEST] = { 93, 149, 148, 146, 146, 145 },
	[V8_TYPE_PROMISE] = { 1101, 2062, 2063, 2063, 2115, 2117 },
	[V8_TYPE_REACTION] = { 108, 166, 163, 163, 162, 160 },
	[V8_TYPE_CAPABILITY] = { 107, 164, 161, 161, 161, 159 },
};

static const uint32_t versions[NODE_MAX][2] = {
	{ 9, 4 }, { 10, 2 }, { 11, 3 }, { 12, 4 }, { 13, 6 }, { 14, 6 },
};

static struct v8_constants constants_of(int node)
{
	struct v8_constants c = { .machine = EM_X86_64,
				  .major = versions[node][0],
				  .minor = versions[node][1],
				  .builtins_at = 0x1000,
				  .builtins_bytes = 0x2000,
				  .sizes_at = 0x3000,
				  .n_bytecodes = 212 };

	for (size_t i = 0; i < V8_CONSTANT_MAX; i++) {
		c.has[i] = values[i][node] != NONE;
		c.value[i] = c.has[i] ? values[i][node] : 0;
	}
	return c;
}

static void test_known(void **state)
{
	static const struct {
		uint8_t shared, name, script, parameters, id;
		uint8_t flags_shift, locals, positions, is_hashed;
	} expected[NODE_MAX] = {
		{ 24, 16, 32, 42, 52, 32, 4, 0, 0 }, { 24, 16, 32, 42, 52, 32, 4, 0, 1 },
		{ 24, 16, 32, 42, 52, 32, 4, 0, 1 }, { 32, 16, 32, 42, 52, 32, 4, 0, 1 },
		{ 32, 24, 40, 50, 60, 0, 6, 4, 1 },  { 32, 24, 40, 50, 60, 0, 6, 4, 1 },
	};

	(void)state;
	for (int i = 0; i < NODE_MAX; i++) {
		struct v8_constants c = constants_of(i);
		struct v8_layout l;

		v8_layout_from_constants(&c, &l);
		assert_true(l.is_supported);
		assert_int_equal(l.major, versions[i][0]);
		assert_int_equal(l.function_shared, expected[i].shared);
		assert_int_equal(l.shared_name, expected[i].name);
		assert_int_equal(l.shared_script, expected[i].script);
		assert_int_equal(l.shared_parameters, expected[i].parameters);
		assert_int_equal(l.shared_id, expected[i].id);
		assert_int_equal(l.scope_flags_shift, expected[i].flags_shift);
		assert_int_equal(l.scope_n_locals, 3);
		assert_int_equal(l.scope_locals, expected[i].locals);
		assert_int_equal(l.scope_positions, expected[i].positions);
		assert_int_equal(l.has_hashed_locals, expected[i].is_hashed);
		assert_int_equal(l.script_source, 8);
		assert_int_equal(l.script_name, 16);
		assert_int_equal(l.script_id, 64);
		assert_true(l.code_header && l.type_code);
		assert_int_equal(l.is_code_inside, i <= NODE_18);
		assert_int_equal(l.kind_baseline, i == NODE_22 || i == NODE_24 ? 10 : 11);
		assert_int_equal(l.deopt_inlines, i >= NODE_24 ? 8 : 7);
		assert_int_equal(l.wrapper_shared, i >= NODE_24 ? 8 : 0);
		assert_int_equal(l.type_bytecode, i >= NODE_18 ? values[V8_TYPE_BYTECODE][i] : 0);
		assert_int_equal(l.exit_callback, i == NODE_22	 ? 27
						  : i == NODE_24 ? 28
						  : i == NODE_26 ? 18
								 : 255);
		assert_int_equal(l.frame_wasm, i == NODE_26 ? 24 : 4);
		assert_int_equal(l.builtins_at, 0x1000);
		assert_int_equal(l.builtins_bytes, 0x2000);
		assert_int_equal(l.n_bytecodes, i >= NODE_18 ? 212 : 0);
		assert_int_equal(l.sizes_at, i >= NODE_18 ? 0x3000 : 0);
	}
}

/* What precedes code, and to what it is aligned, is another thing on each machine. */
static void test_machines(void **state)
{
	static const struct {
		int node;
		uint16_t machine;
		uint8_t header, alignment;
	} rows[] = {
		{ NODE_16, EM_X86_64, 96, 32 },	 { NODE_16, EM_AARCH64, 96, 32 },
		{ NODE_18, EM_X86_64, 128, 64 }, { NODE_18, EM_AARCH64, 96, 32 },
		{ NODE_20, EM_X86_64, 16, 64 },	 { NODE_20, EM_AARCH64, 16, 32 },
		{ NODE_26, EM_X86_64, 32, 64 },	 { NODE_26, EM_AARCH64, 32, 32 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct v8_constants c = constants_of(rows[i].node);
		struct v8_layout l;

		c.machine = rows[i].machine;
		v8_layout_from_constants(&c, &l);
		assert_int_equal(l.code_header, rows[i].header);
		assert_int_equal(l.code_alignment, rows[i].alignment);
	}
}

static void check_wasm(const struct v8_constants *c, uint8_t instance, uint8_t module,
		       uint16_t tree, uint16_t bytes, uint8_t number)
{
	struct v8_layout l;

	v8_layout_from_constants(c, &l);
	assert_true(l.is_supported);
	assert_int_equal(l.wasm_module, module);
	if (!module)
		return;
	assert_int_equal(l.wasm_managed, 80);
	assert_int_equal(l.wasm_instance, instance);
	assert_int_equal(l.wasm_tree, tree);
	assert_int_equal(l.wasm_bytes, bytes);
	assert_int_equal(l.wasm_code_index, number);
	/* What is read of a WasmCode. */
	assert_true(l.wasm_code_index + 4 <= V8_WASM_CODE_BYTES);
	assert_true(l.wasm_code_bytes + 4 <= V8_WASM_CODE_BYTES);
}

/* As functions of these builds have it (WasmFrame::script(), NativeModule::Lookup(), WasmFrame::function_index()). */
static void test_wasm(void **state)
{
	static const struct {
		uint8_t instance, module;
		uint16_t tree, tree_aarch64, bytes;
		uint8_t number;
	} expected[NODE_MAX] = {
		{ 0, 208, 432, 440, 312, 48 },	{ 0, 208, 432, 440, 312, 48 },
		{ 0, 208, 320, 328, 200, 44 },	{ 160, 32, 408, 424, 200, 44 },
		{ 152, 32, 328, 328, 240, 56 }, { 104, 32, 320, 320, 232, 56 },
	};

	(void)state;
	for (int i = 0; i < NODE_MAX; i++) {
		struct v8_constants c = constants_of(i);

		c.machine = EM_X86_64;
		check_wasm(&c, expected[i].instance, expected[i].module, expected[i].tree,
			   expected[i].bytes, expected[i].number);
		c.machine = EM_AARCH64;
		check_wasm(&c, expected[i].instance, expected[i].module, expected[i].tree_aarch64,
			   expected[i].bytes, expected[i].number);
	}
}

/* Its functions are shown, and those of WebAssembly have no names. */
static void test_wasm_unknown(void **state)
{
	struct v8_constants c = constants_of(NODE_26);

	(void)state;
	c.minor++;
	check_wasm(&c, 0, 0, 0, 0, 0);
	c = constants_of(NODE_26);
	c.has[V8_SCRIPT_MODULE] = false;
	check_wasm(&c, 0, 0, 0, 0, 0);
	c.has[V8_SCRIPT_MODULE] = true;
	c.value[V8_SCRIPT_MODULE] = 4;
	check_wasm(&c, 0, 0, 0, 0, 0);
	/* Of this one no build for AArch64 was looked at. */
	c = constants_of(NODE_26);
	c.minor = 1;
	c.machine = EM_X86_64;
	check_wasm(&c, 152, 32, 328, 240, 56);
	c.machine = EM_AARCH64;
	check_wasm(&c, 0, 0, 0, 0, 0);
}

/* One constant is another one, in the newest build. */
static void test_unknown(void **state)
{
	static const struct {
		enum v8_constant constant;
		int32_t value; /* NONE: it is not there */
	} rows[] = {
		{ V8_POINTER_BYTES, 4 },
		{ V8_SMALL_SHIFT, 0 },
		{ V8_FP_FUNCTION, -24 },
		{ V8_STRING_LENGTH_AT, 8 },
		{ V8_THIN_TAG, 4 },
		{ V8_MAP_TYPE, NONE },
		{ V8_MAP_TYPE, 256 },
		{ V8_FUNCTION_SHARED, -8 },
		{ V8_FUNCTION_SHARED, 0x7ffffff8 },
		{ V8_SHARED_NAME, 0 },
		{ V8_SHARED_NAME, 23 },
		{ V8_SHARED_SCRIPT_22, 72 },
		{ V8_SHARED_FLAGS, 72 },
		{ V8_SHARED_TOKEN, 56 },
		{ V8_SCRIPT_SOURCE, 16 },
		{ V8_SCRIPT_LINE_ENDS, NONE },
		{ V8_SCOPE_LOCALS, 2 },
		{ V8_SCOPE_LOCALS, 6 },
		{ V8_TYPE_SHARED, 0 },
		{ V8_TYPE_SCRIPT, 65536 },
		{ V8_FIRST_NO_STRING, NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct v8_constants c = constants_of(NODE_26);
		struct v8_layout l;

		c.has[rows[i].constant] = rows[i].value != NONE;
		c.value[rows[i].constant] = rows[i].value;
		v8_layout_from_constants(&c, &l);
		assert_false(l.is_supported);
		assert_int_equal(l.major, 14);
	}
}

static unsigned numbers_of(const struct v8_layout *l, unsigned opcode)
{
	return l->translation_numbers[opcode / 16] >> (4 * (opcode % 16)) & 15;
}

/* A build whose code is not known has functions, but none that were inlined. */
static void test_unknown_code(void **state)
{
	static const struct {
		uint32_t minor;
		enum v8_constant constant;
		int32_t value;
	} rows[] = {
		{ 5, V8_TYPE_CODE, 186 },    { 6, V8_TYPE_CODE, 0 },
		{ 6, V8_KIND_BASELINE, 16 }, { 6, V8_DEOPT_LITERALS, -1 },
		{ 6, V8_DEOPT_INLINES, 33 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct v8_constants c = constants_of(NODE_26);
		struct v8_layout l;

		c.minor = rows[i].minor;
		c.value[rows[i].constant] = rows[i].value;
		v8_layout_from_constants(&c, &l);
		assert_true(l.is_supported);
		assert_int_equal(l.code_header, 0);
		assert_int_equal(l.n_translation_opcodes, 0);
	}
}

/* Versions whose optimized code is known, and whose translations are: what begins one has three numbers, a function five or more, or three, and the last instruction one. */
static void test_code(void **state)
{
	static const struct {
		uint32_t major, minor;
		uint8_t n_opcodes;
	} rows[] = {
		{ 9, 4, 0 },   { 9, 6, 0 },   { 10, 2, 0 },  { 10, 8, 0 },
		{ 11, 3, 36 }, { 11, 8, 40 }, { 12, 4, 40 }, { 12, 9, 44 },
		{ 13, 6, 45 }, { 14, 1, 45 }, { 14, 6, 45 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct v8_constants c = constants_of(NODE_26);
		struct v8_layout l;

		c.major = rows[i].major;
		c.minor = rows[i].minor;
		v8_layout_from_constants(&c, &l);
		assert_int_not_equal(l.code_header, 0);
		assert_int_equal(l.n_translation_opcodes, rows[i].n_opcodes);
		if (!rows[i].n_opcodes)
			continue;
		assert_int_equal(l.safepoints_length, rows[i].major >= 13 ? 4 : 0);
		assert_int_equal(numbers_of(&l, l.translation_begin), 3);
		assert_int_equal(numbers_of(&l, l.translation_begin + 1U), 3);
		assert_int_equal(numbers_of(&l, l.translation_function),
				 rows[i].major >= 13 ? 6 : 5);
		assert_int_equal(numbers_of(&l, l.translation_function + 1U),
				 rows[i].major >= 13 ? 4 : 3);
		assert_int_equal(numbers_of(&l, l.n_translation_opcodes - 1U), 1);
		assert_int_equal(numbers_of(&l, l.n_translation_opcodes), 0);
	}
}

static void test_bytecode(void **state)
{
	static const struct {
		int node;
		uint8_t positions, data;
	} rows[] = {
		{ NODE_18, 32, 56 }, { NODE_20, 32, 54 }, { NODE_22, 24, 64 }, { NODE_26, 24, 64 }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct v8_constants c = constants_of(rows[i].node);
		struct v8_layout l;

		v8_layout_from_constants(&c, &l);
		assert_int_equal(l.bytecode_positions, rows[i].positions);
		assert_int_equal(l.bytecode_data, rows[i].data);
	}
}

/* A build whose bytecode is not known has functions, but no lines of those that the interpreter runs. */
static void test_unknown_bytecode(void **state)
{
	static const struct {
		enum v8_constant constant;
		int32_t value;
	} rows[] = {
		{ V8_FP_BYTECODE, -40 },   { V8_FP_BYTECODE, NONE },   { V8_FP_BYTECODE_AT, -48 },
		{ V8_BYTECODE_DATA, 0 },   { V8_BYTECODE_DATA, 24 },   { V8_BYTECODE_DATA, 127 },
		{ V8_BYTECODE_DATA, 400 }, { V8_BYTECODE_WRAPPER, 7 }, { V8_BYTECODE_WRAPPER, 64 },
		{ V8_TYPE_BYTECODE, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct v8_constants c = constants_of(NODE_26);
		struct v8_layout l;

		c.has[rows[i].constant] = rows[i].value != NONE;
		c.value[rows[i].constant] = rows[i].value;
		v8_layout_from_constants(&c, &l);
		assert_true(l.is_supported);
		assert_int_equal(l.type_bytecode, 0);
	}
}

static void test_promises(void **state)
{
	(void)state;
	for (int i = 0; i < NODE_MAX; i++) {
		struct v8_constants c = constants_of(i);
		struct v8_layout l;

		v8_layout_from_constants(&c, &l);
		assert_int_equal(l.reaction_next, i >= NODE_22 ? 16 : 8);
		assert_int_equal(l.function_context, i >= NODE_22 ? 40 : 32);
		for (enum v8_constant k = V8_FUNCTION_CONTEXT; k <= V8_TYPE_CAPABILITY; k++) {
			c = constants_of(i);
			c.has[k] = false;
			v8_layout_from_constants(&c, &l);
			assert_true(l.is_supported);
			assert_int_equal(l.reaction_next, 0);
		}
	}
}

static void test_stripped(void **state)
{
	struct v8_constants c = constants_of(NODE_26);
	struct v8_layout l;

	(void)state;
	c.builtins_bytes = 0;
	v8_layout_from_constants(&c, &l);
	assert_false(l.is_supported);
}

static void test_versions(void **state)
{
	static const struct {
		uint32_t major;
		bool is_supported;
	} rows[] = { { 0, false }, { 8, false }, { 14, true }, { 15, false }, { 1000, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct v8_constants c = constants_of(NODE_26);
		struct v8_layout l;

		c.major = rows[i].major;
		v8_layout_from_constants(&c, &l);
		assert_int_equal(l.is_supported, rows[i].is_supported);
	}
}

static const struct unit_test tests[] = {
	TEST(test_known),	 TEST(test_machines),	  TEST(test_unknown),
	TEST(test_unknown_code), TEST(test_bytecode),	  TEST(test_unknown_bytecode),
	TEST(test_stripped),	 TEST(test_versions),	  TEST(test_promises),
	TEST(test_wasm),	 TEST(test_wasm_unknown), TEST(test_code),
};

TEST_MAIN(tests)
