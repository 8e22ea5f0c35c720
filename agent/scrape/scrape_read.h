/* SPDX-License-Identifier: Apache-2.0 */
/* From an answer to the bytes of a profile. Pure; any thread. Inside of agent/scrape. */
#ifndef XAGENT_AGENT_SCRAPE_SCRAPE_READ_H
#define XAGENT_AGENT_SCRAPE_SCRAPE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/scrape/delta.h"
#include "agent/scrape/scrape_result.h"
#include "agent/util/buf.h"
#include "pprof/pprof.h"

/* SCRAPE_OK: a body with a 2xx status has come, and may be a profile. Else with a sentence in `why`. */
enum scrape_result scrape_check_answer(const struct http_result *result, struct buf *why);

struct scrape_reading {
	struct pprof_bytes pprof; /* gzip'd; the caller frees it */
	size_t n_samples;
	bool restarted; /* another process than that of the last one */
};

/* `delta`: the profile counts from the start of its process; NULL: it is as it is. SCRAPE_OK, or what is wrong, with a sentence in `why`. */
enum scrape_result scrape_read(struct delta *delta, const uint8_t *body, size_t n, struct buf *why,
			       struct scrape_reading *ret_reading);

#endif
