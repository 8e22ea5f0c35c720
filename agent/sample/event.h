/* SPDX-License-Identifier: Apache-2.0 */
/* The table of bpf/events.h, to be read by number. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_EVENT_H
#define XAGENT_AGENT_SAMPLE_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/events.h"

struct event_value {
	const char *type;
	const char *unit;
};

struct event_type {
	const char *name;
	const char *profile;
	struct event_value period;
	struct event_value values[EVENT_MAX_VALUES];
};

const struct event_type *event_type(enum event event);
size_t event_n_values(enum event event);
/* Made by the agent, of samples of other events: no program of the kernel half emits it. Its source is behind all that there are. */
bool event_is_derived(enum event event);
#define EVENT_SOURCE_WALL EVENT_MAX_SOURCES
#define EVENT_ALL_SOURCES (EVENT_MAX_SOURCES + 1)

/* Timer ticks are among its samples, so it has a rate; any other has a limit. */
bool event_has_ticks(enum event event);

/* There is one source of it, and its name says all of what is wanted (struct sampler_options, event_hz). */
bool event_is_plain(enum event event);

#endif
