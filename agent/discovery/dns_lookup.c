/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name is looked up. A lookup has a c-ares channel of its own: the ports that it asks from are new each time, and nothing is cached.
 *
 * c-ares may not be ended from within its callbacks, so on_response only notes what it is told, and go_on does what follows.
 */
#include "agent/discovery/dns_lookup.h"

/* Debian 12 has 1.18, which lacks what replaces the functions that 1.34 calls deprecated. */
#define CARES_NO_DEPRECATED
#include <ares.h>
#include <arpa/nameser.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* A server's address, and what c-ares says. */
#define PROBLEM_BYTES 256
/* One server over UDP and TCP, and what is about to be closed; what is more is not waited for. */
#define MAX_SOCKETS 8

struct watch {
	struct dns_lookup *lookup;
	struct loop_io *io; /* NULL: free */
	int fd;
};

struct dns_lookup {
	struct loop *loop;
	struct dns_lookup_options o;
	struct loop_timer *timer;
	ares_channel channel;
	struct watch watches[MAX_SOCKETS];
	size_t i_candidate;
	size_t i_try; /* of this candidate: all servers, and all again */
	char candidate[2 * DNS_MAX_NAME_BYTES + 2];
	bool is_asking;
	bool is_found;
	bool is_unsure; /* of some candidate nobody could say anything */
	struct dns_answer answer;
	char problem[PROBLEM_BYTES];
	dns_lookup_fn fn;
	void *data;
};

void dns_lookup_cancel(struct dns_lookup *l)
{
	if (!l)
		return;
	if (l->channel)
		ares_destroy(l->channel);
	loop_timer_free(l->timer);
	dns_answer_fini(&l->answer);
	free(l);
}
DEFINE_CLEANUP(struct dns_lookup *, dns_lookup_cancel);

static void finish(struct dns_lookup *l)
{
	_cleanup_dns_answer_ struct dns_answer answer = l->answer;
	bool is_known = l->is_found || !l->is_unsure;
	char problem[PROBLEM_BYTES];
	dns_lookup_fn fn = l->fn;
	void *data = l->data;

	assert(!l->is_asking);
	l->answer = (struct dns_answer){ 0 };
	memcpy(problem, l->problem, sizeof(problem));
	dns_lookup_cancel(l);
	fn(is_known ? &answer : NULL, is_known ? NULL : problem, data);
}

static const char *server_of(const struct dns_lookup *l)
{
	return l->o.config->servers[l->i_try % l->o.config->n_servers];
}

static void next_candidate(struct dns_lookup *l)
{
	l->i_try = 0;
	l->i_candidate++;
}

static void next_server(struct dns_lookup *l, const char *problem)
{
	(void)snprintf(l->problem, sizeof(l->problem), "name server %.80s: %.120s", server_of(l),
		       problem);
	if (++l->i_try == DNS_LOOKUP_ATTEMPTS * l->o.config->n_servers) {
		l->is_unsure = true;
		next_candidate(l);
	}
}

static void take_answer(struct dns_lookup *l, const void *bytes, size_t n)
{
	int r = dns_answer_read(l->o.type, bytes, n, &l->answer);

	l->is_found = r == 0;
	if (r < 0)
		next_server(l, ares_strerror(r == -EBADMSG ? ARES_EBADRESP : ARES_ENOMEM));
}

static void on_response(void *data, int status, int timeouts, unsigned char *bytes, int n)
{
	struct dns_lookup *l = data;

	(void)timeouts;
	l->is_asking = false;
	if (status == ARES_SUCCESS || status == ARES_ENODATA) {
		take_answer(l, bytes, (size_t)n);
	} else if (status == ARES_ENOTFOUND) {
		next_candidate(l);
	} else if (status == ARES_EBADNAME) {
		(void)snprintf(l->problem, sizeof(l->problem), "%.150s is no domain name",
			       l->candidate);
		l->is_unsure = true;
		next_candidate(l);
	} else {
		next_server(l, ares_strerror(status));
	}
}

static void ask(struct dns_lookup *l)
{
	assert(!l->is_asking);

	int status = ares_set_servers_csv(l->channel, server_of(l));

	/* c-ares takes it for the root. */
	if (!*l->candidate)
		status = ARES_EBADNAME;
	l->is_asking = true;
	if (status == ARES_SUCCESS)
		ares_query(l->channel, l->candidate, ns_c_in, (int)l->o.type, on_response, l);
	else
		on_response(l, status, 0, NULL, 0);
}

/* Asks until there is an answer, or nothing is left to ask for; what fails at once is told at once. */
static void go_on(struct dns_lookup *l)
{
	struct timeval wait;

	while (!l->is_asking) {
		if (l->is_found || !dns_config_candidate(l->o.config, l->o.name, l->i_candidate,
							 l->candidate, sizeof(l->candidate))) {
			finish(l);
			return;
		}
		ask(l);
	}
	if (ares_timeout(l->channel, NULL, &wait))
		loop_timer_arm(l->timer, clock_mono_ns() + (uint64_t)wait.tv_sec * NS_PER_S +
						 (uint64_t)wait.tv_usec * NS_PER_US);
}

static void on_timer(void *data)
{
	struct dns_lookup *l = data;

	ares_process_fd(l->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	go_on(l);
}

static void on_socket(uint32_t events, void *data)
{
	struct watch *w = data;
	struct dns_lookup *l = w->lookup;

	ares_process_fd(l->channel, events & ~(uint32_t)EPOLLOUT ? w->fd : ARES_SOCKET_BAD,
			events & EPOLLOUT ? w->fd : ARES_SOCKET_BAD);
	go_on(l);
}

/* What c-ares waits for; neither: it is about to close the socket. */
static void on_state(void *data, ares_socket_t fd, int readable, int writable)
{
	uint32_t events = (readable ? EPOLLIN : 0) | (writable ? EPOLLOUT : 0);
	struct dns_lookup *l = data;
	struct watch *found = NULL;

	for (size_t i = 0; i < MAX_SOCKETS; i++) {
		struct watch *w = &l->watches[i];

		if (w->io && w->fd == fd) {
			found = w;
			break;
		}
		if (!w->io && !found)
			found = w;
	}
	if (!found || (!found->io && events == 0))
		return;
	if (events == 0) {
		loop_io_free(found->io);
		found->io = NULL;
	} else if (found->io) {
		(void)loop_io_set_events(found->io, events);
	} else {
		found->fd = fd;
		(void)loop_io_new(l->loop, fd, events, on_socket, found, &found->io);
	}
}

/* One server at a time, and each once: what is tried next is ours to say, and whose fault it was. No EDNS, no cache. */
static int open_channel(struct dns_lookup *l)
{
	uint64_t timeout_ns = l->o.timeout_ns ? l->o.timeout_ns : DNS_LOOKUP_TIMEOUT_NS;
	struct ares_options options = {
		.flags = ARES_FLAG_NOCHECKRESP,
		.timeout = (int)(timeout_ns / NS_PER_MS),
		.tries = 1,
		.udp_port = l->o.config->port,
		.tcp_port = l->o.config->port,
		.sock_state_cb = on_state,
		.sock_state_cb_data = l,
	};
	int status = ares_init_options(&l->channel, &options,
				       ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					       ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT |
					       ARES_OPT_SOCK_STATE_CB);

	return status == ARES_SUCCESS ? 0 : status == ARES_ENOMEM ? -ENOMEM : -EIO;
}

int dns_lookup_start(struct loop *loop, const struct dns_lookup_options *options, dns_lookup_fn fn,
		     void *data, struct dns_lookup **ret_lookup)
{
	_cleanup_(dns_lookup_cancelp) struct dns_lookup *l = calloc(1, sizeof(*l));

	assert(fn && options->config->n_servers > 0);
	if (!l)
		return -ENOMEM;
	*l = (struct dns_lookup){ .loop = loop, .o = *options, .fn = fn, .data = data };
	for (size_t i = 0; i < MAX_SOCKETS; i++)
		l->watches[i].lookup = l;
	int r = loop_timer_new(loop, on_timer, l, &l->timer);
	if (r < 0)
		return r;
	r = open_channel(l);
	if (r < 0)
		return r;
	/* From the loop. */
	loop_timer_arm(l->timer, 0);
	*ret_lookup = TAKE_PTR(l);
	return 0;
}
