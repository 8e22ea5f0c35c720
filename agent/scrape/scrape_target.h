/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the labels of a target to what is scraped of it: one address and one series a kind of profile.
 *
 *	scheme://__address__ / path prefix / path ? params & seconds
 *
 * The meaning of labels is that of Grafana's agent, since people have configurations for it. Pure, but for references to label sets.
 */
#ifndef XAGENT_AGENT_SCRAPE_SCRAPE_TARGET_H
#define XAGENT_AGENT_SCRAPE_SCRAPE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/target/label.h"
#include "agent/util/buf.h"

/* What somebody asks for by `seconds`; more is taken for so many. */
#define SCRAPE_MAX_SECONDS 3600
/* Parameters of one address. */
#define SCRAPE_MAX_PARAMS 64

struct scrape_param {
	const char *key;
	const char *const *values;
	size_t n_values;
};

struct scrape_profile {
	const char *name; /* "memory": the label __name__ of its series */
	const char *path;
	bool enabled;
	bool over_time; /* the target makes it from now on, for some seconds */
};

/* What the configuration says of all targets; borrowed. */
struct scrape_rules {
	const char *job_name, *scheme, *path_prefix;
	const struct scrape_param *params;
	size_t n_params;
	const struct scrape_profile *profiles;
	size_t n_profiles;
	uint64_t seconds; /* of those that are made over a time */
};

struct scrape_target {
	char *url;
	struct labels *from; /* what discovery said */
	struct labels *
		series; /* as it is sent: __name__, __delta__ where no server is to make a difference, labels without "__" */
	const char *name; /* that of the series; borrowed from it */
	uint64_t
		hash; /* of address and labels without __name__: the same in each run of an agent */
	uint64_t seconds; /* the answer takes so long to be made; 0: none */
	bool cumulative;  /* counts from the start of the process */
};

enum scrape_target_outcome { SCRAPE_TARGET_MADE, SCRAPE_TARGET_WRONG };

/* SCRAPE_TARGET_MADE; SCRAPE_TARGET_WRONG with a sentence in `why`; -ENOMEM. */
int scrape_target_make(const struct scrape_rules *rules, const struct scrape_profile *profile,
		       struct labels *from, struct buf *why, struct scrape_target *ret_target);
void scrape_target_fini(struct scrape_target *t);

bool scrape_target_equal(const struct scrape_target *a, const struct scrape_target *b);
/* The same address and the same labels, whatever the profile is called: it is one. */
bool scrape_target_is_at(const struct scrape_target *a, const struct scrape_target *b);

#endif
