/* SPDX-License-Identifier: Apache-2.0 */
/* The question for a token, and its answer. Pure but for the secret's file. */
#ifndef XAGENT_AGENT_HTTP_OAUTH2_FORM_H
#define XAGENT_AGENT_HTTP_OAUTH2_FORM_H

#include "agent/http/oauth2.h"

/* application/x-www-form-urlencoded; `secret` NULL: id and secret are in a header. Pairs in the order of their names, as Go's. */
int oauth2_form_write(const struct http_oauth2_options *options, const char *secret,
		      struct buf *out);
/* As a form has it: what is not unreserved becomes %XX, blanks "+". */
int oauth2_form_escape(const char *text, struct buf *out);

/* Appends "TYPE TOKEN"; *ret_expires_s is 0 when the token does not expire. False: no token in it. */
bool oauth2_answer_read(const char *bytes, size_t n, struct buf *authorization,
			uint64_t *ret_expires_s);

#endif
