/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: an ELF file as bytes, the rules for its text without any, and for the ends of its
 * coroutines: spans, rows, and single look-ups, which must agree. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/object/nocfi/nocfi_unwind.h"
#include "agent/object/rules/context_unwind.h"

/* Look-ups cost a walk each. */
#define MAX_LOOKUPS 64
/* For spans: enough for all rows to be kept, and for a few. */
#define ROOM_BYTES ((size_t)1 << 20)
#define LITTLE_ROOM_BYTES ((size_t)2048)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct rows {
	struct unwind_source *source;
	uint64_t end;
	uint64_t at; /* the next row may begin there */
	unsigned int n_lookups;
};

static int check_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct rows *rows = data;
	struct unwind_rule alone;

	if (vaddr < rows->at || vaddr >= rows->end)
		abort();
	rows->at = vaddr + 1;
	if (rows->n_lookups++ >= MAX_LOOKUPS)
		return 0;
	int r = rows->source->rule_at(rows->source, vaddr, &alone);
	if (r < 0)
		return r;
	if (r != 0 || memcmp(&alone, rule, sizeof(alone)) != 0)
		abort();
	return 0;
}

static void use(struct unwind_source *source, size_t max_bytes)
{
	struct unwind_spans spans = { .max_bytes = max_bytes };
	struct unwind_source_stats stats = { 0 };
	struct rows rows = { .source = source };

	if (source->spans(source, &spans, &stats) == 0) {
		for (size_t i = 0; i < spans.n; i++) {
			if (spans.items[i].begin < rows.end || spans.items[i].n_bytes == 0)
				abort();
			rows.at = spans.items[i].begin;
			rows.end = spans.items[i].begin + spans.items[i].n_bytes;
			(void)source->rows(source, &spans.items[i], check_row, &rows, &stats);
		}
	}
	unwind_spans_fini(&spans);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct unwind_source *source = NULL;
	struct unwind_rule rule;
	uint64_t begin, end;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0)
		return 0;
	if (context_unwind_new(elf, &source) == 0) {
		use(source, ROOM_BYTES);
		source->free(source);
	}
	if (nocfi_unwind_new(elf, &source) != 0)
		return 0;
	use(source, ROOM_BYTES);
	source->release(source);
	use(source, LITTLE_ROOM_BYTES);
	source->release(source);
	if (elf_text_range(elf, &begin, &end))
		(void)source->rule_at(source, begin + (end - begin) / 2, &rule);
	source->free(source);
	return 0;
}
