/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a Push request: one series with one sample, since the server gives no status for each
 * of several. Pure. */
#ifndef XAGENT_AGENT_PUSH_ENCODE_H
#define XAGENT_AGENT_PUSH_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/push/labels.h"

/* Pyroscope's largest profile is 4 MiB before compression; nothing sensible comes near after it. */
#define PUSH_MAX_PPROF_BYTES (16 << 20)

/* *ret_body is the caller's to free. 0, -EMSGSIZE (more than PUSH_MAX_PPROF_BYTES), -ENOMEM. */
int push_encode(const struct push_labels *labels, const void *pprof, size_t n_pprof,
		uint8_t **ret_body, size_t *ret_n);

#endif
