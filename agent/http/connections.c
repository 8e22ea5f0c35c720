/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of a server. */
#include "agent/http/connections.h"

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/hash.h"

/* How often deadlines are looked at: what a second more costs is nothing. */
#define LOOK_NS NS_PER_S

static void on_timer(void *data)
{
	struct connections *set = data;
	uint64_t now_ns = clock_mono_ns();

	connections_end_late(set, now_ns);
	if (!list_empty(&set->all))
		loop_timer_arm(set->timer, now_ns + LOOK_NS);
}

int connections_init(struct connections *set, struct loop *loop,
		     const struct connections_options *options, const struct http_counts *counts)
{
	*set = (struct connections){ .options = *options, .counts = counts };
	list_init(&set->all);
	return loop_timer_new(loop, on_timer, set, &set->timer);
}

void connections_fini(struct connections *set)
{
	assert(!set->timer || list_empty(&set->all));
	loop_timer_free(set->timer);
}

static void put_peer(unsigned char *peer, const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

	memset(peer, 0, CONNECTION_PEER_BYTES);
	if (address && address->sa_family == AF_INET) {
		peer[10] = peer[11] = 0xff;
		memcpy(peer + 12, &v4->sin_addr, 4);
	} else if (address && address->sa_family == AF_INET6) {
		bool whole = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ||
			     IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);

		memcpy(peer, &v6->sin6_addr, whole ? 16 : 8);
	}
}

uint64_t connection_peer(const struct connection *c)
{
	static const unsigned char unknown[CONNECTION_PEER_BYTES];

	if (memcmp(c->peer, unknown, CONNECTION_PEER_BYTES) == 0)
		return 0;
	return hash_bytes(c->peer, CONNECTION_PEER_BYTES, 0) | 1;
}

static void enter(struct connection *c, enum connection_state state, uint64_t now_ns,
		  uint64_t time_ns)
{
	c->state = state;
	c->since_ns = now_ns;
	c->deadline_ns = time_ns == UINT64_MAX ? UINT64_MAX : now_ns + time_ns;
}

static void end(struct connections *set, struct connection *c, enum http_connection_end why)
{
	c->ending = true;
	set->n--;
	http_counts_ended(set->counts, why);
	(void)shutdown(c->fd, SHUT_RDWR);
}

static size_t n_of_peer(const struct connections *set, const struct connection *of)
{
	size_t n = 0;

	LIST_FOREACH (&set->all, at) {
		const struct connection *c = LIST_ENTRY(at, struct connection, node);

		n += !c->ending && memcmp(c->peer, of->peer, CONNECTION_PEER_BYTES) == 0;
	}
	return n;
}

static bool goes_before(const struct connection *a, size_t n_a, const struct connection *b,
			size_t n_b)
{
	if (n_a != n_b)
		return n_a > n_b;
	if ((a->state == CONNECTION_ASKS) != (b->state == CONNECTION_ASKS))
		return a->state == CONNECTION_ASKS;
	return a->since_ns < b->since_ns;
}

struct connection *connections_victim(const struct connections *set,
				      const struct connection *newest)
{
	struct connection *victim = NULL;
	size_t n_victim = 0;

	LIST_FOREACH (&set->all, at) {
		struct connection *c = LIST_ENTRY(at, struct connection, node);

		if (c == newest || c->ending || c->state == CONNECTION_WAITS)
			continue;
		size_t n = n_of_peer(set, c);
		if (!victim || goes_before(c, n, victim, n_victim)) {
			victim = c;
			n_victim = n;
		}
	}
	return victim;
}

void connection_open(struct connections *set, struct connection *c, int fd,
		     const struct sockaddr *address, uint64_t now_ns)
{
	if (list_empty(&set->all))
		loop_timer_arm(set->timer, now_ns + LOOK_NS);
	*c = (struct connection){ .fd = fd };
	put_peer(c->peer, address);
	enter(c, CONNECTION_ASKS, now_ns, set->options.request_ns);
	list_push_back(&set->all, &c->node);
	set->n++;
	struct connection *victim =
		set->n > set->options.max ? connections_victim(set, c) : NULL;
	if (victim)
		end(set, victim, HTTP_ENDED_crowded);
}

void connection_close(struct connections *set, struct connection *c)
{
	if (c->fd < 0)
		return;
	set->n -= !c->ending;
	list_remove(&c->node);
	c->fd = -1;
}

void connection_sends(const struct connections *set, struct connection *c, uint64_t now_ns)
{
	enter(c, CONNECTION_SENDS, now_ns, set->options.body_ns);
}

void connection_waits(struct connection *c, uint64_t now_ns)
{
	enter(c, CONNECTION_WAITS, now_ns, UINT64_MAX);
}

void connection_reads(const struct connections *set, struct connection *c, size_t n_bytes,
		      uint64_t now_ns)
{
	const struct connections_options *o = &set->options;

	enter(c, CONNECTION_READS, now_ns,
	      o->answer_ns + n_bytes / o->answer_bytes_per_s * NS_PER_S);
}

void connection_asks_again(const struct connections *set, struct connection *c, uint64_t now_ns)
{
	c->has_asked = true;
	enter(c, CONNECTION_ASKS, now_ns, set->options.idle_ns);
}

static enum http_connection_end late_end(const struct connection *c)
{
	switch (c->state) {
	case CONNECTION_SENDS:
		return HTTP_ENDED_late_body;
	case CONNECTION_READS:
		return HTTP_ENDED_late_reader;
	case CONNECTION_ASKS:
	case CONNECTION_WAITS:
		break;
	}
	return c->has_asked ? HTTP_ENDED_idle : HTTP_ENDED_late_request;
}

static bool has_left(const struct connection *c)
{
	char byte;

	return (c->state == CONNECTION_ASKS || c->state == CONNECTION_SENDS) &&
	       recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void connections_end_late(struct connections *set, uint64_t now_ns)
{
	LIST_FOREACH (&set->all, at) {
		struct connection *c = LIST_ENTRY(at, struct connection, node);

		if (c->ending)
			continue;
		if (now_ns >= c->deadline_ns)
			end(set, c, late_end(c));
		else if (has_left(c))
			end(set, c, HTTP_ENDED_gone);
	}
}
