/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what was asked for is there on this host. */
#include "agent/cli/profile_check.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/cli/proc_status.h"
#include "agent/util/file.h"

#define MAX_SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"

static int check_pid(uint32_t pid, struct buf *why)
{
	uint32_t process;

	if (proc_status_number(pid, "Tgid:", &process) < 0) {
		(void)buf_printf(why, "there is no process %" PRIu32, pid);
		return -ESRCH;
	}
	if (process != pid) {
		(void)buf_printf(why,
				 "%" PRIu32 " is a thread of process %" PRIu32 ": use -t %" PRIu32
				 " or -p %" PRIu32,
				 pid, process, pid, process);
		return -ESRCH;
	}
	return 0;
}

static int check_tid(uint32_t tid, struct buf *why)
{
	uint32_t process;

	if (proc_status_number(tid, "Tgid:", &process) == 0)
		return 0;
	(void)buf_printf(why, "there is no thread %" PRIu32, tid);
	return -ESRCH;
}

static int check_cpus(const struct cpus *wanted, struct buf *why)
{
	_cleanup_cpus_ struct cpus online = { 0 };
	int r = wanted->n ? cpus_online(&online) : 0;

	if (r < 0) {
		(void)buf_printf(why, "cannot read which CPUs are online: %s", strerror(-r));
		return r;
	}
	for (size_t i = 0; i < wanted->n; i++)
		if (!cpus_has(&online, wanted->ids[i])) {
			(void)buf_printf(why, "CPU %u is not online", wanted->ids[i]);
			return -ENODEV;
		}
	return 0;
}

int profile_check(const struct profile_args *a, struct buf *why)
{
	int r = check_cpus(&a->cpus, why);

	for (size_t i = 0; r == 0 && i < a->pids.n; i++)
		r = check_pid(a->pids.ids[i], why);
	for (size_t i = 0; r == 0 && i < a->tids.n; i++)
		r = check_tid(a->tids.ids[i], why);
	return r;
}

uint32_t profile_clamp_hz(uint32_t hz, struct buf *note)
{
	uint64_t max;

	if (file_read_u64(MAX_SAMPLE_RATE, &max) < 0 || max == 0 || hz <= max)
		return hz;
	(void)buf_printf(note,
			 "%" PRIu32
			 " Hz is more than kernel.perf_event_max_sample_rate allows: %" PRIu64,
			 hz, max);
	(void)buf_append_str(note, " Hz are used");
	return (uint32_t)max;
}
