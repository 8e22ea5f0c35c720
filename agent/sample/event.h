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
/* There is one source of it, and its name says all of what is wanted (struct sampler_options, event_hz). */
bool event_is_plain(enum event event);

#endif
