/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets from "host:port"; for the server. */
#ifndef XAGENT_AGENT_HTTP_LISTEN_H
#define XAGENT_AGENT_HTTP_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agent/util/str.h"

union listen_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "1.2.3.4:80", "[::1]:80", ":80", "localhost:80". Pure: no name but localhost is looked up. False:
 * not understood. */
bool listen_parse(struct str text, union listen_address *ret_address);

/* Whether only this host can reach it. */
bool listen_is_loopback(const union listen_address *address);

/* A bound, listening, non-blocking socket, or -errno. ":80" without IPv6 in the kernel falls back
 * to IPv4. */
int listen_open(const union listen_address *address, uint16_t *ret_port);

#endif
