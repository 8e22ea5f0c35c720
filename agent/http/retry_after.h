/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Retry-After header (RFC 9110 §10.2.3). Pure.
 *
 *	retry-after = seconds | IMF-fixdate            ("120", "Fri, 31 Dec 1999 23:59:59 GMT")
 *
 * The two obsolete date forms are not read: a server that still sends them gets our own back-off.
 */
#ifndef XAGENT_AGENT_HTTP_RETRY_AFTER_H
#define XAGENT_AGENT_HTTP_RETRY_AFTER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/str.h"

/* More is cut to this; every caller has a lower ceiling of its own. */
#define RETRY_AFTER_MAX_S (365ULL * 24 * 3600)

/* The time to wait from now_real_ns on, 0 for a date in the past; false: not understood. */
bool retry_after_parse(struct str text, uint64_t now_real_ns, uint64_t *ret_wait_ns);

#endif
