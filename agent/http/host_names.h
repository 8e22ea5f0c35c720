/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of this host, by which clients may ask for it. Pure.
 *
 * From its own files only: what a resolver would say, or a search list that came with the network, is in others' hands.
 */
#ifndef XAGENT_AGENT_HTTP_HOST_NAMES_H
#define XAGENT_AGENT_HTTP_HOST_NAMES_H

#include "agent/http/guard.h"

/* hosts(5) of a machine; what is longer is cut off. */
#define HOST_NAMES_MAX_BYTES ((size_t)64 << 10)

/*
 * Adds `hostname`, whole and up to its first dot, and the other names on the lines of `hosts` (hosts(5)) that have one of the two.
 * What is no name is left out; 0, -ENOBUFS or -ENOMEM.
 */
int host_names_add(struct guard *g, const char *hostname, struct str hosts);

#endif
