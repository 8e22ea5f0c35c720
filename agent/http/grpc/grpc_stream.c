/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, from their headers to their handler. */
#include <stdlib.h>
#include <strings.h>

#include "agent/http/grpc/grpc_link.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Of a body that is refused. */
#define DRAIN_MAX_BYTES ((size_t)8 << 20)

struct grpc_stream *grpc_stream_open(struct grpc_link *link, int32_t id, uint64_t now_ns)
{
	struct grpc_server *server = link->server;
	struct grpc_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->link = link;
	s->id = id;
	s->is_allowed = access_allows(&server->access, "", NULL);
	s->deadline_ns = now_ns + server->options.body_timeout_s * NS_PER_S;
	grpc_frames_init(&s->frames, server->options.max_message_bytes);
	list_push_back(&link->streams, &s->node);
	if (link->n_waiting == 0)
		connection_sends(&server->connections, &link->connection, now_ns);
	return s;
}

void grpc_stream_close(struct grpc_stream *s)
{
	s->link->n_waiting -= s->state == GRPC_WAITS;
	if (s->call)
		s->call->stream = NULL;
	http_budget_give(&s->link->server->bodies, s->n_body);
	grpc_frames_fini(&s->frames);
	list_remove(&s->node);
	free(s);
}

/* ---- headers ---- */

static bool is(struct str s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

/* application/grpc, +proto at will, and parameters. */
static bool is_grpc_type(struct str type)
{
	static const struct str bare = STR_LIT("application/grpc"), proto = STR_LIT("+proto");

	if (type.n < bare.n || strncasecmp(type.p, bare.p, bare.n) != 0)
		return false;
	type = (struct str){ type.p + bare.n, type.n - bare.n };
	if (str_starts_with(type, proto))
		type = (struct str){ type.p + proto.n, type.n - proto.n };
	return type.n == 0 || *type.p == ';';
}

static void read_path(struct grpc_stream *s, struct str path)
{
	if (path.n >= sizeof(s->path))
		return;
	memcpy(s->path, path.p, path.n);
	s->path[path.n] = '\0';
}

static void read_authorization(struct grpc_stream *s, struct str value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(GRPC_MAX_HEADER_BYTES);

	if (buf_append(&text, value.p, value.n) == 0)
		s->is_allowed = access_allows(&s->link->server->access, "", buf_str(&text));
}

bool grpc_stream_header(struct grpc_stream *s, struct str name, struct str value)
{
	s->n_header_bytes += name.n + value.n + 32;
	if (s->n_header_bytes > GRPC_MAX_HEADER_BYTES)
		return false;
	if (is(name, ":method"))
		s->is_post = is(value, "POST");
	else if (is(name, ":path"))
		read_path(s, value);
	else if (is(name, "content-type"))
		s->is_grpc = is_grpc_type(value);
	else if (is(name, "authorization"))
		read_authorization(s, value);
	else if (is(name, "grpc-encoding")) {
		s->is_gzip = is(value, "gzip");
		s->is_encoding_unknown = !s->is_gzip && !is(value, "identity");
	}
	return true;
}

/*
 * The answer waits until the client has sent its call: RFC 9113 8.1 lets it come before, but libcurl 7.88 takes the reset that follows then for a
 * failure, and without one waits for ever.
 */
static void refuse(struct grpc_stream *s, enum grpc_code code, const char *message)
{
	s->state = GRPC_DRAINS;
	s->code = code;
	(void)snprintf(s->refusal, sizeof(s->refusal), "%s", message);
	http_budget_give(&s->link->server->bodies, s->n_body);
	s->n_body = 0;
	grpc_frames_fini(&s->frames);
}

static void refuse_http(struct grpc_stream *s, unsigned int status)
{
	refuse(s, GRPC_UNIMPLEMENTED, "");
	s->http_status = status;
}

static void send_refusal(struct grpc_stream *s)
{
	const struct grpc_answer answer = { .code = s->code, .message = s->refusal };

	if (s->http_status)
		grpc_answer_http(s, s->http_status);
	else
		grpc_answer_send(s, &answer);
}

/* So much more than may be is not waited for. */
static void drain(struct grpc_stream *s, size_t n)
{
	s->n_drained += n;
	if (s->n_drained <= DRAIN_MAX_BYTES)
		return;
	send_refusal(s);
	grpc_answer_reset(s);
}

void grpc_stream_headers_done(struct grpc_stream *s)
{
	const struct grpc_service *service = &s->link->server->service;
	const char *refusal = service->refusal(s->path, service->data);

	if (!s->is_post)
		refuse_http(s, 405);
	else if (!s->is_grpc)
		refuse_http(s, 415);
	else if (!s->is_allowed)
		refuse(s, GRPC_UNAUTHENTICATED, "a name and a password, or a token, are wanted");
	else if (refusal)
		refuse(s, GRPC_UNIMPLEMENTED, refusal);
	else if (s->is_encoding_unknown)
		refuse(s, GRPC_UNIMPLEMENTED, "grpc-encoding must be gzip or identity");
}

/* ---- the message ---- */

static void refuse_counted(struct grpc_stream *s, enum http_refusal why, enum grpc_code code,
			   const char *message)
{
	http_counts_refused(&s->link->server->counts, why);
	refuse(s, code, message);
}

static void refuse_length(struct grpc_stream *s)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "a message of at most %zu bytes is taken here",
		       s->frames.message.max_bytes);
	refuse_counted(s, HTTP_REFUSED_body_too_long, GRPC_RESOURCE_EXHAUSTED, text);
}

static void refuse_bytes(struct grpc_stream *s, int outcome)
{
	switch (outcome) {
	case GRPC_FRAMES_SOUND:
		return;
	case GRPC_FRAMES_TOO_LARGE:
		refuse_length(s);
		return;
	case GRPC_FRAMES_BROKEN:
		refuse(s, GRPC_INTERNAL, "the first byte of a message is 0 or 1");
		return;
	case GRPC_FRAMES_SEVERAL:
		refuse(s, GRPC_INTERNAL, "a call has one message, and nothing behind it");
		return;
	default:
		refuse(s, GRPC_UNAVAILABLE, "there is no memory for it now");
	}
}

void grpc_stream_bytes(struct grpc_stream *s, const void *bytes, size_t n)
{
	if (s->state == GRPC_DRAINS)
		drain(s, n);
	if (s->state != GRPC_RECEIVES)
		return;
	if (!http_budget_take(&s->link->server->bodies, n)) {
		refuse_counted(s, HTTP_REFUSED_bodies_full, GRPC_UNAVAILABLE,
			       "bodies of others take all the memory there is for them: send it "
			       "again later");
		return;
	}
	s->n_body += n;
	refuse_bytes(s, grpc_frames_add(&s->frames, bytes, n));
}

/* ---- the handler ---- */

/* The account of its bytes moves to the call, which may outlive the stream. */
static struct grpc_call *make_call(struct grpc_stream *s)
{
	struct grpc_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->server = s->link->server;
	call->stream = s;
	call->is_gzip = s->frames.is_compressed;
	call->message = s->frames.message;
	s->frames.message = BUF_INIT(0);
	call->n_body = s->n_body;
	s->n_body = 0;
	list_push_back(&call->server->calls, &call->node);
	return call;
}

static void hand_over(struct grpc_stream *s)
{
	struct grpc_link *link = s->link;

	s->call = make_call(s);
	if (!s->call) {
		refuse(s, GRPC_UNAVAILABLE, "there is no memory for it now");
		return;
	}
	s->state = GRPC_WAITS;
	s->deadline_ns = UINT64_MAX;
	link->n_waiting++;
	connection_waits(&link->connection, clock_mono_ns());
	link->server->service.call(s->call, link->server->service.data);
}

void grpc_stream_end(struct grpc_stream *s)
{
	if (s->state == GRPC_RECEIVES && !grpc_frames_is_whole(&s->frames))
		refuse(s, GRPC_INVALID_ARGUMENT, "the call ended within its message");
	else if (s->state == GRPC_RECEIVES && s->frames.is_compressed && !s->is_gzip)
		refuse(s, GRPC_INTERNAL, "a compressed message without grpc-encoding");
	else if (s->state == GRPC_RECEIVES)
		hand_over(s);
	if (s->state == GRPC_DRAINS)
		send_refusal(s);
}

bool grpc_call_is_gzip(const struct grpc_call *call)
{
	return call->is_gzip;
}

void grpc_call_take_message(struct grpc_call *call, struct buf *ret_message)
{
	*ret_message = call->message;
	call->message = BUF_INIT(0);
}

void grpc_call_answer(struct grpc_call *call, const struct grpc_answer *answer)
{
	struct grpc_stream *s = call->stream;
	struct grpc_link *link = s ? s->link : NULL;

	if (call->server)
		http_budget_give(&call->server->bodies, call->n_body);
	list_remove(&call->node);
	buf_fini(&call->message);
	free(call);
	if (!s)
		return;
	s->call = NULL;
	grpc_answer_send(s, answer);
	grpc_link_flush(link);
}
