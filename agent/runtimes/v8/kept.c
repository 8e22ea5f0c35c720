/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a source. */
#include "agent/runtimes/v8/kept.h"

size_t v8_kept_room(const struct runtime_memory *memory)
{
	return memory->max_bytes ? memory->max_bytes : SIZE_MAX;
}

size_t v8_kept_texts(uint32_t n)
{
	return sizeof(struct kept) + n * sizeof(struct kept_method);
}

const struct kept_method *v8_kept_find(const struct kept *k, uint32_t begin)
{
	uint32_t low = 0, high = k->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (k->methods[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low < k->n && k->methods[low].begin == begin ? &k->methods[low] : NULL;
}

const char *v8_kept_text(const struct kept *k, const struct kept_method *m)
{
	return (const char *)k + v8_kept_texts(k->n) + m->text;
}
