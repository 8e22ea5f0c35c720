/* SPDX-License-Identifier: Apache-2.0 */
/* The TCP ports of a container, as Docker lists them. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_DOCKER_PORTS_H
#define XAGENT_AGENT_DISCOVERY_DOCKER_PORTS_H

#include <jansson.h>
#include <stddef.h>

struct docker_port {
	unsigned int private_port;
	unsigned int public_port; /* 0: not published */
	const char *public_ip;	  /* borrowed from the JSON; NULL: none */
};

/* One a private port, in their order: Docker lists one that is published on several addresses several times, in no order; then the first
 * address by its text is taken. What is no TCP port is left out. 0 with an array to be freed, or -ENOMEM. */
int docker_ports_make(const json_t *ports, struct docker_port **ret_ports, size_t *ret_n);

#endif
