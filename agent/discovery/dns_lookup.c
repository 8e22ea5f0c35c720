/* SPDX-License-Identifier: Apache-2.0 */
/* A name is looked up. */
#include "agent/discovery/dns_lookup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/discovery/dns_exchange.h"
#include "agent/util/clock.h"

/* A server's address, and what the kernel or the server said. */
#define PROBLEM_BYTES 256

struct dns_lookup {
	struct loop *loop;
	struct dns_lookup_options o;
	struct loop_timer *timer; /* what is tried next is tried from the loop */
	struct dns_exchange *exchange;
	size_t i_candidate;
	size_t i_try;	/* of this candidate: all servers, and all again */
	bool is_unsure; /* of some candidate nobody could say anything */
	char problem[PROBLEM_BYTES];
	dns_lookup_fn fn;
	void *data;
};

void dns_lookup_cancel(struct dns_lookup *l)
{
	if (!l)
		return;
	dns_exchange_cancel(l->exchange);
	loop_timer_free(l->timer);
	free(l);
}
DEFINE_CLEANUP(struct dns_lookup *, dns_lookup_cancel);

static void finish(struct dns_lookup *l, const struct dns_answer *answer)
{
	char problem[PROBLEM_BYTES];
	dns_lookup_fn fn = l->fn;
	void *data = l->data;

	memcpy(problem, l->problem, sizeof(problem));
	dns_lookup_cancel(l);
	fn(answer, answer ? NULL : problem, data);
}

static const struct sockaddr_storage *server_of(const struct dns_lookup *l)
{
	return &l->o.config->servers[l->i_try % l->o.config->n_servers];
}

static void set_problem(struct dns_lookup *l, const char *what)
{
	const struct sockaddr_storage *server = server_of(l);
	char host[NI_MAXHOST] = "?";

	(void)getnameinfo((const struct sockaddr *)server, sizeof(*server), host, sizeof(host),
			  NULL, 0, NI_NUMERICHOST);
	(void)snprintf(l->problem, sizeof(l->problem), "name server %.80s: %.120s", host, what);
}

static void go_on(struct dns_lookup *l)
{
	loop_timer_arm(l->timer, 0);
}

static void next_server(struct dns_lookup *l)
{
	if (++l->i_try == DNS_LOOKUP_ATTEMPTS * l->o.config->n_servers) {
		l->is_unsure = true;
		l->i_try = 0;
		l->i_candidate++;
	}
	go_on(l);
}

static void on_answer(const struct dns_answer *answer, const char *problem, void *data)
{
	struct dns_lookup *l = data;
	char text[32];

	l->exchange = NULL;
	if (answer && answer->rcode == DNS_OK) {
		finish(l, answer);
		return;
	}
	if (answer && answer->rcode == DNS_NO_SUCH_NAME) {
		l->i_try = 0;
		l->i_candidate++;
		go_on(l);
		return;
	}
	if (answer)
		(void)snprintf(text, sizeof(text), "answers with code %u", answer->rcode);
	set_problem(l, problem ? problem : text);
	next_server(l);
}

static int ask(struct dns_lookup *l, const char *candidate)
{
	struct dns_question question;
	uint16_t id;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return -EIO;
	int r = dns_question_write(candidate, l->o.type, id, &question);
	return r < 0 ? r
		     : dns_exchange_start(l->loop, server_of(l), &question, l->o.timeout_ns,
					  on_answer, l, &l->exchange);
}

/* A domain may be too long to stand behind the name: then this is no candidate. */
static void on_timer(void *data)
{
	static const struct dns_answer nothing = { 0 };
	struct dns_lookup *l = data;
	char candidate[2 * DNS_MAX_NAME_BYTES + 2];
	int r;

	if (!dns_config_candidate(l->o.config, l->o.name, l->i_candidate, candidate,
				  sizeof(candidate))) {
		finish(l, l->is_unsure ? NULL : &nothing);
		return;
	}
	r = ask(l, candidate);
	if (r == 0)
		return;
	if (r == -EINVAL) {
		(void)snprintf(l->problem, sizeof(l->problem), "%.150s is no domain name",
			       candidate);
		l->i_try = DNS_LOOKUP_ATTEMPTS * l->o.config->n_servers - 1;
	} else {
		set_problem(l, strerrordesc_np(-r));
	}
	next_server(l);
}

int dns_lookup_start(struct loop *loop, const struct dns_lookup_options *options, dns_lookup_fn fn,
		     void *data, struct dns_lookup **ret_lookup)
{
	_cleanup_(dns_lookup_cancelp) struct dns_lookup *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct dns_lookup){ .loop = loop, .o = *options, .fn = fn, .data = data };
	if (l->o.timeout_ns == 0)
		l->o.timeout_ns = DNS_LOOKUP_TIMEOUT_NS;
	int r = loop_timer_new(loop, on_timer, l, &l->timer);
	if (r < 0)
		return r;
	go_on(l);
	*ret_lookup = TAKE_PTR(l);
	return 0;
}
