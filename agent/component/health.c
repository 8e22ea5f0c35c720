/* SPDX-License-Identifier: Apache-2.0 */
/* How components are. */
#include "agent/component/component.h"

#include "agent/util/clock.h"
#include "agent/util/str.h"

void component_set_health(struct component *c, enum health_state state, const char *message)
{
	c->health.state = state;
	c->health.updated_real_ns = clock_real_ns();
	str_copy_utf8(c->health.message, sizeof(c->health.message), str_from(message));
}

const char *health_state_text(enum health_state state)
{
	static const char *const texts[HEALTH_MAX] = {
		[HEALTH_UNKNOWN] = "unknown",
		[HEALTH_HEALTHY] = "healthy",
		[HEALTH_UNHEALTHY] = "unhealthy",
		[HEALTH_EXITED] = "exited",
	};

	return texts[state];
}
