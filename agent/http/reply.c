/* SPDX-License-Identifier: Apache-2.0 */
/* Answers on their way to the library. */
#include "agent/http/reply.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "agent/http/encoding.h"

void http_answer_add_header(struct http_answer *answer, const char *name, const char *value)
{
	if (answer->n_headers < HTTP_ANSWER_MAX_HEADERS)
		answer->headers[answer->n_headers++] = (struct http_header){ name, value };
	else
		answer->body.failed = true;
}

static bool has_header(const struct http_answer *answer, const char *name)
{
	for (size_t i = 0; i < answer->n_headers; i++)
		if (strcasecmp(answer->headers[i].name, name) == 0)
			return true;
	return false;
}

void http_answer_gzip(struct http_answer *answer)
{
	answer->is_gzip = !answer->body.failed && encoding_is_worth(answer->content_type) &&
			  answer->body.len >= ENCODING_MIN_BYTES &&
			  encoding_gzip(&answer->body) == 0;
}

/* The headers that tell of it go with the answer's own. */
static void compress(const struct reply *reply, struct http_answer *answer, const char **ret_vary,
		     const char **ret_encoding)
{
	if (!encoding_is_worth(answer->content_type) ||
	    has_header(answer, MHD_HTTP_HEADER_CONTENT_ENCODING))
		return;
	*ret_vary = MHD_HTTP_HEADER_ACCEPT_ENCODING;
	if (answer->is_gzip)
		*ret_encoding = "gzip";
	if (answer->is_gzip || answer->body.len < ENCODING_MIN_BYTES ||
	    answer->body.len > ENCODING_MAX_LOOP_BYTES ||
	    !encoding_takes_gzip(MHD_lookup_connection_value(reply->connection, MHD_HEADER_KIND,
							     MHD_HTTP_HEADER_ACCEPT_ENCODING)))
		return;
	if (encoding_gzip(&answer->body) == 0)
		*ret_encoding = "gzip";
}

/* The library's memory only ends with the connection, so the answer's bytes are moved to it. */
static struct MHD_Response *take_body(struct http_answer *answer)
{
	size_t n = answer->body.len;
	char *bytes = buf_take(&answer->body);
	struct MHD_Response *response =
		bytes ? MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE) : NULL;

	if (!response)
		free(bytes);
	return response;
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (value && *value)
		(void)MHD_add_response_header(response, name, value);
}

static void add_headers(struct MHD_Response *response, const struct reply *reply,
			const struct http_answer *answer)
{
	add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
	add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, answer->retry_after);
	add_header(response, MHD_HTTP_HEADER_LOCATION, answer->location);
	for (size_t i = 0; i < answer->n_headers; i++)
		add_header(response, answer->headers[i].name, answer->headers[i].value);
	add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, reply->retry_after);
	add_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
	add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, reply->authenticate);
	if (reply->daemon->retired)
		add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static void say_instead(struct http_answer *answer, unsigned int status, const char *text)
{
	buf_reset(&answer->body);
	answer->status = status;
	answer->content_type = "text/plain; charset=utf-8";
	answer->n_headers = 0;
	answer->is_gzip = false;
	(void)buf_append_str(&answer->body, text);
}

/* Once it is as long as it will be. */
static size_t take_room(const struct reply *reply, struct http_answer *answer,
			const char **ret_encoding)
{
	size_t n = answer->body.len;

	if (n <= ANSWER_SMALL_BYTES)
		return 0;
	if (http_budget_take(&reply->server->answers, n))
		return n;
	http_counts_refused(&reply->server->counts, HTTP_REFUSED_answers_full);
	say_instead(answer, MHD_HTTP_SERVICE_UNAVAILABLE,
		    "answers to others take all the memory there is for them: ask again later\n");
	answer->retry_after = "1";
	*ret_encoding = NULL;
	return 0;
}

struct MHD_Response *reply_make(const struct reply *reply, struct http_answer *answer,
				size_t *ret_held)
{
	const char *vary = NULL, *encoding = NULL;

	if (answer->body.failed)
		say_instead(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "the answer is too large\n");
	compress(reply, answer, &vary, &encoding);
	size_t held = take_room(reply, answer, &encoding);
	struct MHD_Response *response = take_body(answer);
	if (!response) {
		http_budget_give(&reply->server->answers, held);
		return NULL;
	}
	add_headers(response, reply, answer);
	add_header(response, MHD_HTTP_HEADER_VARY, vary);
	add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, encoding);
	*ret_held = held;
	return response;
}

enum MHD_Result reply_send(const struct reply *reply, struct http_answer *answer)
{
	size_t held = 0;
	struct MHD_Response *response = reply_make(reply, answer, &held);

	if (!response)
		return MHD_NO;
	assert(held == 0);
	enum MHD_Result r = MHD_queue_response(reply->connection, answer->status, response);
	MHD_destroy_response(response);
	return r;
}

enum MHD_Result reply_send_text(const struct reply *reply, unsigned int status, const char *text)
{
	struct http_answer answer = ANSWER_INIT;

	answer.status = status;
	(void)buf_append_str(&answer.body, text);
	enum MHD_Result r = reply_send(reply, &answer);
	buf_fini(&answer.body);
	return r;
}
