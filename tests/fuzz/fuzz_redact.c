/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a configuration that leaves the house: what was the language still is, and its secrets are found in no other text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cli/support/redact.h"
#include "river-config/river.h"

#define OUT_MAX_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parses(const struct buf *text)
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

/* "(secret)" may be one itself. */
static void check_gone(const struct redactor *r, const struct buf *text)
{
	for (size_t i = 0; i < r->texts.n; i++)
		if (!strstr(REDACTED, r->texts.items[i]) && !strstr(r->texts.items[i], REDACTED) &&
		    memmem(buf_str(text), text->len, r->texts.items[i], strlen(r->texts.items[i])))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_redactor_ struct redactor r = { 0 };
	_cleanup_buf_ struct buf config = BUF_INIT(OUT_MAX_BYTES);
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX_BYTES);
	_cleanup_buf_ struct buf other = BUF_INIT(OUT_MAX_BYTES);
	int outcome = redact_config(&r, (const char *)data, size, &config);

	if (outcome == REDACTED_TEXT)
		check_parses(&config);
	else if (config.len)
		abort();
	if (outcome >= 0 && redact_text(&r, buf_str(&config), config.len, &out) == 0 &&
	    redact_text(&r, (const char *)data, size, &other) == 0 && r.texts.n <= 1)
		check_gone(&r, &other);
	return 0;
}
