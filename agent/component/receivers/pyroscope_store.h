/* SPDX-License-Identifier: Apache-2.0 */
/* What others may see of a pyroscope.store. Loop thread. */
#ifndef XAGENT_AGENT_COMPONENT_RECEIVERS_PYROSCOPE_STORE_H
#define XAGENT_AGENT_COMPONENT_RECEIVERS_PYROSCOPE_STORE_H

#include <stdbool.h>

#include "agent/component/component.h"
#include "agent/store/store.h"

struct store_status {
	struct store_stats stats;
	uint64_t max_age_ns;
};

/* False: it is no pyroscope.store, or does not run. */
bool pyroscope_store_status(const struct component *c, struct store_status *ret_status);

#endif
