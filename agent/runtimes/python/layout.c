/* SPDX-License-Identifier: Apache-2.0 */
/* Which build of CPython a file holds. */
#include "agent/runtimes/python/layout.h"

#include <elf.h>
#include <string.h>

#include "agent/object/names/symbol_by_name.h"
#include "agent/runtimes/python/asyncio.h"
#include "agent/runtimes/python/loop.h"
#include "agent/runtimes/python/stripped.h"
#include "agent/util/macro.h"

/* PyTypeObject.tp_basicsize: behind the header of PyVarObject and tp_name. */
#define TYPE_BASICSIZE 32

/* What is the same in each of these versions (the public headers of str, bytes and dict). */
#define COMMON_OF_OLD                                                               \
	.thread_interpreter = 16, .code_type = 8, .str_length = 16, .str_hash = 24, \
	.str_state = 32, .str_kind_shift = 2, .bytes_length = 16, .bytes_data = 32, \
	.dict_keys = 32

/* PyFrameObject, before 3.11. */
#define FRAME_OBJECT .frame_code = 32, .frame_previous = 24, .frame_globals = 48

/* PyFunctionObject, to 3.9 and in 3.10. */
#define FUNCTION .func_code = 16, .func_qualname = 104
#define FUNCTION_OF_310 .func_code = 48, .func_qualname = 40

/* By offsetof() of each version's headers. interpreters_at is an offset in _PyRuntime. */
static const struct known {
	uint64_t code_basicsize; /* of PyCode_Type */
	struct python_layout layout;
} known[] = {
	{ 144,
	  { .minor = 6,
	    .seam = PYTHON_BY_CODE,
	    .lines_format = PYTHON_LNOTAB,
	    COMMON_OF_OLD,
	    FRAME_OBJECT,
	    FUNCTION,
	    .frame_locals = 376,
	    .code_n_locals = 24,
	    .interpreter_threads = 8,
	    .thread_bytes = 160,
	    .thread_next = 8,
	    .thread_id = 152,
	    .thread_frame = 24,
	    .frame_bytes = 128,
	    .frame_instr = 120,
	    .code_bytes = 120,
	    .code_name = 104,
	    .code_file = 96,
	    .code_line = 36,
	    .code_lines = 112,
	    .instr_unit = 1,
	    .str_ascii = 48,
	    .str_compact = 72 } },
	{ 144,
	  { .minor = 7,
	    .seam = PYTHON_BY_CODE,
	    .lines_format = PYTHON_LNOTAB,
	    COMMON_OF_OLD,
	    FRAME_OBJECT,
	    FUNCTION,
	    .frame_locals = 360,
	    .code_n_locals = 24,
	    .interpreters_at = 24,
	    .interpreter_threads = 8,
	    .thread_bytes = 184,
	    .thread_next = 8,
	    .thread_id = 176,
	    .thread_frame = 24,
	    .frame_bytes = 112,
	    .frame_instr = 104,
	    .code_bytes = 120,
	    .code_name = 104,
	    .code_file = 96,
	    .code_line = 36,
	    .code_lines = 112,
	    .instr_unit = 1,
	    .str_ascii = 48,
	    .str_compact = 72 } },
	{ 176,
	  { .minor = 8,
	    .seam = PYTHON_BY_CODE,
	    .lines_format = PYTHON_LNOTAB,
	    COMMON_OF_OLD,
	    FRAME_OBJECT,
	    FUNCTION,
	    .frame_locals = 360,
	    .code_n_locals = 28,
	    .interpreters_at = 32,
	    .interpreter_threads = 8,
	    .thread_bytes = 184,
	    .thread_next = 8,
	    .thread_id = 176,
	    .thread_frame = 24,
	    .frame_bytes = 112,
	    .frame_instr = 104,
	    .code_bytes = 128,
	    .code_name = 112,
	    .code_file = 104,
	    .code_line = 40,
	    .code_lines = 120,
	    .instr_unit = 1,
	    .str_ascii = 48,
	    .str_compact = 72 } },
	{ 176,
	  { .minor = 9,
	    .seam = PYTHON_BY_CODE,
	    .lines_format = PYTHON_LNOTAB,
	    COMMON_OF_OLD,
	    FRAME_OBJECT,
	    FUNCTION,
	    .frame_locals = 360,
	    .code_n_locals = 28,
	    .interpreters_at = 32,
	    .interpreter_threads = 8,
	    .thread_bytes = 184,
	    .thread_next = 8,
	    .thread_id = 176,
	    .thread_frame = 24,
	    .frame_bytes = 112,
	    .frame_instr = 104,
	    .code_bytes = 128,
	    .code_name = 112,
	    .code_file = 104,
	    .code_line = 40,
	    .code_lines = 120,
	    .instr_unit = 1,
	    .str_ascii = 48,
	    .str_compact = 72 } },
	{ 176,
	  { .minor = 10,
	    .seam = PYTHON_BY_CFRAME,
	    COMMON_OF_OLD,
	    FRAME_OBJECT,
	    FUNCTION_OF_310,
	    .frame_locals = 352,
	    .code_n_locals = 28,
	    .interpreters_at = 32,
	    .interpreter_threads = 8,
	    .thread_bytes = 184,
	    .thread_next = 8,
	    .thread_id = 176,
	    .thread_frame = 48,
	    .has_cframe = 1,
	    .cframe_previous = 8,
	    .frame_own = 24,
	    .frame_bytes = 104,
	    .frame_instr = 96,
	    .code_bytes = 128,
	    .code_name = 112,
	    .code_file = 104,
	    .code_line = 40,
	    .code_lines = 120,
	    .instr_unit = 2,
	    .str_ascii = 48,
	    .str_compact = 72,
	    .lines_format = PYTHON_LINETABLE } },
	{ 184,
	  { .minor = 11,
	    .seam = PYTHON_BY_CFRAME,
	    COMMON_OF_OLD,
	    .interpreters_at = 40,
	    .interpreter_threads = 16,
	    .thread_bytes = 160,
	    .thread_next = 8,
	    .thread_id = 152,
	    .thread_frame = 56,
	    .has_cframe = 1,
	    .cframe_frame = 8,
	    .cframe_previous = 16,
	    .frame_bytes = 72,
	    .frame_code = 32,
	    .frame_previous = 48,
	    .frame_instr = 56,
	    .frame_globals = 8,
	    .frame_mark = 68,
	    .code_bytes = 144,
	    .code_name = 128,
	    .code_file = 112,
	    .code_line = 72,
	    .code_lines = 136,
	    .code_instr = 184,
	    .str_ascii = 48,
	    .str_compact = 72,
	    .has_log2_keys = 1,
	    .lines_format = PYTHON_LOCATIONS } },
	{ 192,
	  { .minor = 12,
	    .seam = PYTHON_BY_ENTRY,
	    COMMON_OF_OLD,
	    .interpreters_at = 40,
	    .interpreter_threads = 72,
	    .thread_bytes = 144,
	    .thread_next = 8,
	    .thread_id = 136,
	    .thread_frame = 56,
	    .has_cframe = 1,
	    .cframe_previous = 8,
	    .frame_bytes = 72,
	    .frame_previous = 8,
	    .frame_instr = 56,
	    .frame_globals = 24,
	    .frame_mark = 70,
	    .code_bytes = 144,
	    .code_name = 128,
	    .code_file = 112,
	    .code_line = 68,
	    .code_lines = 136,
	    .code_version = 92,
	    .code_instr = 192,
	    .str_ascii = 40,
	    .str_compact = 56,
	    .has_log2_keys = 1,
	    .lines_format = PYTHON_LOCATIONS } },
};

/* Exported since that version of 3.x, the newest first: "Added in version" of the C API's documentation. */
static const struct {
	unsigned int minor;
	const char *symbol;
} since[] = {
	{ 10, "PyModule_AddObjectRef" },
	{ 9, "PyModule_AddType" },
	{ 8, "PyConfig_InitPythonConfig" },
	{ 7, "PyThread_tss_create" },
	{ 6, "PyOS_FSPath" },
};

/* 0: not known. From 3.11 on it is exported as a number. */
static unsigned int minor_of(const struct elf *elf)
{
	struct symbol symbol;
	uint64_t version = 0;

	if (symbol_by_name(elf, "Py_Version", &symbol))
		return elf_read(elf, symbol.value, &version, sizeof(version)) && version >> 24 == 3
			       ? version >> 16 & 0xff
			       : 0;
	for (size_t i = 0; i < ARRAY_SIZE(since); i++)
		if (symbol_by_name(elf, since[i].symbol, &symbol))
			return since[i].minor;
	return 0;
}

static bool has_code_size(const struct elf *elf, uint64_t type_at, uint64_t basicsize)
{
	uint64_t size = 0;

	return elf_read(elf, type_at + TYPE_BASICSIZE, &size, sizeof(size)) && size == basicsize;
}

/* 3.6 does not export where its interpreters are, but a function that is `return interp_head;`: mov off(%rip), %rax. */
static bool interpreters_of_36(const struct elf *elf, uint64_t *ret_at)
{
	static const uint8_t load[] = { 0x48, 0x8b, 0x05 };
	struct symbol head;
	uint8_t code[sizeof(load) + sizeof(int32_t)];
	int32_t off;

	if (elf_machine(elf) != EM_X86_64 ||
	    !symbol_by_name(elf, "PyInterpreterState_Head", &head) ||
	    !elf_read(elf, head.value, code, sizeof(code)) || memcmp(code, load, sizeof(load)) != 0)
		return false;
	memcpy(&off, code + sizeof(load), sizeof(off));
	*ret_at = head.value + sizeof(code) + (uint64_t)(int64_t)off;
	return true;
}

static bool is_tail_calling(const struct elf *elf, const struct symbol *loop)
{
	uint8_t code[PYTHON_LOOP_BYTES];

	return loop->size_bytes <= sizeof(code) &&
	       elf_read(elf, loop->value, code, loop->size_bytes) &&
	       python_loop_calls_by_table(elf_machine(elf), code, loop->size_bytes);
}

/* From PyCode_Type on; 0: not known. */
static int32_t type_of(const struct elf *elf, const char *name, uint64_t code_type_at)
{
	struct symbol type;

	if (!symbol_by_name(elf, name, &type))
		return 0;
	int64_t off = (int64_t)(type.value - code_type_at);
	return off >= INT32_MIN && off <= INT32_MAX ? (int32_t)off : 0;
}

/* By the size of its code objects, too: builds for debugging and other implementations have another one. */
static bool old_layout(const struct elf *elf, unsigned int minor, struct python_layout *l)
{
	uint64_t code_type_at = l->code_type_at;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].layout.minor != minor ||
		    !has_code_size(elf, code_type_at, known[i].code_basicsize))
			continue;
		*l = known[i].layout;
		l->code_type_at = code_type_at;
		l->function_type = type_of(elf, "PyFunction_Type", code_type_at);
		return true;
	}
	return false;
}

/* Where the CFrame is in the chain and its frame is not in the list. */
static void take_cframes(const struct python_loop *found, struct python_layout *l)
{
	if (!found->cframe_from || !found->cframe_gap_at)
		return;
	l->loop_from = found->from;
	l->loop_gap_at = found->gap_at;
	l->cframe_from = found->cframe_from;
	l->cframe_gap_at = found->cframe_gap_at;
}

/* Where the frame is in the list: of versions that have nothing of it on the C stack, or that have a list beside what is there (3.10). */
static void find_loop(const struct elf *elf, const struct symbol *loop, struct python_layout *l)
{
	uint8_t code[PYTHON_LOOP_BYTES];
	size_t n = MIN_OF(sizeof(code), loop->size_bytes);
	struct python_loop found;

	if ((l->seam != PYTHON_BY_CODE && !l->frame_own) || !elf_read(elf, loop->value, code, n))
		return;
	python_loop_find(elf_machine(elf), code, n, &found);
	if (l->frame_own) {
		python_loop_find_cframes(elf_machine(elf), code, l->thread_frame, &found);
		take_cframes(&found, l);
		return;
	}
	l->loop_from = found.from <= WIRE_ANCHOR_OFFSET_MASK ? found.from : 0;
	if (found.gap_at > WIRE_ANCHOR_OFFSET_MASK)
		return;
	l->loop_gap_at = found.gap_at;
	l->loop_gap_bytes = found.gap_bytes;
}

static bool described_layout(const struct elf *elf, uint64_t runtime_at, struct python_layout *l)
{
	uint64_t words[PYTHON_OFFSETS_WORDS];
	uint64_t code_type_at = l->code_type_at;

	if (!elf_read(elf, runtime_at, words, sizeof(words)) ||
	    !python_layout_from_offsets(words, ARRAY_SIZE(words), l))
		return false;
	l->code_type_at = code_type_at;
	return true;
}

/* What leads from a task to frames of its coroutines. */
static void find_tasks(const struct elf *elf, struct python_layout *l)
{
	struct python_asyncio asyncio;

	if (!l->gen_bytes)
		return;
	l->coroutine_type = type_of(elf, "PyCoro_Type", l->code_type_at);
	l->generator_type = type_of(elf, "PyGen_Type", l->code_type_at);
	l->async_generator_type = type_of(elf, "PyAsyncGen_Type", l->code_type_at);
	if (python_asyncio_read(elf, &asyncio))
		python_asyncio_join(l, &asyncio);
	else
		python_asyncio_join_known(l);
}

/* A file without symbols, of a version that describes itself. Which functions belong to the loop of a tail-calling one is not known. */
static bool stripped_layout(const struct elf *elf, struct python_layout *ret_layout)
{
	uint64_t runtime_at, code_type_at;

	if (!python_stripped_runtime(elf, &runtime_at) ||
	    !described_layout(elf, runtime_at, ret_layout))
		return false;
	if (!python_stripped_code_type(elf, ret_layout->code_instr, ret_layout->code_type,
				       &code_type_at)) {
		*ret_layout = (struct python_layout){ .seam = PYTHON_UNSUPPORTED,
						      .minor = ret_layout->minor };
		return true;
	}
	ret_layout->interpreters_at += runtime_at;
	ret_layout->code_type_at = code_type_at;
	find_tasks(elf, ret_layout);
	return true;
}

static bool layout_of(const struct elf *elf, unsigned int minor, const struct symbol *runtime,
		      struct python_layout *l)
{
	if (minor > 12)
		return described_layout(elf, runtime->value, l);
	return old_layout(elf, minor, l);
}

bool python_layout_read(const struct elf *elf, struct python_layout *ret_layout,
			bool *ret_is_tail_calling)
{
	struct symbol loop, runtime = { 0 }, code_type;

	*ret_layout = (struct python_layout){ .seam = PYTHON_UNSUPPORTED };
	*ret_is_tail_calling = false;
	if (!symbol_by_name(elf, "_PyEval_EvalFrameDefault", &loop) ||
	    !symbol_by_name(elf, "PyCode_Type", &code_type))
		return stripped_layout(elf, ret_layout);
	unsigned int minor = minor_of(elf);
	bool has_runtime = symbol_by_name(elf, "_PyRuntime", &runtime);
	ret_layout->code_type_at = code_type.value;
	if ((minor > 6 && !has_runtime) || !layout_of(elf, minor, &runtime, ret_layout) ||
	    (minor == 6 && !interpreters_of_36(elf, &runtime.value))) {
		*ret_layout = (struct python_layout){ .seam = PYTHON_UNSUPPORTED,
						      .minor = (uint8_t)minor };
		return true;
	}
	ret_layout->interpreters_at += runtime.value;
	ret_layout->loop_at = loop.value;
	ret_layout->loop_bytes =
		(uint32_t)MIN_OF(loop.size_bytes, (uint64_t)WIRE_ANCHOR_BYTES_MASK);
	find_loop(elf, &loop, ret_layout);
	find_tasks(elf, ret_layout);
	*ret_is_tail_calling = ret_layout->minor >= 14 && is_tail_calling(elf, &loop);
	return true;
}
