/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes → received profile → head → segment: what is accepted makes a sound segment, and the same profile once more is a repetition. Bytes → tables:
 * in one piece and in parts they have the same sum. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/store/ingest/ingest.h"
#include "agent/store/ingest/ingest_tables.h"
#include "agent/util/macro.h"

/* The ceiling of a small store's head. */
#define MAX_HEAD_BYTES ((size_t)4 << 20)
#define NOW_MS INT64_C(1700000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_segment(struct head *h)
{
	struct head_stats stats;
	struct segment *s;
	uint8_t *image;
	size_t n;

	head_stats(h, &stats);
	if (stats.n_profiles == 0 || head_encode(h, &image, &n) < 0)
		return;
	int r = segment_new(image, n, &s);
	assert(r == SEGMENT_OPENED || r == -ENOMEM);
	if (r != SEGMENT_OPENED) {
		free(image);
		return;
	}
	assert(segment_n_series(s) == stats.n_series);
	for (size_t i = 0; i < segment_n_series(s); i++)
		assert(segment_series_label(s, i, "__profile_type__"));
	segment_unref(s);
}

static void put_twice(struct ingest *in)
{
	const struct head_options options = { .max_bytes = MAX_HEAD_BYTES,
					      .slot_ms = 1000,
					      .seed = 5 };
	_cleanup_(head_freep) struct head *h = NULL;
	struct ingest_result first, second;

	if (head_new(&options, &h) < 0)
		return;
	int r = ingest_put(in, h, NULL, 0, &first);
	assert(r == 0 || r == -ENOBUFS || r == -ENOMEM);
	if (r < 0)
		return;
	check_segment(h);
	r = ingest_put(in, h, NULL, 0, &second);
	assert(r < 0 || (second.n_kept == 0 && second.n_repeated == first.n_kept));
}

static int add_part(void *user, struct pprof_builder **part, uint64_t time_ns)
{
	assert(pprof_builder_n_samples(*part) > 0 && time_ns > 0);
	*(int64_t *)user += pprof_builder_total(*part, 0);
	return 0;
}

static void divide(const uint8_t *data, size_t size)
{
	_cleanup_(pprof_builder_freep) struct pprof_builder *whole = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	int64_t sum = 0;

	if (ingest_tables(data, size, 1, NULL, &why, &whole) != INGEST_OPENED)
		return;
	int r = ingest_parts(data, size, 1, NULL, &why, add_part, &sum);
	/* A stack alone may be larger than a part. */
	assert(r == -ENOMEM || r == INGEST_REFUSED_SIZE ||
	       (r == INGEST_OPENED && sum == pprof_builder_total(whole, 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct label items[] = { { "__name__", "process_cpu" }, { "a.b", "c" } };
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	divide(data, size);
	if (labels_new(items, ARRAY_SIZE(items), &labels) < 0)
		return 0;
	int r = ingest_open(labels, data, size, NOW_MS, 0, NULL, &why, &in);
	assert(r == INGEST_OPENED || r == -ENOMEM || why.len > 0);
	if (r == INGEST_OPENED)
		put_twice(in);
	return 0;
}
