/* SPDX-License-Identifier: Apache-2.0 */
/* The table of events. */
#include "agent/sample/event.h"

#include <assert.h>

#define VALUE(type, unit) { type, unit },
#define TYPE(NAME, name, profile, period_type, period_unit, values) \
	[EVENT_##NAME] = { name, profile, { period_type, period_unit }, { values } },

static const struct event_type types[EVENT_MAX] = { EVENTS(TYPE, VALUE) };

#define ONE(type, unit) +1
#define N_VALUES(NAME, name, profile, period_type, period_unit, values) [EVENT_##NAME] = 0 values,

static const size_t n_values[EVENT_MAX] = { EVENTS(N_VALUES, ONE) };

const struct event_type *event_type(enum event event)
{
	assert(event < EVENT_MAX);
	return &types[event];
}

bool event_is_derived(enum event event)
{
	return event == EVENT_WALL;
}

bool event_has_ticks(enum event event)
{
	return event == EVENT_CPU || event == EVENT_WALL;
}

bool event_is_plain(enum event event)
{
	return event > EVENT_OFF_CPU && !event_is_derived(event);
}

size_t event_n_values(enum event event)
{
	assert(event < EVENT_MAX);
	return n_values[event];
}
