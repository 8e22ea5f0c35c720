/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as /proc/PID/stat and /proc/PID/status. */
#include <assert.h>

#include "agent/process/proc_stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct proc_stat s;
	uint32_t uid;

	if (proc_stat_parse(text, &s) == 0) {
		assert(s.comm.p >= text.p && s.comm.p + s.comm.n <= text.p + text.n);
		(void)proc_stat_is_dead(&s);
	}
	(void)proc_status_uid(text, &uid);
	return 0;
}
