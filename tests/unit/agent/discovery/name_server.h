/* SPDX-License-Identifier: Apache-2.0 */
/* A name server on the loopback interface, in the test's loop: over UDP and TCP, with its moods. */
#ifndef XAGENT_TESTS_UNIT_AGENT_DISCOVERY_NAME_SERVER_H
#define XAGENT_TESTS_UNIT_AGENT_DISCOVERY_NAME_SERVER_H

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/discovery/dns_answer.h"
#include "agent/util/buf.h"
#include "agent/util/loop.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"
#include "tests/support/unit.h"

/* What a length of two bytes can say. */
#define DNS_MAX_MESSAGE_BYTES 65535

enum mood {
	MOOD_ANSWER,
	MOOD_SILENT,
	MOOD_REFUSE,	     /* code 5 */
	MOOD_TRUNCATE,	     /* over UDP; over TCP an answer */
	MOOD_TRUNCATE_TWICE, /* over TCP too */
	MOOD_HANG_UP,	     /* truncated over UDP, and over TCP half an answer */
	MOOD_LIE_FIRST,	     /* with another id, and with another name; then an answer */
	MOOD_GARBAGE,
};

/* A record: `data` as it is sent. */
struct zone_record {
	const char *name; /* small letters, a dot at the end */
	enum dns_type type;
	const char *data;
	size_t n_data;
};

#define ZONE_RECORD(name, type, data)                    \
	{                                                \
		(name), (type), (data), sizeof(data) - 1 \
	}

struct name_server;

/* A connection. */
struct name_call {
	struct name_server *server;
	struct loop_io *io; /* NULL: free */
	int fd;
};

struct name_server {
	struct loop *loop;
	int udp, tcp;
	struct loop_io *udp_io, *tcp_io;
	struct name_call calls[8];
	uint16_t port;
	enum mood mood;
	const struct zone_record *zone;
	size_t n_zone;
	struct buf asked; /* "name/type " for each question, "+" before those over TCP */
};

static inline void name_server_put_u16(struct buf *b, unsigned int value)
{
	(void)buf_append_char(b, (char)(value >> 8));
	(void)buf_append_char(b, (char)value);
}

/* The question's name as text, small letters; its type. Returns the end of the question. */
static inline size_t name_server_read(const uint8_t *in, char *name, unsigned int *ret_type)
{
	size_t at = 12, n = 0;

	while (in[at] != 0) {
		for (unsigned int i = 1; i <= in[at]; i++)
			name[n++] = (char)tolower(in[at + i]);
		name[n++] = '.';
		at += in[at] + 1U;
	}
	name[n] = '\0';
	*ret_type = (unsigned int)in[at + 1] << 8 | in[at + 2];
	return at + 5;
}

static inline void name_server_put_records(const struct name_server *s, const char *name,
					   unsigned int type, struct buf *out)
{
	for (size_t i = 0; i < s->n_zone; i++) {
		const struct zone_record *r = &s->zone[i];

		if ((unsigned int)r->type != type || strcmp(r->name, name) != 0)
			continue;
		name_server_put_u16(out, 0xc00c);
		name_server_put_u16(out, type);
		name_server_put_u16(out, 1);
		name_server_put_u16(out, 0);
		name_server_put_u16(out, 30);
		name_server_put_u16(out, (unsigned int)r->n_data);
		(void)buf_append(out, r->data, r->n_data);
		out->data[7] = (char)(out->data[7] + 1);
	}
}

static inline bool name_server_has(const struct name_server *s, const char *name)
{
	for (size_t i = 0; i < s->n_zone; i++)
		if (strcmp(s->zone[i].name, name) == 0)
			return true;
	return false;
}

static inline void name_server_answer(struct name_server *s, const uint8_t *in, bool tcp,
				      struct buf *out)
{
	bool cut = s->mood == MOOD_TRUNCATE_TWICE ||
		   ((s->mood == MOOD_TRUNCATE || s->mood == MOOD_HANG_UP) && !tcp);
	unsigned int flags = 0x8180;
	unsigned int type;
	char name[1024];
	size_t end = name_server_read(in, name, &type);

	(void)buf_printf(&s->asked, "%s%s/%u ", tcp ? "+" : "", name, type);
	flags |= s->mood == MOOD_REFUSE ? 5 : name_server_has(s, name) ? 0 : 3;
	flags |= cut ? 0x200 : 0;
	(void)buf_append(out, in, 2);
	name_server_put_u16(out, flags);
	name_server_put_u16(out, 1);
	for (int i = 0; i < 3; i++)
		name_server_put_u16(out, 0);
	(void)buf_append(out, in + 12, end - 12);
	if (!cut)
		name_server_put_records(s, name, type, out);
	if (s->mood == MOOD_GARBAGE)
		out->data[7] = 9;
}

static inline void name_server_lie(const struct name_server *s, const struct buf *out,
				   const struct sockaddr *to, socklen_t n_to)
{
	_cleanup_buf_ struct buf lie = BUF_INIT(DNS_MAX_MESSAGE_BYTES);

	(void)buf_append(&lie, out->data, out->len);
	lie.data[0] ^= 1;
	(void)sendto(s->udp, lie.data, lie.len, 0, to, n_to);
	lie.data[0] ^= 1;
	lie.data[13] ^= 3;
	(void)sendto(s->udp, lie.data, lie.len, 0, to, n_to);
}

static inline void name_server_on_udp(uint32_t events, void *data)
{
	_cleanup_buf_ struct buf out = BUF_INIT(DNS_MAX_MESSAGE_BYTES);
	struct name_server *s = data;
	struct sockaddr_storage from;
	socklen_t n_from = sizeof(from);
	uint8_t in[600] = { 0 };
	ssize_t n = recvfrom(s->udp, in, sizeof(in) - 1, 0, (struct sockaddr *)&from, &n_from);

	(void)events;
	if (n < 17)
		return;
	name_server_answer(s, in, false, &out);
	if (s->mood == MOOD_LIE_FIRST)
		name_server_lie(s, &out, (struct sockaddr *)&from, n_from);
	if (s->mood != MOOD_SILENT)
		(void)sendto(s->udp, out.data, out.len, 0, (struct sockaddr *)&from, n_from);
}

static inline void name_server_hang_up(struct name_call *call)
{
	if (!call->io)
		return;
	loop_io_free(call->io);
	call->io = NULL;
	(void)close(call->fd);
}

static inline void name_server_on_call(uint32_t events, void *data)
{
	_cleanup_buf_ struct buf out = BUF_INIT(2 * DNS_MAX_MESSAGE_BYTES);
	_cleanup_buf_ struct buf message = BUF_INIT(2 * DNS_MAX_MESSAGE_BYTES);
	struct name_call *call = data;
	uint8_t in[600] = { 0 };

	(void)events;
	if (recv(call->fd, in, sizeof(in) - 1, 0) > 17) {
		name_server_answer(call->server, in + 2, true, &message);
		name_server_put_u16(&out, (unsigned int)message.len);
		(void)buf_append(&out, message.data, message.len);
		(void)send(call->fd, out.data,
			   call->server->mood == MOOD_HANG_UP ? out.len / 2 : out.len,
			   MSG_NOSIGNAL);
	}
	name_server_hang_up(call);
}

static inline void name_server_on_tcp(uint32_t events, void *data)
{
	struct name_server *s = data;
	struct name_call *call = s->calls;

	(void)events;
	while (call->io)
		assert_true(++call < s->calls + ARRAY_SIZE(s->calls));
	*call = (struct name_call){ .server = s, .fd = accept4(s->tcp, NULL, NULL, SOCK_CLOEXEC) };
	assert_true(call->fd >= 0);
	assert_int_equal(
		loop_io_new(s->loop, call->fd, EPOLLIN, name_server_on_call, call, &call->io), 0);
}

/* Both on one port; false when another has the TCP one. */
static inline bool name_server_bind(struct name_server *s)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(in);

	s->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	s->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(s->udp, (struct sockaddr *)&in, n) < 0 ||
	    getsockname(s->udp, (struct sockaddr *)&in, &n) < 0)
		return false;
	s->port = ntohs(in.sin_port);
	return bind(s->tcp, (struct sockaddr *)&in, n) == 0 && listen(s->tcp, 8) == 0;
}

static inline void name_server_init(struct name_server *s, struct loop *loop)
{
	bool bound = false;

	*s = (struct name_server){ .loop = loop, .asked = BUF_INIT(100000) };
	for (int i = 0; i < 10 && !bound; i++) {
		bound = name_server_bind(s);
		if (!bound) {
			(void)close(s->udp);
			(void)close(s->tcp);
		}
	}
	assert_true(bound);
	assert_int_equal(loop_io_new(loop, s->udp, EPOLLIN, name_server_on_udp, s, &s->udp_io), 0);
	assert_int_equal(loop_io_new(loop, s->tcp, EPOLLIN, name_server_on_tcp, s, &s->tcp_io), 0);
}

static inline void name_server_fini(struct name_server *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->calls); i++)
		name_server_hang_up(&s->calls[i]);
	loop_io_free(s->udp_io);
	loop_io_free(s->tcp_io);
	(void)close(s->udp);
	(void)close(s->tcp);
	buf_fini(&s->asked);
}

#endif
