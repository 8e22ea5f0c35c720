/* SPDX-License-Identifier: Apache-2.0 */
/* Answers on their way to the library; for the server's requests. */
#ifndef XAGENT_AGENT_HTTP_REPLY_H
#define XAGENT_AGENT_HTTP_REPLY_H

#include "agent/http/daemon.h"

#define ANSWER_INIT                                                         \
	((struct http_answer){ .status = MHD_HTTP_OK,                       \
			       .content_type = "text/plain; charset=utf-8", \
			       .body = BUF_INIT(HTTP_SERVER_MAX_ANSWER_BYTES) })

/* Where an answer goes, and the headers that a handler has no say in. */
struct reply {
	const struct http_daemon *daemon;
	struct MHD_Connection *connection;
	const char *allow;
	const char *authenticate;
};

/* Takes the answer's body, not its memory. NULL: no memory. */
struct MHD_Response *reply_make(const struct reply *reply, struct http_answer *answer);

/* Both only from within the request callback; MHD_NO closes the connection. */
enum MHD_Result reply_send(const struct reply *reply, struct http_answer *answer);
enum MHD_Result reply_send_text(const struct reply *reply, unsigned int status, const char *text);

#endif
