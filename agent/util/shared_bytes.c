/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes with several owners. */
#include "agent/util/shared_bytes.h"

#include <errno.h>
#include <stdlib.h>

int shared_bytes_new(uint8_t *data, size_t n, struct shared_bytes **ret_bytes)
{
	struct shared_bytes *bytes = malloc(sizeof(*bytes));

	if (!bytes) {
		free(data);
		return -ENOMEM;
	}
	*bytes = (struct shared_bytes){ .n_refs = 1, .data = data, .n = n };
	*ret_bytes = bytes;
	return 0;
}

struct shared_bytes *shared_bytes_ref(struct shared_bytes *bytes)
{
	atomic_fetch_add_explicit(&bytes->n_refs, 1, memory_order_relaxed);
	return bytes;
}

void shared_bytes_unref(struct shared_bytes *bytes)
{
	if (!bytes || atomic_fetch_sub_explicit(&bytes->n_refs, 1, memory_order_acq_rel) > 1)
		return;
	free((void *)bytes->data);
	free(bytes);
}
