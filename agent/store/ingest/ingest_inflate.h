/* SPDX-License-Identifier: Apache-2.0 */
/* gzip → bytes, bounded. Pure. For agent/store and agent/scrape. */
#ifndef XAGENT_AGENT_STORE_INGEST_INGEST_INFLATE_H
#define XAGENT_AGENT_STORE_INGEST_INGEST_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum inflate_outcome { INFLATE_DONE, INFLATE_DAMAGED, INFLATE_TOO_LARGE };

/* As a gzip file begins. */
bool inflate_is_gzip(const uint8_t *bytes, size_t n);

/* All members to the last byte. INFLATE_DONE and what the caller frees; -ENOMEM. *ret_n: so many bytes came out, whatever became of them. */
int inflate_gzip(const uint8_t *bytes, size_t n, size_t max_bytes, uint8_t **ret_plain,
		 size_t *ret_n);

#endif
