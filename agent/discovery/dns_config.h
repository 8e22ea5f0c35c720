/* SPDX-License-Identifier: Apache-2.0 */
/* Which name servers to ask, and what to put behind a short name (resolv.conf(5)). Pure, but for dns_config_load. */
#ifndef XAGENT_AGENT_DISCOVERY_DNS_CONFIG_H
#define XAGENT_AGENT_DISCOVERY_DNS_CONFIG_H

#include <stddef.h>
#include <sys/socket.h>

#include "agent/discovery/dns_message.h"
#include "agent/util/str.h"

#define DNS_CONFIG_PATH "/etc/resolv.conf"
/* MAXNS of the C library. */
#define DNS_MAX_SERVERS 3
/* The C library has had no limit since 2.26, and 6 before. */
#define DNS_MAX_SEARCH 16

struct dns_config {
	struct sockaddr_storage servers[DNS_MAX_SERVERS];
	size_t n_servers;
	char search[DNS_MAX_SEARCH][DNS_MAX_NAME_BYTES];
	size_t n_search;
	unsigned int ndots;
};

/* Lines that say nothing to us, or nothing at all, are passed over; without a server it is the one of this host. */
void dns_config_read(struct str text, struct dns_config *ret_config);
/* 0; -errno: the file cannot be read, the server is the one of this host. */
int dns_config_load(const char *path, struct dns_config *ret_config);

/* An address with a port; IPv6 may have its interface behind '%'. 0 or -EINVAL. */
int dns_server_parse(const char *text, uint16_t port, struct sockaddr_storage *ret_server);

/* The i-th full name to ask for: of one that ends with a dot itself alone; with ndots dots in it first itself, otherwise at the end.
 * False: there are no more. What is too long for a name is cut, and no name. */
bool dns_config_candidate(const struct dns_config *config, const char *name, size_t i, char *text,
			  size_t n_text);

#endif
