/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text → selector → series: what is refused says why and where, what is parsed takes or leaves each series, and the same ones the next
 * time.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/store/query/selector.h"
#include "agent/store/segment/head.h"
#include "agent/util/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t text_number(struct head *h, const char *text)
{
	uint32_t number = 0;

	assert(head_text(h, text, strlen(text), &number) == 0);
	return number;
}

/* A series for each value of `host`. */
static struct segment *make_segment(void)
{
	static const char *const values[] = { "a", "b/c", "\xc3\xa4", "line\ntwo",
					      "xxxxxxxxxxxxxxxxxxxxxxxxyz" };
	struct head_options options = { .max_bytes = (size_t)1 << 20, .slot_ms = 1000, .seed = 1 };
	_cleanup_(head_freep) struct head *h = NULL;
	struct head_sample sample = { .value = 1 };
	struct segment_location location = { .address = 1, .mapping = SEGMENT_NONE };
	struct segment *s = NULL;
	uint8_t *image = NULL;
	uint32_t number;
	size_t n;

	assert(head_new(&options, &h) == 0);
	assert(head_location(h, &location, &number) == 0);
	assert(head_node(h, (struct segment_node){ SEGMENT_ROOT, number }, &sample.node) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct segment_label labels[] = {
			{ text_number(h, "__name__"), text_number(h, "process_cpu") },
			{ text_number(h, "host"), text_number(h, values[i]) },
		};

		assert(head_series(h, labels, ARRAY_SIZE(labels), &number) == 0);
		assert(head_put(h, number, 1, 1, &sample, 1) == 0);
	}
	assert(head_encode(h, &image, &n) == 0);
	assert(segment_new(image, n, &s) == SEGMENT_OPENED);
	return s;
}

static void check_on(struct selector *s, const struct segment *segment)
{
	_cleanup_(selector_on_freep) struct selector_on *on = NULL, *again = NULL;
	int r = selector_on_new(s, segment, &on);

	assert(r == 0 || r == -ETIMEDOUT);
	if (r < 0 || selector_on_new(s, segment, &again) < 0)
		return;
	for (size_t i = 0; i < segment_n_series(segment); i++)
		assert(selector_on_match(on, i) == selector_on_match(again, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(segment_unrefp) struct segment *segment = NULL;
	_cleanup_(selector_freep) struct selector *s = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)1 << 20);
	_cleanup_free_ char *text = malloc(size + 1);
	int r;

	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	r = selector_new(text, &why, &s);
	assert(r == SELECTOR_PARSED || r == SELECTOR_WRONG);
	assert((r == SELECTOR_WRONG) == (why.len > 0) && (r == SELECTOR_PARSED) == !!s);
	if (!s)
		return 0;
	segment = make_segment();
	check_on(s, segment);
	return 0;
}
