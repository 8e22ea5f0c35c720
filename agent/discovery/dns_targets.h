/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of `discovery.dns`: the records of names as targets, looked up again from time to time.
 *
 * What a name had is kept while no name server answers for it; a name that is gone has no targets. Targets are in the order of the names,
 * and of their addresses, since name servers change the order of the records with each answer. Loop thread only.
 */
#ifndef XAGENT_AGENT_DISCOVERY_DNS_TARGETS_H
#define XAGENT_AGENT_DISCOVERY_DNS_TARGETS_H

#include "agent/discovery/dns_config.h"
#include "agent/target/target_list.h"
#include "agent/util/loop.h"

/* Each may have as many targets as a message has records; a configuration has a handful. */
#define DNS_TARGETS_MAX_NAMES 1000

struct dns_targets_options {
	const char *const *names; /* borrowed as long as it lives */
	size_t n_names;
	enum dns_type type;
	uint16_t port; /* of targets whose records have none */
	uint64_t refresh_interval_ns;
	/* Borrowed; NULL: what DNS_CONFIG_PATH says at the time of each refresh. */
	const struct dns_config *config;
	uint64_t timeout_ns; /* of each question; 0: as a lookup has it */
};

struct dns_targets;

/* After each name that was looked up. `changed`: the targets are others now. May not free it. */
typedef void (*dns_targets_fn)(bool changed, void *data);

/* Nothing is asked yet. 0, -E2BIG (names), -ENOMEM. */
int dns_targets_new(struct loop *loop, const struct dns_targets_options *options, dns_targets_fn fn,
		    void *data, struct dns_targets **ret_targets);
void dns_targets_free(struct dns_targets *t); /* NULL-safe */
DEFINE_CLEANUP(struct dns_targets *, dns_targets_free);

/* Asks now, and every refresh_interval. */
void dns_targets_start(struct dns_targets *t);

struct dns_targets_name {
	const char *name;
	const struct target_list *targets;
	const char *problem; /* of the last time; "": none */
	bool was_asked;	     /* and there was an answer, or a problem */
};

size_t dns_targets_n_names(const struct dns_targets *t);
struct dns_targets_name dns_targets_name(const struct dns_targets *t, size_t i);
/* All targets, a reference each; `ret_list` is empty before. 0, -E2BIG, -ENOMEM. */
int dns_targets_get(const struct dns_targets *t, struct target_list *ret_list);
/* Takes over what another one has found for the names that both have. */
void dns_targets_inherit(struct dns_targets *t, struct dns_targets *from);

/* The targets of one answer, sorted. 0, -E2BIG, -ENOMEM: then the list may have some of them. Pure. */
int dns_targets_of_answer(const struct dns_targets_options *o, const char *name,
			  const struct dns_answer *answer, struct target_list *list);

#endif
