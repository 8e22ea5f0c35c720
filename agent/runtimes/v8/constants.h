/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What V8 says of itself in the file that it is built into: the constants for debuggers (v8dbg_*), its version, and where its builtins are. Some builds
 * export them, others have them in their symbol table alone. Pure, but for reading the file.
 */
#ifndef XAGENT_AGENT_RUNTIMES_V8_CONSTANTS_H
#define XAGENT_AGENT_RUNTIMES_V8_CONSTANTS_H

#include <stdbool.h>

#include "agent/object/elf.h"
#include "agent/runtimes/v8/bytecode_sizes.h"

/*
 * X(NAME, the symbol's name behind "v8dbg_"). One that ends with an underscore is continued: by the type of the field, which differs between versions.
 */
#define V8_CONSTANTS(X)                                                                        \
	X(HEAP_TAG, "HeapObjectTag")                                                           \
	X(SMALL_TAG_MASK, "SmiTagMask")                                                        \
	X(SMALL_SHIFT, "SmiShiftSize")                                                         \
	X(POINTER_BYTES, "TaggedSize")                                                         \
	X(FP_KIND, "off_fp_context")                                                           \
	X(FP_FUNCTION, "off_fp_function")                                                      \
	X(MAP_TYPE, "class_Map__instance_type__")                                              \
	X(FUNCTION_SHARED, "class_JSFunction__shared__")                                       \
	X(SHARED_NAME, "class_SharedFunctionInfo__name_or_scope_info__")                       \
	X(SHARED_SCRIPT, "class_SharedFunctionInfo__script_or_debug_info__")                   \
	X(SHARED_SCRIPT_22, "class_SharedFunctionInfo__script__")                              \
	X(SHARED_PARAMETERS, "class_SharedFunctionInfo__internal_formal_parameter_count__")    \
	X(SHARED_TOKEN, "class_SharedFunctionInfo__raw_function_token_offset__")               \
	X(SHARED_FLAGS, "class_SharedFunctionInfo__flags__int")                                \
	X(SCRIPT_SOURCE, "class_Script__source__")                                             \
	X(SCRIPT_NAME, "class_Script__name__")                                                 \
	X(SCRIPT_LINE_ENDS, "class_Script__line_ends__")                                       \
	X(STRING_LENGTH_AT, "class_String__length__")                                          \
	X(ONE_BYTE_CHARS, "class_SeqOneByteString__chars__")                                   \
	X(TWO_BYTE_CHARS, "class_SeqTwoByteString__chars__")                                   \
	X(CONS_FIRST, "class_ConsString__first__")                                             \
	X(CONS_SECOND, "class_ConsString__second__")                                           \
	X(SLICED_PARENT, "class_SlicedString__parent__")                                       \
	X(SLICED_OFFSET, "class_SlicedString__offset__")                                       \
	X(THIN_ACTUAL, "class_ThinString__actual__")                                           \
	X(STRING_KIND_MASK, "StringRepresentationMask")                                        \
	X(CONS_TAG, "ConsStringTag")                                                           \
	X(EXTERNAL_TAG, "ExternalStringTag")                                                   \
	X(SLICED_TAG, "SlicedStringTag")                                                       \
	X(THIN_TAG, "ThinStringTag")                                                           \
	X(ENCODING_MASK, "StringEncodingMask")                                                 \
	X(ONE_BYTE_TAG, "OneByteStringTag")                                                    \
	X(FIRST_NO_STRING, "FirstNonstringType")                                               \
	X(TYPE_SHARED, "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE")                   \
	X(TYPE_SCOPE, "type_ScopeInfo__SCOPE_INFO_TYPE")                                       \
	X(TYPE_SCRIPT, "type_Script__SCRIPT_TYPE")                                             \
	X(SCOPE_N_LOCALS, "scopeinfo_idx_ncontextlocals")                                      \
	X(FP_BYTECODE, "off_fp_bytecode_array")                                                \
	X(FP_BYTECODE_AT, "off_fp_bytecode_offset")                                            \
	X(TYPE_BYTECODE, "type_BytecodeArray__BYTECODE_ARRAY_TYPE")                            \
	X(BYTECODE_DATA, "class_BytecodeArray__data__")                                        \
	X(BYTECODE_WRAPPER, "class_BytecodeArray__wrapper__")                                  \
	X(TYPE_CODE, "type_Code__CODE_TYPE")                                                   \
	X(KIND_BASELINE, "CodeKindBaseline")                                                   \
	X(DEOPT_LITERALS, "DeoptimizationDataLiteralArrayIndex")                               \
	X(DEOPT_ID, "DeoptimizationDataOptimizationIdIndex")                                   \
	X(DEOPT_INLINES, "DeoptimizationDataInliningPositionsIndex")                           \
	X(WRAPPER_SHARED, "class_SharedFunctionInfoWrapper__shared_info__")                    \
	X(EXIT_BUILTIN, "frametype_BuiltinExitFrame")                                          \
	X(FRAME_WASM, "frametype_WasmFrame")                                                   \
	X(FUNCTION_CONTEXT, "class_JSFunction__context__")                                     \
	X(TYPE_ASYNC_FUNCTION, "type_JSAsyncFunctionObject__JS_ASYNC_FUNCTION_OBJECT_TYPE")    \
	X(TYPE_ASYNC_GENERATOR, "type_JSAsyncGeneratorObject__JS_ASYNC_GENERATOR_OBJECT_TYPE") \
	X(TYPE_ASYNC_REQUEST, "type_AsyncGeneratorRequest__ASYNC_GENERATOR_REQUEST_TYPE")      \
	X(TYPE_PROMISE, "type_JSPromise__JS_PROMISE_TYPE")                                     \
	X(TYPE_REACTION, "type_PromiseReaction__PROMISE_REACTION_TYPE")                        \
	X(TYPE_CAPABILITY, "type_PromiseCapability__PROMISE_CAPABILITY_TYPE")                  \
	X(FRAME_CONSTRUCT, "frametype_ConstructFrame")                                         \
	X(FRAME_FAST_CONSTRUCT, "frametype_FastConstructFrame")                                \
	X(EXIT_CALLBACK, "frametype_ApiCallbackExitFrame")                                     \
	X(SCOPE_LOCALS, "scopeinfo_idx_first_vars")                                            \
	X(SCRIPT_MODULE, "class_Script__wasm_managed_native_module__")

enum v8_constant {
#define V8_CONSTANT_ENUM(NAME, symbol) V8_##NAME,
	V8_CONSTANTS(V8_CONSTANT_ENUM)
#undef V8_CONSTANT_ENUM
		V8_CONSTANT_MAX
};

struct v8_constants {
	bool has[V8_CONSTANT_MAX];
	int32_t value[V8_CONSTANT_MAX];
	uint16_t machine;      /* EM_* */
	uint32_t major, minor; /* 0: not known */
	/* Of the builtins, in the file; 0 bytes: not known. */
	uint64_t builtins_at, builtins_bytes;
	/* How long bytecodes are: three rows, in an address as linked; 0 bytecodes: not known. */
	uint64_t sizes_at;
	uint32_t n_bytecodes;
};

/* False: V8 is not in the file, or has none of its constants there. Sections are loaded. */
bool v8_constants_read(const struct elf *elf, struct v8_constants *ret_constants);

#endif
