/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an answer means for a profile. Pure.
 *
 * By HTTP status first, since proxies answer too, and without a Connect body:
 *
 *	2xx of Pyroscope                          sent
 *	no answer; 408 429 500 502 503 504 5xx    retry (429 only with retry_on_http_429)
 *	409 with the Connect code "aborted"       retry
 *	everything else                           drop: the same request would be refused again
 *
 * A 2xx counts only with a Connect content type: without, a login page or the wrong server would
 *swallow profiles in silence. One whose headers were cut off is retried.
 */
#ifndef XAGENT_AGENT_PUSH_VERDICT_H
#define XAGENT_AGENT_PUSH_VERDICT_H

#include <stdbool.h>

#include "agent/http/client.h"

enum push_verdict { PUSH_SENT, PUSH_RETRY, PUSH_DROP };

#define PUSH_MAX_REASON_BYTES 1024

/* For a person: "400 invalid_argument: invalid labels …", "cannot connect to …"; "" with PUSH_SENT.
 */
struct push_reason {
	char text[PUSH_MAX_REASON_BYTES];
};

/* Whether somebody answered at all; an answer that was too long to keep is one. */
bool push_has_answer(const struct http_result *result);

/* The type without parameters: "application/json; charset=utf-8" is "application/json". */
bool push_content_type_is(const char *content_type, const char *type);
/* The first line of a plain text, "" of everything else. */
void push_quote_text(const struct http_result *result, char *quote, size_t n_quote);

enum push_verdict push_judge(const struct http_result *result, bool retry_on_http_429,
			     struct push_reason *ret_reason);

#endif
