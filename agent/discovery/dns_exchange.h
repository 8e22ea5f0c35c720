/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question to one name server: over UDP, and over TCP when the answer does not fit. Nothing blocks. Loop thread only.
 *
 * The port that is asked from is the kernel's choice and the question's id the caller's: who cannot listen has to guess both.
 */
#ifndef XAGENT_AGENT_DISCOVERY_DNS_EXCHANGE_H
#define XAGENT_AGENT_DISCOVERY_DNS_EXCHANGE_H

#include <sys/socket.h>

#include "agent/discovery/dns_message.h"
#include "agent/util/loop.h"

struct dns_exchange;

/* Called once, from the loop, never from within dns_exchange_start; the handle is gone afterwards. An answer, borrowed; or NULL and a sentence
 * that says why there is none. */
typedef void (*dns_exchange_fn)(const struct dns_answer *answer, const char *problem, void *data);

/* `timeout_ns` is for each of the two ways. 0, or -errno: then fn is never called. */
int dns_exchange_start(struct loop *loop, const struct sockaddr_storage *server,
		       const struct dns_question *question, uint64_t timeout_ns, dns_exchange_fn fn,
		       void *data, struct dns_exchange **ret_exchange);
/* Ends it without a callback. NULL-safe. */
void dns_exchange_cancel(struct dns_exchange *x);

#endif
