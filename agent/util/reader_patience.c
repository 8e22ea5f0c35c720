/* SPDX-License-Identifier: Apache-2.0 */
/* How long a thread may wait for calls that may never return. */
#include "agent/util/macro.h"
#include "agent/util/reader.h"

uint64_t reader_patience_limit(struct reader_patience *p, uint64_t now_ns)
{
	return MAX_OF(p->least_ns, MIN_OF(p->most_ns, time_share_left(&p->share, now_ns)));
}

void reader_patience_spend(struct reader_patience *p, uint64_t now_ns, uint64_t waited_ns)
{
	uint64_t beyond_ns = waited_ns > p->least_ns ? waited_ns - p->least_ns : 0;

	/* Who waits may have been kept from running: nothing is owed beyond the share. */
	time_share_spend(&p->share, now_ns, MIN_OF(beyond_ns, time_share_left(&p->share, now_ns)));
}
