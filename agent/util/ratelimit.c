/* SPDX-License-Identifier: Apache-2.0 */
/* At most `burst` events in each interval. */
#include "agent/util/ratelimit.h"

bool ratelimit_pass(struct ratelimit *rl, uint64_t now_ns, unsigned int *ret_held)
{
	if (rl->n == 0 || now_ns - rl->begin_ns >= rl->interval_ns) {
		rl->begin_ns = now_ns;
		rl->n = 0;
	}
	if (rl->n >= rl->burst) {
		rl->held++;
		return false;
	}
	rl->n++;
	*ret_held = rl->held;
	rl->held = 0;
	return true;
}
