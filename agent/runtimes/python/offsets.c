/* SPDX-License-Identifier: Apache-2.0 */
/* _Py_DebugOffsets: a structure of numbers, which each minor version has extended. */
#include <string.h>

#include "agent/runtimes/python/layout.h"
#include "agent/util/macro.h"

#define COOKIE "xdebugpy"
#define WORD_VERSION 1
#define WORD_FREE_THREADED 2

/* Which word has what, in 3.13, 3.14 and 3.15; 0: none has it. */
#define FIRST_SELF_DESCRIBED 13
#define N_VERSIONS (PYTHON_LAST_MINOR - FIRST_SELF_DESCRIBED + 1)

enum field {
	INTERPRETERS_HEAD,
	INTERPRETER_NEXT,
	INTERPRETER_THREADS,
	THREAD_NEXT,
	THREAD_INTERPRETER,
	THREAD_FRAME,
	THREAD_ID,
	FRAME_PREVIOUS,
	FRAME_EXECUTABLE,
	FRAME_INSTR,
	FRAME_OWNER,
	FRAME_TLBC,
	CODE_FILE,
	CODE_QUALNAME,
	CODE_LINETABLE,
	CODE_FIRSTLINE,
	CODE_ADAPTIVE,
	CODE_TLBC,
	OBJECT_TYPE,
	DICT_KEYS,
	BYTES_SIZE,
	BYTES_DATA,
	STR_STATE,
	STR_LENGTH,
	STR_ASCII,
	/* From here on: not needed for frames of a list. Of the collector: of the interpreter, and in it. */
	GC,
	GC_COLLECTING,
	GC_FRAME,
	INTERPRETER_BYTES,
	FRAME_STACK,
	OBJECT_BYTES,
	SET_USED,
	SET_TABLE,
	SET_MASK,
	TYPE_NAME,
	GEN_FRAME,
	GEN_STATE,
	FIELD_MAX
};

static const uint8_t words_of[FIELD_MAX][N_VERSIONS] = {
	[INTERPRETERS_HEAD] = { 5, 5, 5 },     [INTERPRETER_NEXT] = { 8, 8, 8 },
	[INTERPRETER_THREADS] = { 9, 9, 9 },   [THREAD_NEXT] = { 21, 24, 24 },
	[THREAD_INTERPRETER] = { 22, 25, 25 }, [THREAD_FRAME] = { 23, 26, 26 },
	[THREAD_ID] = { 24, 27, 30 },	       [FRAME_PREVIOUS] = { 29, 32, 40 },
	[FRAME_EXECUTABLE] = { 30, 33, 41 },   [FRAME_INSTR] = { 31, 34, 42 },
	[FRAME_OWNER] = { 33, 36, 44 },	       [FRAME_TLBC] = { 0, 38, 46 },
	[CODE_FILE] = { 35, 40, 48 },	       [CODE_QUALNAME] = { 37, 42, 50 },
	[CODE_LINETABLE] = { 38, 43, 51 },     [CODE_FIRSTLINE] = { 39, 44, 52 },
	[CODE_ADAPTIVE] = { 43, 48, 56 },      [CODE_TLBC] = { 0, 49, 57 },
	[OBJECT_TYPE] = { 45, 51, 59 },	       [DICT_KEYS] = { 57, 67, 79 },
	[BYTES_SIZE] = { 65, 75, 87 },	       [BYTES_DATA] = { 66, 76, 88 },
	[STR_STATE] = { 68, 78, 90 },	       [STR_LENGTH] = { 69, 79, 91 },
	[STR_ASCII] = { 70, 80, 92 },	       [GC] = { 0, 0, 11 },
	[GC_COLLECTING] = { 0, 0, 95 },	       [GC_FRAME] = { 0, 0, 96 },
	[INTERPRETER_BYTES] = { 0, 6, 6 },     [FRAME_STACK] = { 0, 37, 45 },
	[OBJECT_BYTES] = { 0, 50, 58 },	       [SET_USED] = { 0, 63, 75 },
	[SET_TABLE] = { 0, 64, 76 },	       [SET_MASK] = { 0, 65, 77 },
	[TYPE_NAME] = { 0, 53, 61 },	       [GEN_FRAME] = { 0, 85, 101 },
	[GEN_STATE] = { 0, 86, 102 },
};

/* _PyInterpreterFrame.f_globals lies behind f_executable, previous and f_funcobj. */
#define FRAME_GLOBALS 24
/* PyCodeObject.co_version from co_firstlineno on: five numbers lie between them. */
#define VERSION_BEHIND_LINE 24
/* PyCompactUnicodeObject has two words more than PyASCIIObject; the hash of either lies behind its length. */
#define COMPACT_MORE 16

/* A field's value; `max` of what the kernel half reads at once, or may add. False: it cannot be that. */
static bool take(const uint64_t *words, size_t n, unsigned int version, enum field field,
		 uint64_t max, uint64_t *ret_value)
{
	unsigned int at = words_of[field][version];

	if (at == 0 || at >= n || words[at] > max)
		return false;
	*ret_value = words[at];
	return true;
}

static uint8_t largest(const uint8_t *values, size_t n)
{
	uint8_t max = 0;

	for (size_t i = 0; i < n; i++)
		max = MAX_OF(max, values[i]);
	return max;
}

static void add_sizes(struct python_layout *l)
{
	const uint8_t frame[] = { l->frame_code,    l->frame_previous, l->frame_instr,
				  l->frame_globals, l->frame_mark,     l->frame_tlbc };
	const uint8_t code[] = { l->code_type, l->code_name,  l->code_file,
				 l->code_line, l->code_lines, l->code_tlbc };
	const uint8_t thread[] = { l->thread_next, l->thread_interpreter, l->thread_id,
				   l->thread_frame };

	l->thread_bytes = (uint8_t)(largest(thread, ARRAY_SIZE(thread)) + 8);
	l->frame_bytes = (uint8_t)(largest(frame, ARRAY_SIZE(frame)) + 8);
	l->code_bytes = (uint8_t)(largest(code, ARRAY_SIZE(code)) + 8);
}

/* Of what is read into the kernel half's 256 bytes, with the last word. */
#define MAX_OFFSET (256 - 16)

/* What no structure tells of a coroutine that waits: its states (enum _framestate), and where what it awaits lies on its stack. From 3.14 on. */
#define FIRST_WITH_TASKS 14
static const struct {
	int8_t suspended;
	uint8_t n_suspended;
	uint8_t awaited;
} waiting[] = { { -2, 2, 1 }, { 1, 3, 2 } };

static bool has_all_of_coroutines(const uint64_t *v)
{
	return v[INTERPRETER_BYTES] && v[FRAME_STACK] && v[OBJECT_BYTES] && v[SET_USED] &&
	       v[SET_TABLE] && v[SET_MASK] && v[TYPE_NAME] && v[GEN_FRAME] && v[GEN_STATE];
}

static void add_coroutines(const uint64_t *v, struct python_layout *l)
{
	uint64_t frame_bytes = MAX_OF((uint64_t)l->frame_bytes, v[FRAME_STACK] + 8);
	uint64_t bytes = MAX_OF(v[GEN_FRAME] + frame_bytes, v[GEN_STATE] + 1);

	if (l->minor < FIRST_WITH_TASKS || !has_all_of_coroutines(v) || bytes > MAX_OFFSET + 8 ||
	    v[GEN_FRAME] % 8 != 0)
		return;
	l->gen_bytes = (uint8_t)bytes;
	l->gen_frame = (uint8_t)v[GEN_FRAME];
	l->gen_state = (uint8_t)v[GEN_STATE];
	l->gen_suspended = (uint8_t)waiting[l->minor - FIRST_WITH_TASKS].suspended;
	l->gen_n_suspended = waiting[l->minor - FIRST_WITH_TASKS].n_suspended;
	l->gen_awaited = waiting[l->minor - FIRST_WITH_TASKS].awaited;
	l->frame_stack = (uint8_t)v[FRAME_STACK];
	l->object_bytes = (uint8_t)v[OBJECT_BYTES];
	l->set_used = (uint8_t)v[SET_USED];
	l->set_table = (uint8_t)v[SET_TABLE];
	l->set_mask = (uint8_t)v[SET_MASK];
	l->type_name = (uint8_t)v[TYPE_NAME];
	l->asyncio.interpreter_bytes = (uint32_t)v[INTERPRETER_BYTES];
}

static uint64_t largest_of(enum field field)
{
	if (field == INTERPRETER_BYTES)
		return UINT32_MAX;
	return field <= INTERPRETER_THREADS || field == GC ? UINT16_MAX : MAX_OFFSET;
}

static bool is_needed(enum field field)
{
	return field != FRAME_TLBC && field != CODE_TLBC && field < GC;
}

bool python_layout_from_offsets(const uint64_t *words, size_t n, struct python_layout *ret_layout)
{
	uint64_t v[FIELD_MAX] = { 0 };

	if (n <= WORD_FREE_THREADED || memcmp(words, COOKIE, strlen(COOKIE)) != 0 ||
	    words[WORD_VERSION] >> 24 != 3)
		return false;
	unsigned int minor = words[WORD_VERSION] >> 16 & 0xff;
	if (minor < FIRST_SELF_DESCRIBED || minor > PYTHON_LAST_MINOR)
		return false;
	bool is_free_threaded = words[WORD_FREE_THREADED] == 1;
	for (enum field f = 0; f < FIELD_MAX; f++) {
		if (!take(words, n, minor - FIRST_SELF_DESCRIBED, f, largest_of(f), &v[f]) &&
		    is_needed(f))
			return false;
	}
	*ret_layout = (struct python_layout){
		.interpreters_at = v[INTERPRETERS_HEAD],
		.interpreter_next = (uint16_t)v[INTERPRETER_NEXT],
		.interpreter_threads = (uint16_t)v[INTERPRETER_THREADS],
		.thread_next = (uint8_t)v[THREAD_NEXT],
		.thread_interpreter = (uint8_t)v[THREAD_INTERPRETER],
		.thread_id = (uint8_t)v[THREAD_ID],
		.thread_frame = (uint8_t)v[THREAD_FRAME],
		.seam = PYTHON_BY_ENTRY,
		.minor = (uint8_t)minor,
		.frame_code = (uint8_t)v[FRAME_EXECUTABLE],
		.frame_previous = (uint8_t)v[FRAME_PREVIOUS],
		.frame_instr = (uint8_t)v[FRAME_INSTR],
		.frame_globals = FRAME_GLOBALS,
		.frame_mark = (uint8_t)v[FRAME_OWNER],
		.frame_tlbc = is_free_threaded ? (uint8_t)v[FRAME_TLBC] : 0,
		.code_type = (uint8_t)v[OBJECT_TYPE],
		.code_name = (uint8_t)v[CODE_QUALNAME],
		.code_file = (uint8_t)v[CODE_FILE],
		.code_line = (uint8_t)v[CODE_FIRSTLINE],
		.code_lines = (uint8_t)v[CODE_LINETABLE],
		.code_version = (uint8_t)(v[CODE_FIRSTLINE] + VERSION_BEHIND_LINE),
		.code_tlbc = is_free_threaded ? (uint8_t)v[CODE_TLBC] : 0,
		.code_instr = (uint8_t)v[CODE_ADAPTIVE],
		.str_length = (uint8_t)v[STR_LENGTH],
		.str_hash = (uint8_t)(v[STR_LENGTH] + 8),
		.str_state = (uint8_t)v[STR_STATE],
		.str_ascii = (uint8_t)v[STR_ASCII],
		.str_compact = (uint8_t)(v[STR_ASCII] + COMPACT_MORE),
		/* interned is a byte of its own where it may change at any time. */
		.str_kind_shift = is_free_threaded && minor >= 14 ? 8 : 2,
		.bytes_length = (uint8_t)v[BYTES_SIZE],
		.bytes_data = (uint8_t)v[BYTES_DATA],
		.dict_keys = (uint8_t)v[DICT_KEYS],
		.has_log2_keys = 1,
		.lines_format = PYTHON_LOCATIONS,
	};
	if (v[GC_FRAME] && v[GC] + MAX_OFFSET <= UINT16_MAX) {
		ret_layout->collecting = (uint16_t)(v[GC] + v[GC_COLLECTING]);
		ret_layout->collecting_frame = (uint16_t)(v[GC] + v[GC_FRAME]);
	}
	add_sizes(ret_layout);
	add_coroutines(v, ret_layout);
	return true;
}
