/* SPDX-License-Identifier: Apache-2.0 */
/* Where an object has code: its executable sections, or its executable segments where sections are stripped. Only for statistics. */
#ifndef XAGENT_AGENT_UNWIND_ROW_TEXT_H
#define XAGENT_AGENT_UNWIND_ROW_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"

/* .init, .plt, .plt.got, .plt.sec, .text, .fini and a few of the program's own; what is beyond is not counted. */
#define ROW_TEXT_MAX 32

struct row_text {
	struct {
		uint64_t begin;
		uint64_t end;
	} ranges[ROW_TEXT_MAX];
	size_t n;
};

void row_text_init(struct row_text *t, struct elf *elf);
uint64_t row_text_overlap(const struct row_text *t, uint64_t begin, uint64_t end);
/* All of it. */
uint64_t row_text_bytes(const struct row_text *t);

#endif
