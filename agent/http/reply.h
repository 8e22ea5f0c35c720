/* SPDX-License-Identifier: Apache-2.0 */
/* Answers on their way to the library; for the server's requests. */
#ifndef XAGENT_AGENT_HTTP_REPLY_H
#define XAGENT_AGENT_HTTP_REPLY_H

#include "agent/http/server_call.h"

#define ANSWER_INIT                                                         \
	((struct http_answer){ .status = MHD_HTTP_OK,                       \
			       .content_type = "text/plain; charset=utf-8", \
			       .body = BUF_INIT(HTTP_SERVER_MAX_ANSWER_BYTES) })

/* Answers that are no longer than this always go: probes are answered, whoever else reads slowly. */
#define ANSWER_SMALL_BYTES ((size_t)64 << 10)

/* Where an answer goes, and the headers that a handler has no say in. */
struct reply {
	struct http_server *server;
	struct http_daemon *daemon;
	struct MHD_Connection *connection;
	const char *allow;
	const char *authenticate;
	const char *retry_after;
};

static inline struct reply server_reply(struct http_daemon *daemon,
					struct MHD_Connection *connection)
{
	return (struct reply){ .server = daemon->owner,
			       .daemon = daemon,
			       .connection = connection };
}

/* Takes the answer's body, not its memory. *ret_held is what it took of the server's budget, to be given back when it is sent;
 * where there is not enough left, the answer becomes a 503. NULL: no memory. */
struct MHD_Response *reply_make(const struct reply *reply, struct http_answer *answer,
				size_t *ret_held);

/* Texts of ours. Both only from within the request callback; MHD_NO closes the connection. */
enum MHD_Result reply_send(const struct reply *reply, struct http_answer *answer);
enum MHD_Result reply_send_text(const struct reply *reply, unsigned int status, const char *text);

#endif
