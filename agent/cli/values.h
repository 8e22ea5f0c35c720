/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of flags that several commands have: cli_flag.parse, and what they want, for messages. Each is 0, -EINVAL or another -errno where the text is
 * no such value. Pure.
 */
#ifndef XAGENT_AGENT_CLI_VALUES_H
#define XAGENT_AGENT_CLI_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* In order of appearance, may repeat. */
struct id_list {
	uint32_t *ids; /* owned */
	size_t n;
};

/* "4711,4712" is added to a struct id_list, of SAMPLER_MAX_FILTERS at most. */
int cli_parse_ids(const char *value, void *member);
/* "0-3,8" replaces a struct cpus; an empty list is none. */
int cli_parse_cpus(const char *value, void *member);
/* uint32_t, from 1 to SAMPLER_MAX_HZ. */
int cli_parse_hz(const char *value, void *member);
/* uint64_t of nanoseconds, above 0. */
int cli_parse_duration(const char *value, void *member);
/* const char *, borrowed; not empty. */
int cli_parse_path(const char *value, void *member);

#endif
