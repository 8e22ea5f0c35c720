/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the older YAML: what is taken comes out in this language, what is refused has a reason. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/cli/config/old_river.h"
#include "river-config/river.h"

#define OUT_MAX_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_river(const struct buf *text)
{
	const struct river_file *file;
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, OUT_MAX_BYTES);
	river_diags_init(&diags, &arena);
	if (river_parse("", buf_str(text), text->len, &arena, &diags, &file) == RIVER_INVALID)
		abort();
	river_arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf said = BUF_INIT(OUT_MAX_BYTES);
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX_BYTES);
	struct old_notes notes = { .file = "f", .out = &said };
	struct old_yaml y;
	int r = old_yaml_read((const char *)data, size, &notes, &y);

	if (r == 0 && old_river_write(&y, &notes, &out) == 0)
		check_river(&out);
	if (r == 0)
		old_yaml_fini(&y);
	else if (notes.n_errors == 0)
		abort();
	return 0;
}
