/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that do not change any more and have several owners. References are taken and dropped on any thread. */
#ifndef XAGENT_AGENT_UTIL_SHARED_BYTES_H
#define XAGENT_AGENT_UTIL_SHARED_BYTES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/cleanup.h"

struct shared_bytes {
	atomic_uint n_refs;
	const uint8_t *data; /* of malloc() */
	size_t n;
};

/* With one reference; takes `data` in any case. 0 or -ENOMEM. */
int shared_bytes_new(uint8_t *data, size_t n, struct shared_bytes **ret_bytes);
struct shared_bytes *shared_bytes_ref(struct shared_bytes *bytes);
void shared_bytes_unref(struct shared_bytes *bytes); /* NULL-safe */
DEFINE_CLEANUP(struct shared_bytes *, shared_bytes_unref);

#endif
