/* SPDX-License-Identifier: Apache-2.0 */
/* Which name servers to ask, and what to put behind a short name (resolv.conf(5)). Pure, but for dns_config_load. */
#ifndef XAGENT_AGENT_DISCOVERY_DNS_CONFIG_H
#define XAGENT_AGENT_DISCOVERY_DNS_CONFIG_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/discovery/dns_answer.h"
#include "agent/util/str.h"

#define DNS_CONFIG_PATH "/etc/resolv.conf"
/* MAXNS of the C library. */
#define DNS_MAX_SERVERS 3
/* The C library has had no limit since 2.26, and 6 before. */
#define DNS_MAX_SEARCH 16

/* An IPv6 address may have its interface behind '%'. */
#define DNS_SERVER_BYTES (INET6_ADDRSTRLEN + 1 + 16)

struct dns_config {
	char servers[DNS_MAX_SERVERS][DNS_SERVER_BYTES];
	size_t n_servers;
	uint16_t port; /* of all of them */
	char search[DNS_MAX_SEARCH][DNS_MAX_NAME_BYTES];
	size_t n_search;
	unsigned int ndots;
};

/* Lines that say nothing to us, or nothing at all, are passed over; without a server it is the one of this host. */
void dns_config_read(struct str text, struct dns_config *ret_config);
/* 0; -errno: the file cannot be read, the server is the one of this host. */
int dns_config_load(const char *path, struct dns_config *ret_config);

/* The i-th full name to ask for: of one that ends with a dot itself alone; with ndots dots in it first itself, otherwise at the end.
 * False: there are no more. What is too long for a name is cut, and no name. */
bool dns_config_candidate(const struct dns_config *config, const char *name, size_t i, char *text,
			  size_t n_text);

#endif
