/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's containers as targets: one a network and private TCP port, or one a network with the default port; with the labels that
 * Prometheus' and Grafana's discovery of Docker give. A container without a network has none. Pure.
 */
#ifndef XAGENT_AGENT_DISCOVERY_DOCKER_TARGETS_H
#define XAGENT_AGENT_DISCOVERY_DOCKER_TARGETS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/target/target_list.h"

struct docker_targets_options {
	unsigned int port;		  /* of the address of a container that names no port */
	const char *host_networking_host; /* the address of one that has the host's network */
	bool match_first_network;	  /* only the first of its networks, by name */
};

struct docker_counts {
	size_t n_containers;
	size_t n_without_network; /* or without a name, as one that is being removed: no target */
	size_t n_cut; /* labels, networks and targets that were too many or too large, and left out */
};

/* The answers to GET /containers/json and GET /networks, borrowed; the latter may be NULL: then there are no labels of networks. What is
 * missing or of a wrong type is left out. 0, -EBADMSG (no list of containers), -ENOMEM: then the list may have some. */
int docker_targets_make(const json_t *containers, const json_t *networks,
			const struct docker_targets_options *o, struct target_list *list,
			struct docker_counts *ret_counts);

#endif
