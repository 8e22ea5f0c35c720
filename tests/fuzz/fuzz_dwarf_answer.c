/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: what a reader of DWARF says, who may be an attacker's. What is read can be written, and is then the same. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/dwarf/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STRINGS_BYTES ((size_t)4 << 20)

static void check(const struct source_frames *frames)
{
	if (frames->n == 0 || frames->n > SOURCE_FRAMES_MAX)
		abort();
	for (uint32_t i = 0; i < frames->n; i++)
		if (strlen(frames->items[i].function) > DWARF_NAME_MAX_BYTES ||
		    strlen(frames->items[i].file) > DWARF_PATH_MAX_BYTES ||
		    frames->items[i].line > INT32_MAX)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct source_frames frames;
	struct dwarf_answer answer = { .frames = &frames };
	_cleanup_buf_ struct buf again = BUF_INIT(DWARF_MESSAGE_MAX_BYTES);
	struct arena strings;

	if (size > DWARF_MESSAGE_MAX_BYTES)
		return 0;
	arena_init(&strings, STRINGS_BYTES);
	if (dwarf_answer_read(data, size, &strings, &answer) == 0) {
		if (answer.kind == DWARF_HAS_FRAMES)
			check(&frames);
		if (dwarf_answer_write(&answer, &again) != 0 || again.len != size ||
		    memcmp(again.data, data, size) != 0)
			abort();
	}
	arena_fini(&strings);
	return 0;
}
