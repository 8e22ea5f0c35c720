/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How components are: the least healthy of what a component says of itself (running included) and how its last evaluation went.
 * Exited is worse than unhealthy, then unknown, then healthy; of equals the component's own words are shown.
 */
#include "agent/component/component.h"

#include <assert.h>
#include <string.h>

#include "agent/util/clock.h"
#include "agent/util/str.h"

static int badness(enum health_state state)
{
	static const int order[HEALTH_MAX] = {
		[HEALTH_HEALTHY] = 0,
		[HEALTH_UNKNOWN] = 1,
		[HEALTH_UNHEALTHY] = 2,
		[HEALTH_EXITED] = 3,
	};

	return order[state];
}

static void set(struct health *h, enum health_state state, const char *message)
{
	h->state = state;
	h->updated_real_ns = clock_real_ns();
	str_copy_utf8(h->message, sizeof(h->message), str_from(message));
}

static void show(struct component *c)
{
	bool evaluation = badness(c->evaluation.state) > badness(c->reported.state);

	c->health = evaluation ? c->evaluation : c->reported;
}

void component_set_health(struct component *c, enum health_state state, const char *message)
{
	assert(state < HEALTH_MAX && message);
	set(&c->reported, state, message);
	show(c);
}

void component_set_evaluation(struct component *c, enum health_state state, const char *message)
{
	assert(state < HEALTH_MAX && message);
	set(&c->evaluation, state, message);
	show(c);
}

const char *health_state_text(enum health_state state)
{
	static const char *const texts[HEALTH_MAX] = {
		[HEALTH_UNKNOWN] = "unknown",
		[HEALTH_HEALTHY] = "healthy",
		[HEALTH_UNHEALTHY] = "unhealthy",
		[HEALTH_EXITED] = "exited",
	};

	assert(state < HEALTH_MAX);
	return texts[state];
}
