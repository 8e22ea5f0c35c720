/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the step over the frames of HotSpot, the JVM of OpenJDK, has to know of one build: where its structures have what is read. Compiled by both sides;
 * agent/runtimes/hotspot fills it from the table that libjvm.so exports for debuggers (gHotSpotVMStructs).
 *
 *	pc ─► CodeCache::_heaps ─► CodeHeap: its segment map ─► HeapBlock ─► CodeBlob
 *	      "Interpreter": the frame has its Method below the frame pointer
 *	      "nmethod":     code of one Method, with frames of one size
 *			     PcDesc ─► ScopeDesc ─► Methods that were inlined into it
 *	      others:	     stubs, known by the name of the blob
 *	Method ─► ConstMethod ─► ConstantPool ─► Symbol, the method's name
 *				      └► Klass ─► Symbol, the class's name
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_H

#include <linux/types.h>

#include "bpf/image.h"
#include "bpf/wire.h"

/*
 * X(NAME, type, field). The first list is of static members, which have addresses, the second of others, which have offsets.
 */
#define HOTSPOT_STATICS(X)                      \
	X(HEAPS, "CodeCache", "_heaps")         \
	X(HEAP, "CodeCache", "_heap")           \
	X(LOW_BOUND, "CodeCache", "_low_bound") \
	X(HIGH_BOUND, "CodeCache", "_high_bound")

#define HOTSPOT_OFFSETS(X)                                          \
	X(ARRAY_LENGTH, "GenericGrowableArray", "_len")             \
	X(ARRAY_LENGTH_16, "GrowableArrayBase", "_len")             \
	X(ARRAY_DATA, "GrowableArray<int>", "_data")                \
	X(HEAP_MEMORY, "CodeHeap", "_memory")                       \
	X(HEAP_SEGMAP, "CodeHeap", "_segmap")                       \
	X(HEAP_SHIFT, "CodeHeap", "_log2_segment_size")             \
	X(BLOCK_USED, "HeapBlock::Header", "_used")                 \
	X(BLOCK_LENGTH, "HeapBlock::Header", "_length")             \
	X(SPACE_LOW, "VirtualSpace", "_low")                        \
	X(SPACE_HIGH, "VirtualSpace", "_high")                      \
	X(BLOB_NAME, "CodeBlob", "_name")                           \
	X(BLOB_FRAME_BYTES, "CodeBlob", "_frame_size")              \
	X(BLOB_COMPLETE, "CodeBlob", "_frame_complete_offset")      \
	X(BLOB_CODE, "CodeBlob", "_code_begin")                     \
	X(BLOB_CODE_OFFSET, "CodeBlob", "_code_offset")             \
	X(NMETHOD_METHOD, "nmethod", "_method")                     \
	X(NMETHOD_METHOD_9, "CompiledMethod", "_method")            \
	X(NMETHOD_SCOPES, "nmethod", "_scopes_data_offset")         \
	X(NMETHOD_SCOPES_9, "CompiledMethod", "_scopes_data_begin") \
	X(NMETHOD_PLACES, "nmethod", "_scopes_pcs_offset")          \
	X(NMETHOD_PLACES_END, "nmethod", "_dependencies_offset")    \
	X(NMETHOD_METADATA, "nmethod", "_metadata_offset")          \
	X(NMETHOD_IMMUTABLE, "nmethod", "_immutable_data")          \
	X(NMETHOD_NUMBER, "nmethod", "_compile_id")                 \
	X(NMETHOD_TIER, "nmethod", "_comp_level")                   \
	X(BLOB_MUTABLE, "CodeBlob", "_mutable_data")                \
	X(BLOB_RELOCATION, "CodeBlob", "_relocation_size")          \
	X(METHOD_CONST, "Method", "_constMethod")                   \
	X(CONST_POOL, "ConstMethod", "_constants")                  \
	X(CONST_CODE_BYTES, "ConstMethod", "_code_size")            \
	X(CONST_NAME, "ConstMethod", "_name_index")                 \
	X(CONST_SIGNATURE, "ConstMethod", "_signature_index")       \
	X(CONST_NUMBER, "ConstMethod", "_method_idnum")             \
	X(CONST_SIZE, "ConstMethod", "_constMethod_size")           \
	X(CONST_FLAGS, "ConstMethod", "_flags")                     \
	X(CONST_FLAGS_21, "ConstMethod", "_flags._flags")           \
	X(POOL_SOURCE, "ConstantPool", "_source_file_name_index")   \
	X(KLASS_SOURCE, "InstanceKlass", "_source_file_name_index") \
	X(POOL_HOLDER, "ConstantPool", "_pool_holder")              \
	X(POOL_LENGTH, "ConstantPool", "_length")                   \
	X(KLASS_NAME, "Klass", "_name")                             \
	X(SYMBOL_LENGTH, "Symbol", "_length")                       \
	X(SYMBOL_BODY, "Symbol", "_body[0]")                        \
	X(SYMBOL_BODY_8, "Symbol", "_body")

enum hotspot_field {
#define HOTSPOT_FIELD_ENUM(NAME, type, field) HOTSPOT_##NAME,
	HOTSPOT_STATICS(HOTSPOT_FIELD_ENUM) HOTSPOT_OFFSETS(HOTSPOT_FIELD_ENUM)
#undef HOTSPOT_FIELD_ENUM
		HOTSPOT_FIELD_MAX
};

#define HOTSPOT_NONE 0xffff

/* What few samples ask for: threads and their anchors, the class of an object, and where code goes on that was given up; _HANDLE: behind calls of method handles. */
#define HOTSPOT_MORE_STATICS(X)                                              \
	X(THREADS, "ThreadsSMRSupport", "_java_thread_list")                 \
	X(THREADS_8, "Threads", "_thread_list")                              \
	X(CLASS_BASE, "CompressedKlassPointers", "_base")                    \
	X(CLASS_BASE_17, "CompressedKlassPointers", "_narrow_klass._base")   \
	X(CLASS_BASE_8, "Universe", "_narrow_klass._base")                   \
	X(CLASS_SHIFT, "CompressedKlassPointers", "_shift")                  \
	X(CLASS_SHIFT_17, "CompressedKlassPointers", "_narrow_klass._shift") \
	X(CLASS_SHIFT_8, "Universe", "_narrow_klass._shift")

#define HOTSPOT_MORE_OFFSETS(X)                                        \
	X(LIST_LENGTH, "ThreadsList", "_length")                       \
	X(LIST_THREADS, "ThreadsList", "_threads")                     \
	X(THREAD_NEXT, "JavaThread", "_next")                          \
	X(THREAD_SYSTEM, "Thread", "_osthread")                        \
	X(THREAD_SYSTEM_8, "JavaThread", "_osthread")                  \
	X(SYSTEM_NUMBER, "OSThread", "_thread_id")                     \
	X(THREAD_STACK, "JavaThread", "_stack_base")                   \
	X(THREAD_STACK_BYTES, "JavaThread", "_stack_size")             \
	X(THREAD_ANCHOR, "JavaThread", "_anchor")                      \
	X(ANCHOR_SP, "JavaFrameAnchor", "_last_Java_sp")               \
	X(ANCHOR_PC, "JavaFrameAnchor", "_last_Java_pc")               \
	X(ANCHOR_FP, "JavaFrameAnchor", "_last_Java_fp")               \
	X(WRAPPER_ANCHOR, "JavaCallWrapper", "_anchor")                \
	X(CLASS_POOL, "InstanceKlass", "_constants")                   \
	X(DEOPT, "nmethod", "_deopt_handler_entry_offset")             \
	X(DEOPT_23, "nmethod", "_deopt_handler_offset")                \
	X(DEOPT_9, "CompiledMethod", "_deopt_handler_begin")           \
	X(DEOPT_8, "nmethod", "_deoptimize_offset")                    \
	X(DEOPT_HANDLE, "nmethod", "_deopt_mh_handler_offset")         \
	X(DEOPT_HANDLE_9, "CompiledMethod", "_deopt_mh_handler_begin") \
	X(DEOPT_HANDLE_8, "nmethod", "_deoptimize_mh_offset")          \
	X(DEOPT_PLACE, "nmethod", "_orig_pc_offset")

enum hotspot_more_field {
#define HOTSPOT_MORE_ENUM(NAME, type, field) HOTSPOT_##NAME,
	HOTSPOT_MORE_STATICS(HOTSPOT_MORE_ENUM) HOTSPOT_MORE_OFFSETS(HOTSPOT_MORE_ENUM)
#undef HOTSPOT_MORE_ENUM
		HOTSPOT_MORE_MAX
};

/* struct wire_runtime.more holds it. Of a file: `at` holds numbers of entries of the table. */
struct hotspot_more {
	/* Of a process. 0: not known, and nothing that depends on it is looked for. */
	__u64 threads_at;
	__u64 class_base_at, class_shift_at;
	__u16 at[HOTSPOT_MORE_MAX]; /* as those of struct hotspot_layout */
};

_Static_assert(sizeof(struct hotspot_more) <= WIRE_RUNTIME_MORE_WORDS * 8, "it fits");

/* struct wire_runtime.words holds it; the first two words are WIRE_CLAIMED_*: no part of the file. */
struct hotspot_layout {
	__u64 claimed_at, claimed_bytes; /* 0 */
	/* What a file tells: where the table is. What a process tells: where it has the list of heaps, or the only heap, and the bounds of all. */
	union {
		__u64 table_at;
		__u64 heaps_at;
	};
	__u64 low_at, high_at;
	__u8 is_supported : 1; /* the layout of a process. Else of a file: `at` holds numbers of entries of the table */
	__u8 has_short_complete : 1; /* CodeBlob::_frame_complete_offset has 16 bits */
	__u8 has_scopes : 1;  /* it is known where code tells what was inlined into it, … */
	__u8 has_lines : 1;   /* … and where a method has its table of lines */
	__u8 major, security; /* of the JDK */
	__u8 const_bytes;     /* ConstMethod: its bytecodes follow */
	__u8 pool_bytes;      /* ConstantPool: its slots follow */
	__u8 block_bytes;     /* HeapBlock: a CodeBlob follows */
	__u16 at[HOTSPOT_FIELD_MAX]; /* in bytes from the beginning of the structure; HOTSPOT_NONE: there is no such field */
};

_Static_assert(sizeof(struct hotspot_layout) <= WIRE_RUNTIME_WORDS * 8, "it fits");

/* What is read of a CodeBlob, and of a ConstMethod. */
#define HOTSPOT_BLOB_BYTES 256
#define HOTSPOT_CONST_BYTES 64

/* Of its flags: a table of lines follows the bytecodes (constMethod.hpp, constMethodFlags.hpp). */
#define HOTSPOT_CONST_HAS_LINES 1u

/* How numbers of tables of lines are written: until JDK 19, and later ones, which have no byte of 0 (utilities/unsigned5.hpp). */
enum hotspot_lines { HOTSPOT_NO_LINES, HOTSPOT_LINES, HOTSPOT_LINES_20 };

/* A byte of such a table that two numbers follow, for the next bytecode and its line; else it is both: five bits and three. 0: the end
 * (code/compressedStream.hpp). */
#define HOTSPOT_LINES_LONG 0xff

/* A position that is not known, or has no line. */
#define HOTSPOT_NO_BCI (~0U)

/* Of an interpreter's frame, below its frame pointer (frame_x86.hpp, frame_aarch64.hpp, where a word of padding lies between). */
#if WIRE_N_REGS == 16
#define HOTSPOT_FRAME_BCP 64
#define HOTSPOT_FRAME_BCP_8 56
#define HOTSPOT_FRAME_LOCALS 56
#else
#define HOTSPOT_FRAME_BCP 72
#define HOTSPOT_FRAME_BCP_8 HOTSPOT_FRAME_BCP
#define HOTSPOT_FRAME_LOCALS 64
#endif
#define HOTSPOT_FRAME_METHOD 24
#define HOTSPOT_FRAME_LAST_SP 16
#define HOTSPOT_FRAME_SENDER_SP 8

/* Of the frame of the stub that calls Java, below its frame pointer: its JavaCallWrapper, which begins with its thread (the same files, javaCalls.hpp). */
#define HOTSPOT_FRAME_WRAPPER (WIRE_N_REGS == 16 ? 48 : 64)

/* In the segment map: no block begins here or before. Else how many segments before it one may begin. */
#define HOTSPOT_SEGMENT_FREE 0xff

#endif
