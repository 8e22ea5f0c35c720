/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: call frame information. The input is an ELF file, or else one byte (bit 0: AArch64,
 * bit 1: .debug_frame) and a section. What is found for single addresses must be what the rows say,
 * unless a table that contradicts its section was asked.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/agent/object/cfi/cfi_fixture.h"

/* More tell nothing new and take their time. */
#define MAX_ROWS 4096
#define MAX_ASKED 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct check {
	struct unwind_source *source;
	const struct unwind_span *span;
	bool same; /* both ways must agree */
	uint64_t last;
	size_t n_rows; /* of the span */
	size_t n_all;
	size_t n_asked;
};

static int check_row(uint64_t vaddr, const struct unwind_rule *rule, void *data)
{
	struct check *check = data;
	struct unwind_rule alone;

	if (check->n_rows++ == 0 ? vaddr != check->span->begin : vaddr <= check->last)
		abort();
	if (vaddr - check->span->begin >= check->span->n_bytes)
		abort();
	check->last = vaddr;
	if (check->n_asked < MAX_ASKED) {
		int r = check->source->rule_at(check->source, vaddr, &alone);

		check->n_asked++;
		if (check->same && (r != 0 || !same_rule(&alone, rule)))
			abort();
	}
	return ++check->n_all > MAX_ROWS ? -ECANCELED : 0;
}

static void use(struct unwind_source *source, bool same)
{
	struct unwind_spans spans = { .max_bytes = FIXTURE_MAX_BYTES };
	struct unwind_source_stats stats = { 0 };
	struct check check = { .source = source, .same = same };
	struct unwind_rule rule;
	uint64_t end = 0;

	(void)source->rule_at(source, FIXTURE_TEXT_VADDR, &rule);
	int r = source->spans(source, &spans, &stats);
	for (size_t i = 0; r == 0 && i < spans.n; i++) {
		check.span = &spans.items[i];
		check.n_rows = 0;
		if (check.span->begin < end || check.span->n_bytes == 0)
			abort();
		end = check.span->begin + check.span->n_bytes;
		if (source->rows(source, check.span, check_row, &check, &stats) != 0)
			break;
	}
	unwind_spans_fini(&spans);
	source->release(source);
	(void)source->rule_at(source, end, &rule);
	source->free(source);
}

static void use_file(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct unwind_source *source;

	if (elf_new(bytes_from_memory(data, size), &elf) != 0)
		return;
	if (cfi_eh_frame_new(elf, &source) == 0)
		use(source, false);
	if (cfi_debug_frame_new(elf, &source) == 0)
		use(source, true);
}

static void use_section(uint8_t kind, const uint8_t *data, size_t size)
{
	static struct fixture_image image;
	struct fixture_bytes b = { .n = 0 };

	put(&b, data, size < sizeof(b.data) ? size : sizeof(b.data));
	if (image_open_section(&image, kind & 1 ? EM_AARCH64 : EM_X86_64, kind & 2, &b) == 0) {
		use(image.source, true);
		image.source = NULL;
	}
	image_close(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
		use_file(data, size);
	else if (size > 1)
		use_section(data[0], data + 1, size - 1);
	return 0;
}
