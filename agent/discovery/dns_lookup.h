/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name is looked up: with each domain of the search list, by each name server until one answers. c-ares asks, over UDP, and over TCP when
 * the answer does not fit. Nothing blocks: its sockets and its timer are in the loop. Loop thread only.
 *
 *	a name that is there		its records, there may be none of the type
 *	no such name, in any domain	no records
 *	a server that fails		the next one is asked; when all fail, the next domain
 *	no server answers for a domain	the name may be there or not: a problem, unless a later domain has it
 */
#ifndef XAGENT_AGENT_DISCOVERY_DNS_LOOKUP_H
#define XAGENT_AGENT_DISCOVERY_DNS_LOOKUP_H

#include "agent/discovery/dns_answer.h"
#include "agent/discovery/dns_config.h"
#include "agent/util/loop.h"

/* `attempts` of resolv.conf(5): so often all servers are asked. */
#define DNS_LOOKUP_ATTEMPTS 2
/* A server that asks others itself needs a second at times. */
#define DNS_LOOKUP_TIMEOUT_NS (2ULL * 1000000000)

struct dns_lookup_options {
	const struct dns_config *config; /* borrowed until the end */
	const char *name;		 /* likewise */
	enum dns_type type;
	uint64_t
		timeout_ns; /* of the first question to each server, twice that of the second; 0: DNS_LOOKUP_TIMEOUT_NS */
};

struct dns_lookup;

/* Called once, from the loop, never from within dns_lookup_start; the handle is gone afterwards. An answer,
 * borrowed; or NULL and a sentence that says why there is none. */
typedef void (*dns_lookup_fn)(const struct dns_answer *answer, const char *problem, void *data);

/* 0 or -errno: then fn is never called. */
int dns_lookup_start(struct loop *loop, const struct dns_lookup_options *options, dns_lookup_fn fn,
		     void *data, struct dns_lookup **ret_lookup);
/* Ends it without a callback. NULL-safe. */
void dns_lookup_cancel(struct dns_lookup *l);

#endif
