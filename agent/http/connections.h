/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections of a server: how long each may take, and which one goes when there are too many; for the daemon and its requests.
 *
 * Each is in one of four states, and all but one have a deadline that no byte of the client's puts off. When one more comes than there may be,
 * one goes: of the address with the most connections, one that has not asked before one that is being served, and of these the one
 * that has been so for the longest. So whoever opens many connections loses them to the next client, and a probe is answered.
 *
 * A connection is ended by shutting its socket down, which the library learns from its epoll descriptor. Loop thread.
 */
#ifndef XAGENT_AGENT_HTTP_CONNECTIONS_H
#define XAGENT_AGENT_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agent/http/refusal.h"
#include "agent/util/list.h"
#include "agent/util/loop.h"

/* IPv4 as in IPv6 (RFC 4291 §2.5.5.2); of IPv6 the network, since one host has all of it (RFC 4291 §2.5.1), but ::1 as
 * it is. All zero: not known. */
#define CONNECTION_PEER_BYTES 16

enum connection_state {
	CONNECTION_ASKS,  /* until its headers are complete, a TLS handshake included */
	CONNECTION_SENDS, /* its body */
	CONNECTION_READS, /* its answer */
	CONNECTION_WAITS, /* for us */
};

struct connection {
	struct list node;
	int fd; /* the library's, open as long as this is in a set; -1: not in one */
	unsigned char peer[CONNECTION_PEER_BYTES];
	enum connection_state state;
	uint64_t since_ns;
	uint64_t deadline_ns; /* UINT64_MAX: none */
	bool has_asked;
	bool ending;
};

struct connections_options {
	size_t max;
	uint64_t request_ns; /* for the headers of the first request */
	uint64_t idle_ns;    /* … of one that follows */
	uint64_t body_ns;
	uint64_t answer_ns;	    /* for an answer, and besides … */
	size_t answer_bytes_per_s; /* … one second for so many bytes */
};

struct connections {
	struct connections_options options;
	const struct http_counts *counts; /* borrowed */
	struct loop_timer *timer;
	struct list all;
	size_t n; /* that are not ending */
};

/* 0 or -errno. */
int connections_init(struct connections *set, struct loop *loop,
		     const struct connections_options *options, const struct http_counts *counts);
/* They are all closed. */
void connections_fini(struct connections *set);

/* Takes it up, and ends another one if there are too many. `address` NULL: not known. */
void connection_open(struct connections *set, struct connection *c, int fd,
		     const struct sockaddr *address, uint64_t now_ns);
/* Nothing when it is in no set. */
void connection_close(struct connections *set, struct connection *c);

/* A number for `peer`: the same for the same one; 0: not known. */
uint64_t connection_peer(const struct connection *c);

/* What it does from now on. */
void connection_sends(const struct connections *set, struct connection *c, uint64_t now_ns);
void connection_waits(struct connection *c, uint64_t now_ns);
void connection_reads(const struct connections *set, struct connection *c, size_t n_bytes,
		      uint64_t now_ns);
/* Its request is done; the next one may come. */
void connection_asks_again(const struct connections *set, struct connection *c, uint64_t now_ns);

/* The one to go for `newest`; NULL: all others wait for us. Pure. */
struct connection *connections_victim(const struct connections *set,
				      const struct connection *newest);
/* Ends those whose deadline has come, and those whose client has left: the library does not learn it when the last bytes and the end come
 * at once (seen in 0.9.75: it reads once for an edge of its epoll descriptor). */
void connections_end_late(struct connections *set, uint64_t now_ns);

#endif
