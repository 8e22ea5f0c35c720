/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the step over V8's frames has to know of one build: where its objects have what is read. Compiled by both sides; agent/runtimes/v8 fills it from
 * the constants that V8 has for debuggers (v8dbg_*), from the file alone.
 *
 * Each function of JavaScript that is not inlined has a frame on the C stack, with a frame pointer, whoever runs it: the interpreter, whose code is one of
 * the builtins, or code that was generated. A word below the frame pointer tells what kind of frame it is:
 *
 *	fp + 8	return address
 *	fp	the caller's frame pointer
 *	fp − 8	a small integer: a frame of V8's own, of that type. Else the context of a function …
 *	fp − 16	… and the function: JSFunction → SharedFunctionInfo → name or ScopeInfo, Script
 *
 * Pointers to objects have bit 0 set. Small integers are in the upper half of a word.
 */
#ifndef XAGENT_BPF_RUNTIMES_V8_H
#define XAGENT_BPF_RUNTIMES_V8_H

#include <linux/types.h>

#include "bpf/image.h"
#include "bpf/wire.h"

/* Offsets in bytes from the beginning of an object. struct wire_runtime.words holds it; the first two words are WIRE_CLAIMED_*: the builtins. */
struct v8_layout {
	__u64 builtins_at;    /* in the file */
	__u64 builtins_bytes; /* 0: not known */
	/* Types of objects, as their maps have them. */
	__u16 type_shared, type_scope, type_script;
	__u16 first_no_string; /* types from here on are no strings */
	__u8 is_supported;
	__u8 major, minor; /* of V8 */
	__u8 map_type;
	__u8 function_shared;
	/* SharedFunctionInfo */
	__u8 shared_name, shared_script;
	__u8 shared_parameters; /* u16 each: number of parameters, where the function's token is */
	__u8 shared_id; /* u32: which function literal of its script it is; ~0: of none. What is read ends with it */
	/* ScopeInfo: words of it. Two for each local variable, from scope_locals on; then the function's name, a number, the inferred name. */
	__u8 scope_flags_shift;
	__u8 scope_n_locals, scope_locals;
	__u8 scope_positions; /* where it begins in its source, and where it ends; 0: behind the inferred name */
	__u8 has_hashed_locals; /* many locals have their names elsewhere */
	__u8 has_receivers; /* a word for the receiver lies before the function's name, where it is used */
	/* Script */
	__u8 script_source, script_name, script_line_ends, script_id;
	/* Optimized code: an InstructionStream before its first byte, which leads to a Code; or that itself. */
	__u8 code_header; /* bytes between; 0: inlined functions are not looked for */
	__u8 is_code_inside;
	__u8 code_deopt,
		code_positions; /* DeoptimizationData, and source positions by bytes of code */
	__u8 code_begin, code_bytes, code_flags;
	__u8 code_alignment; /* it begins at multiples of that */
	__u8 kind_baseline;  /* in its flags; what is above is optimized */
	/* Elements of a DeoptimizationData: literals, which optimization that was, inlining positions. */
	__u8 deopt_literals, deopt_id, deopt_inlines;
	__u8 wrapper_shared; /* where the function of the code is, of the object that has it there; 0: it is the element itself */
	/* Types of frames: those that lead out of a function that was called, and those around a constructor; 255: there is none. */
	__u8 exit_builtin, exit_callback;
	__u8 frame_construct, frame_fast_construct;
	__u8 frame_wasm;
	__u8 has_statement_bits; /* of positions: below the bytes of code, whose sign it is otherwise */
	__u16 type_code;
	/* BytecodeArray: its source positions, and its bytecode. */
	__u16 type_bytecode; /* 0: not known */
	__u8 bytecode_positions, bytecode_data;
	/* Functions that await: types of their generators, of promises and of what those keep. */
	__u8 reaction_next; /* PromiseReaction: another one; 0: they are not looked for */
	__u8 function_context;
	__u16 type_async_function, type_async_generator, type_async_request;
	__u16 type_promise, type_reaction, type_capability;
	/* Functions of WebAssembly: from what the frame has to the instance (0: it has that), its module (0: their names are not looked for), script and NativeModule … */
	__u8 wasm_instance, wasm_module, wasm_script, wasm_managed;
	/* … of that its tree of code by address, and its bytes; of a WasmCode how long it is, and which function. */
	__u16 wasm_tree, wasm_bytes;
	__u8 wasm_code_bytes, wasm_code_index;
	/* How long bytecodes are (kBytecodeSizes): three rows of so many bytes, in addresses as linked. 0: not known. */
	__u16 n_bytecodes;
	__u64 sizes_at;
	/* Translations of optimized code: how many numbers each instruction has, four bits each, the lowest first; how many instructions there are (0: they are not read), and
	 * which one is the first of two that begin one, of four that are functions. */
	__u64 translation_numbers[4];
	__u8 n_translation_opcodes, translation_begin, translation_function;
	__u8 safepoints_length; /* where a table of safepoints has its length */
};

_Static_assert(sizeof(struct v8_layout) <= WIRE_RUNTIME_WORDS * 8, "it fits");

#define V8_TAG 1ULL
/* A map or an object is at an even address: a word without V8_TAG in place of the map is where the garbage collector has moved the object. */
#define V8_TAG_MASK 3ULL

/* Below a frame pointer. */
#define V8_FRAME_KIND 8
#define V8_FRAME_FUNCTION 16
#define V8_FRAME_BYTES 16
/* Of one that the interpreter runs: its BytecodeArray, and a small integer, how far from the pointer to that the bytecode lies that made the last call. */
#define V8_FRAME_BYTECODE 32
#define V8_FRAME_BYTECODE_AT 40

/* Bytecodes up to this one are prefixes of the next one, by turns for operands of two bytes and of four; and bytes of all rows of sizes. */
#define V8_LAST_PREFIX 3
#define V8_SIZES_BYTES 1024

/* Instructions of translations that can be told, as many as translation_numbers has room for. */
#define V8_MAX_TRANSLATION_OPCODES 64

/* What is read of a SharedFunctionInfo at most. */
#define V8_SHARED_BYTES 72

/* String: its length is an int, and what a flat one consists of lies behind that. */
#define V8_STRING_LENGTH 12
#define V8_STRING_CHARS 16
/* The other kinds: of two parts, a piece of another one, another name of one. */
#define V8_STRING_FIRST 16
#define V8_STRING_SECOND 24
#define V8_STRING_OFFSET 24
/* Of one whose characters are elsewhere: where. Short ones do not say it. */
#define V8_STRING_DATA 24
#define V8_STRING_UNCACHED 16
/* In the type of a string. */
#define V8_STRING_KIND 7
#define V8_STRING_ONE_BYTE 8
enum v8_string {
	V8_STRING_FLAT,
	V8_STRING_CONS,
	V8_STRING_EXTERNAL,
	V8_STRING_SLICED,
	V8_STRING_THIN = 5
};

/* Flags of a ScopeInfo: a slot for the class that is being defined lies before the function's name; there is such a name (two bits). */
#define V8_SCOPE_HAS_CLASS (1U << 10)
#define V8_SCOPE_RECEIVER (3U << 7) /* not used, where these are equal */
#define V8_SCOPE_HAS_NAME (3U << 12)
#define V8_SCOPE_HAS_INFERRED (1U << 14)
/* From so many locals on their names are in a table, which is one word. */
#define V8_SCOPE_MANY_LOCALS 75

/* An InstructionStream has its Code behind its map; of that so many bytes are read. */
#define V8_STREAM_CODE 8
#define V8_CODE_BYTES 64
#define V8_CODE_KIND 15
/* Behind baseline code there is that of Maglev, or of its forerunner, and that of Turbofan. */
#define V8_KIND_MAGLEV 1
#define V8_KIND_TURBOFAN 2

/* Arrays: their length is a small integer. */
#define V8_ARRAY_LENGTH 8
#define V8_ARRAY_DATA 16

/*
 * A source position: bit 0 is set for one that is no position in a script; from bit 1 on, 30 bits of where it is there, plus one; from bit 31 on, 16 bits of the function that it is in: 0 is the frame's own,
 * else the number of an inlining position, plus one. Such a position is where that function was inlined, in another one; and which literal it is.
 */
#define V8_POSITION_EXTERNAL 1ULL
#define V8_POSITION_PLACE(position) ((__u32)((position) >> 1) & 0x3fffffff)
#define V8_POSITION_FUNCTION(position) ((__u32)((position) >> 31) & 0xffff)
#define V8_INLINE_BYTES 16
/* The same for a place that is known by its bytecode: one more than that. */
#define V8_PLACE_OF_BYTECODE (1U << 31)

/* DeoptimizationData, behind the inlining positions: three numbers, then three elements of each safepoint, of which the second one is where its translation begins. Translations are the first element. */
#define V8_DEOPT_TRANSLATIONS 0
/* The SharedFunctionInfo of the code, or what wraps that, follows the number of its optimization. */
#define V8_DEOPT_FUNCTION_BEHIND_ID 1
#define V8_DEOPT_ENTRIES_BEHIND 4
#define V8_DEOPT_ENTRY 3
#define V8_DEOPT_ENTRY_TRANSLATION 1

/*
 * Behind its instructions code has a table of safepoints: how many entries, how they are packed (below), of Maglev's code one number or two more; then the entries, of numbers of so many bytes each: how far
 * the return address is from the code's beginning; one more than the number of the safepoint (0: V8 keeps nothing of it), one more than where it goes on after code was thrown away; what the garbage
 * collector asks for.
 */
#define V8_SAFEPOINTS_MAGLEV 16
#define V8_SAFEPOINTS_ARE_KNOWN(packed) ((packed) & 1)
#define V8_SAFEPOINTS_REST_BYTES(packed) ((packed) >> 1 & 7)
#define V8_SAFEPOINTS_PC_BYTES(packed) ((packed) >> 4 & 7)
#define V8_SAFEPOINTS_INDEX_BYTES(packed) ((packed) >> 7 & 7)

/* Instead of a literal. */
#define V8_INLINES_ITSELF (~0U)

/*
 * Where a function is, as it is sent (wire_runtime_frame.position): lines from its first on. With V8_POSITION_COLUMN the column is told, too, from 1 on: behind the lines, which then have V8_LINES_MANY
 * bits, or V8_LINES_FEW with V8_POSITION_WIDE: beside a long line there are few of them in what one sample reads. ~0: not known.
 */
#define V8_POSITION_COLUMN (1U << 31)
#define V8_POSITION_WIDE (1U << 30)
#define V8_LINES_MANY 18
#define V8_LINES_FEW 10
#define V8_COLUMN_BITS(n_lines_bits) (30 - (n_lines_bits))

/* A column that finds no room is left out. */
static inline __attribute__((always_inline)) __u32 v8_position_of(__u32 lines, __u64 column)
{
	if (lines < 1U << V8_LINES_MANY && column < 1U << V8_COLUMN_BITS(V8_LINES_MANY))
		return V8_POSITION_COLUMN | (__u32)column << V8_LINES_MANY | lines;
	if (lines < (1U << V8_LINES_FEW) - 1 && column < 1U << V8_COLUMN_BITS(V8_LINES_FEW))
		return V8_POSITION_COLUMN | V8_POSITION_WIDE | (__u32)column << V8_LINES_FEW |
		       lines;
	return lines;
}

static inline __attribute__((always_inline)) __u32 v8_position_lines_bits(__u32 position)
{
	return position & V8_POSITION_WIDE ? V8_LINES_FEW : V8_LINES_MANY;
}

static inline __attribute__((always_inline)) __u32 v8_position_lines(__u32 position)
{
	return position & V8_POSITION_COLUMN
		       ? position & ((1U << v8_position_lines_bits(position)) - 1)
		       : position;
}

/* 0: not told. */
static inline __attribute__((always_inline)) __u32 v8_position_column(__u32 position)
{
	return position & V8_POSITION_COLUMN && position != ~0U
		       ? (position & (V8_POSITION_WIDE - 1)) >> v8_position_lines_bits(position)
		       : 0;
}

/* SharedFunctionInfo: its bytecode, or what has that. */
#define V8_SHARED_DATA 8

/*
 * A function of WebAssembly is known by its module's script, whose pointer has V8_TAG here, and by its number. Where it cannot be told which one it is, it
 * is V8_WASM_FUNCTION, at no address that an object can have.
 */
#define V8_WASM_FUNCTION 2
#define V8_WASM_PRINT 1
#define V8_WASM_NAME "[wasm]"
/* One that has no name in its module, with its number and a bracket behind, as V8 writes it. */
#define V8_WASM_UNNAMED "wasm-function["
/* No module has more functions. */
#define V8_WASM_MAX_FUNCTIONS 1000000U

/* Foreign → ManagedPtrDestructor → std::shared_ptr → NativeModule. */
#define V8_FOREIGN_DATA 8
#define V8_MANAGED_POINTER 24
/* From the root of its tree to the list of code that is not in the tree yet: where that begins, and ends (std::vector). */
#define V8_WASM_PENDING 32
/* WasmCode: its module, and where it begins. What is read of it. */
#define V8_WASM_CODE_MODULE 0
#define V8_WASM_CODE_BEGIN 8
#define V8_WASM_CODE_BYTES 64

/* What a module's bytes are known by, beside how many there are: the number of its script, and where they lie. */
static inline __attribute__((always_inline)) __u32 v8_wasm_source(__u64 script, __u64 bytes)
{
	return hash_mix(script, bytes) >> 32;
}

/* Context: behind its ScopeInfo and the context around it. V8's closures have there what they resume, or resolve. */
#define V8_CONTEXT_FIRST 32

/* JSGeneratorObject. Where it goes on is a small integer; of one that runs -2. */
#define V8_GENERATOR_FUNCTION 24
#define V8_GENERATOR_BYTECODE_AT 48
#define V8_GENERATOR_CONTINUATION 64
#define V8_GENERATOR_RUNS ((__u64)-2 << 32)
/* Of an async function, or of an async generator the first request, which has it. */
#define V8_GENERATOR_PROMISE 80
#define V8_REQUEST_PROMISE 32

/* JSPromise: reactions, as long as its status is 0. */
#define V8_PROMISE_REACTIONS 24
#define V8_PROMISE_FLAGS 32
#define V8_PROMISE_STATUS 3U
/* PromiseReaction: from `next` on. */
#define V8_REACTION_FULFILL 16
#define V8_REACTION_RESULT 24
#define V8_CAPABILITY_PROMISE 8

/* Of a function that its script does not contain: V8's own, and those of C++. */
#define V8_NO_LITERAL (~0U)

/* What kind of function one is: in the flags, which lie before its literal's number. Methods, what reads or writes a property, and arrow functions (FunctionKind, the
 * same from 9.4 to 14.6). */
#define V8_FLAGS_BEFORE_ID 4
#define V8_FUNCTION_KIND 31
#define V8_METHOD_KINDS (15U << 7 | 3U << 11 | 15U << 14 | 15U << 20)

/* Words of a ScopeInfo between its local variables and the name of its function. */
static inline __attribute__((always_inline)) __u32 v8_scope_between(const struct v8_layout *l,
								    __u32 flags)
{
	__u32 receiver = flags & V8_SCOPE_RECEIVER;

	return !!(flags & V8_SCOPE_HAS_CLASS) +
	       (l->has_receivers && receiver && receiver != V8_SCOPE_RECEIVER);
}

/*
 * What a function is known by beside its address, which changes with each collection: the number of its script, which no other one of the isolate has,
 * and which function of the script it is. Never 0.
 */
static inline __attribute__((always_inline)) __u32 v8_print_of(__u64 script, __u32 literal,
							       __u32 parameters)
{
	__u64 hash = hash_mix(script, (__u64)literal << 32 | parameters);

	return (__u32)(hash >> 32) | 1;
}

#endif
