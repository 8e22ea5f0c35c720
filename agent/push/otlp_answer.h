/* SPDX-License-Identifier: Apache-2.0 */
/* What servers of OTLP say in an answer. Pure. */
#ifndef XAGENT_AGENT_PUSH_OTLP_ANSWER_H
#define XAGENT_AGENT_PUSH_OTLP_ANSWER_H

#include <stdbool.h>

#include "agent/push/verdict.h"
#include "agent/util/str.h"

/* An ExportProfilesServiceResponse: whether all was taken. What was not must not be sent again, says the protocol. PUSH_RETRY: these are no bytes of
 * such a message. */
enum push_verdict otlp_answer_judge(struct str message, struct push_reason *ret_reason);
/* The same in JSON. */
enum push_verdict otlp_answer_judge_json(struct str message, struct push_reason *ret_reason);

/* What a google.rpc.Status says, valid UTF-8 without control characters; false: it is none, or says nothing. */
bool otlp_status_text(struct str message, char *text, size_t n);

/* Pyroscope hands on what its parts say to each other, as a 500 and as UNKNOWN: that too much comes at once, or that one is away. That says nothing
 * about the profile, and the protocol has other answers for it, which are tried again. `text` is what it says. */
bool otlp_is_later(const char *text, bool retry_when_exhausted);

#endif
