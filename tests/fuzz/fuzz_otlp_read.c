/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes → request of OTLP profiles → pprof: what is accepted makes sound profiles, whose labels and times a store takes. The first byte says gzip and JSON. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "agent/store/otlp/otlp_read.h"
#include "tests/support/pprof_check.h"

#define NOW_NS UINT64_C(1700000000000000000)
#define MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_series(const struct otlp_series *s)
{
	const struct pprof_bytes gz = { (uint8_t *)s->pprof->data, s->pprof->n };
	struct pprof_facts facts;

	assert(!pprof_check(&gz, (size_t)4 << 20, &facts));
	assert(facts.n_samples > 0 && facts.totals[0] > 0);
	assert(labels_get(s->labels, "__name__") && labels_get(s->labels, "service_name"));
	assert(s->labels->n <= LABELS_MAX && s->time_ns > 0 && s->time_ns <= INT64_MAX);
}

/* No two that a store would take for one. */
static void check_different(const struct otlp_profiles *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < i; k++)
			assert(p->items[i].type != p->items[k].type ||
			       p->items[i].time_ns / 1000000 != p->items[k].time_ns / 1000000 ||
			       !labels_equal(p->items[i].labels, p->items[k].labels));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct read_budget_options options = { .inflated_bytes = MAX_BYTES,
						     .elements = OTLP_READ_MAX_ELEMENTS };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct otlp_profiles profiles;
	struct read_budget budget;

	if (size == 0)
		return 0;
	const struct otlp_bytes bytes = { .data = data + 1,
					  .n = size - 1,
					  .is_gzip = data[0] & 1,
					  .is_json = data[0] & 2,
					  .max_plain_bytes = MAX_BYTES };

	read_budget_init(&budget, &options);
	read_budget_begin(&budget);
	int r = otlp_read(&bytes, NOW_NS, &budget, &why, &profiles);
	read_budget_end(&budget);
	assert(r >= 0 || r == -ENOMEM || r == -ECANCELED);
	assert((r == OTLP_READ || r < 0) == (why.len == 0));
	assert(r == OTLP_READ || profiles.n == 0);
	for (size_t i = 0; i < profiles.n; i++)
		check_series(&profiles.items[i]);
	check_different(&profiles);
	otlp_profiles_fini(&profiles);
	return 0;
}
