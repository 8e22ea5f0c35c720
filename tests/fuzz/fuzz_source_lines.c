/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a file with debug information as bytes; lines and inlined functions at addresses all over it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/object/lines/source_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small programs, which the corpus has, begin at 0x1000; sections of one function as small ones. */
#define FIRST_VADDR 0x1000
#define LAST_VADDR 0x1200
#define MAX_BYTES ((size_t)4 << 20)

static void use_lines(struct source_lines *l)
{
	for (uint64_t vaddr = FIRST_VADDR; vaddr < LAST_VADDR; vaddr += 5) {
		static struct source_frames frames;
		struct arena strings;

		arena_init(&strings, MAX_BYTES);
		if (source_lines_frames(l, vaddr, &strings, &frames) == 0) {
			if (frames.n == 0 || frames.n > SOURCE_FRAMES_MAX)
				abort();
			for (uint32_t i = 0; i < frames.n; i++)
				if (!frames.items[i].function || !frames.items[i].file)
					abort();
		}
		arena_fini(&strings);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(source_lines_freep) struct source_lines *l = NULL;
	const struct bytes file = bytes_from_memory(data, size);

	if (source_lines_new(&file, MAX_BYTES, NULL, &l) == 0 && source_lines_start(l) == 0)
		use_lines(l);
	return 0;
}
