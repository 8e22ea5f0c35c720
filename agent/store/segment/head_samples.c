/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one slot as the bytes that an image has of them, and back. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/store/segment/head_private.h"
#include "agent/store/segment/varint.h"
#include "agent/util/saturate.h"

static uint64_t samples_unit(const struct head_sample *samples, size_t n)
{
	uint64_t unit = (uint64_t)samples[0].value;

	for (size_t i = 1; i < n && unit > 1; i++)
		for (uint64_t rest = (uint64_t)samples[i].value % unit; rest > 0;) {
			uint64_t next = unit % rest;

			unit = rest;
			rest = next;
		}
	return unit;
}

/* UINT64_MAX: more than a total holds. */
static uint64_t samples_total(const struct head_sample *samples, size_t n, uint64_t unit)
{
	int64_t total = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(total, samples[i].value, &total))
			return UINT64_MAX;
	return (uint64_t)total / unit;
}

size_t head_samples_bytes(size_t n)
{
	/* Four numbers, and of a sample the step, at most 32 bits, and the value. */
	return 4 * VARINT_MAX_BYTES + n * (5 + VARINT_MAX_BYTES);
}

int head_samples_encode(const struct head_sample *samples, size_t n, uint32_t n_profiles,
			uint8_t **ret_data, uint32_t *ret_n)
{
	assert(n > 0 && n_profiles > 0);

	uint64_t unit = samples_unit(samples, n);
	uint32_t node = SEGMENT_ROOT;
	uint8_t *data = malloc(head_samples_bytes(n));

	if (!data)
		return -ENOMEM;
	uint8_t *p = varint_put(data, n_profiles);

	p = varint_put(varint_put(p, n), unit);
	p = varint_put(p, samples_total(samples, n, unit));
	for (size_t i = 0; i < n; node = samples[i++].node) {
		assert(i == 0 || samples[i].node > node);
		p = varint_put(varint_put(p, samples[i].node - node),
			       (uint64_t)samples[i].value / unit);
	}
	*ret_n = (uint32_t)(p - data);
	uint8_t *exact = realloc(data, *ret_n);
	*ret_data = exact ? exact : data;
	return 0;
}

struct head_sample *head_samples_decode(const uint8_t *data, size_t *ret_n)
{
	uint64_t n_profiles, n, unit, total, step, value;
	const uint8_t *p = varint_get(data, &n_profiles);

	p = varint_get(varint_get(varint_get(p, &n), &unit), &total);
	struct head_sample *samples = calloc(n, sizeof(*samples));

	for (uint64_t i = 0, node = SEGMENT_ROOT; samples && i < n; i++) {
		p = varint_get(varint_get(p, &step), &value);
		node += step;
		samples[i] = (struct head_sample){ (uint32_t)node, (int64_t)(value * unit) };
	}
	*ret_n = n;
	return samples;
}

size_t head_samples_merge(const struct head_sample *a, size_t n_a, const struct head_sample *b,
			  size_t n_b, struct head_sample *out)
{
	size_t n = 0;

	for (size_t i = 0, j = 0; i < n_a || j < n_b;) {
		bool of_a = j == n_b || (i < n_a && a[i].node <= b[j].node);
		bool of_b = i == n_a || (j < n_b && b[j].node <= a[i].node);

		out[n].node = of_a ? a[i].node : b[j].node;
		out[n++].value = saturate_add(of_a ? a[i].value : 0, of_b ? b[j].value : 0);
		i += of_a;
		j += of_b;
	}
	return n;
}
