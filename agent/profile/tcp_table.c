/* SPDX-License-Identifier: Apache-2.0 */
/* TCP connections in the stacks of one interval. */
#include "agent/profile/tcp_table.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "agent/sample/call_name.h"
#include "agent/util/hash.h"

static uint64_t hash_of(const void *place)
{
	return hash_bytes(place, sizeof(struct tcp_connection), 0);
}

static bool is_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct tcp_connection)) == 0;
}

_Static_assert(sizeof(struct tcp_connection) ==
		       sizeof(struct wire_connection) + 16 + WIRE_COMM_BYTES,
	       "no gaps: they are compared as they lie");

static const struct place_kind kind = { sizeof(struct tcp_connection), hash_of, is_equal };

struct tcp_connection tcp_connection_peer(const struct tcp_connection *c)
{
	struct tcp_connection peer = { .kind = c->kind, .error = c->error };

	memcpy(peer.ends.peer, c->ends.peer, sizeof(peer.ends.peer));
	if (c->kind == WIRE_TCP_CONNECT)
		peer.ends.peer_port = c->ends.peer_port;
	if (c->kind == WIRE_TCP_ACCEPT)
		peer.ends.local_port = c->ends.local_port;
	return peer;
}

int tcp_table_get(struct tcp_table *t, struct arena *arena, const struct tcp_connection *c,
		  uint32_t *ret_index)
{
	if (place_table_find(&t->places, &kind, c, ret_index))
		return 0;
	return place_table_add(&t->places, &kind, arena, c, ret_index);
}

const struct tcp_connection *tcp_table_at(const struct tcp_table *t, size_t i)
{
	return i < t->places.n ? (const struct tcp_connection *)t->places.items + i : NULL;
}

/* An address, in brackets where a port might be taken for a part of it. */
static void put_address(const __u64 words[2], struct buf *out)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t bytes[16];
	char text[INET6_ADDRSTRLEN] = "";

	memcpy(bytes, words, sizeof(bytes));
	if (memcmp(bytes, mapped, sizeof(mapped)) == 0) {
		(void)inet_ntop(AF_INET, bytes + sizeof(mapped), text, sizeof(text));
		(void)buf_append_str(out, text);
	} else {
		(void)inet_ntop(AF_INET6, bytes, text, sizeof(text));
		(void)buf_printf(out, "[%s]", text);
	}
}

static void put_end(const __u64 address[2], uint16_t port, struct buf *out)
{
	put_address(address, out);
	if (port)
		(void)buf_printf(out, ":%" PRIu16, port);
}

/* A socket that has failed to connect has lost its own end. */
static bool has_both(const struct tcp_connection *c)
{
	return (c->ends.local[0] || c->ends.local[1]) && c->ends.local_port && c->ends.peer_port;
}

/* The process chose its name. */
static void put_process(const struct tcp_connection *c, struct buf *out)
{
	(void)buf_append_str(out, " by ");
	for (size_t i = 0; i < sizeof(c->comm) && c->comm[i]; i++)
		(void)buf_append_char(out, isprint((unsigned char)c->comm[i]) ? c->comm[i] : '?');
	(void)buf_printf(out, "[%" PRIu32 "]", c->pid);
}

static void put_both(const struct tcp_connection *c, struct buf *out)
{
	bool is_theirs = c->kind == WIRE_TCP_ACCEPT;

	if (is_theirs)
		put_end(c->ends.peer, c->ends.peer_port, out);
	else
		put_end(c->ends.local, c->ends.local_port, out);
	(void)buf_append_str(out, " -> ");
	if (is_theirs)
		put_end(c->ends.local, c->ends.local_port, out);
	else
		put_end(c->ends.peer, c->ends.peer_port, out);
}

void tcp_connection_text(const struct tcp_connection *c, struct buf *out)
{
	static const char *const kinds[] = { [WIRE_TCP_CONNECT] = "connect ",
					     [WIRE_TCP_ACCEPT] = "accept ",
					     [WIRE_TCP_RETRANSMIT] = "retransmit " };

	assert(c->kind >= WIRE_TCP_CONNECT && c->kind <= WIRE_TCP_RETRANSMIT);
	(void)buf_append_str(out, kinds[c->kind]);
	if (has_both(c))
		put_both(c, out);
	else
		put_end(c->ends.peer, c->ends.peer_port, out);
	if (!has_both(c) && c->kind == WIRE_TCP_ACCEPT)
		(void)buf_printf(out, " on %" PRIu16, c->ends.local_port);
	if (c->error)
		(void)buf_printf(out, " %s", call_error_name(c->error));
	if (c->pid)
		put_process(c, out);
}
