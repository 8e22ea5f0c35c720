/* SPDX-License-Identifier: Apache-2.0 */
/* One request to a debuginfod server. Inside of debuginfod only. */
#ifndef XAGENT_AGENT_SYMBOL_DEBUGINFOD_FETCH_H
#define XAGENT_AGENT_SYMBOL_DEBUGINFOD_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum debuginfod_fetch_outcome {
	DEBUGINFOD_FETCH_ABSENT = 1, /* the server does not have it */
	DEBUGINFOD_FETCH_FAILED, /* no server, no answer in time, another status, too large, broken off */
	DEBUGINFOD_FETCH_OUTCOME_MAX
};

struct debuginfod_fetch {
	const char *url; /* of the server */
	const char *build_id;
	int fd; /* where the file is written, from its begin */
	uint64_t timeout_ns;
	uint64_t max_bytes;
	const atomic_bool *stop; /* breaks it off, within a second */
};

/* 0: all bytes are there; a debuginfod_fetch_outcome; -errno (writing failed). *ret_n_bytes have come in any case. */
int debuginfod_fetch(const struct debuginfod_fetch *f, uint64_t *ret_n_bytes);

#endif
