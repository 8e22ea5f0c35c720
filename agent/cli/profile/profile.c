/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent profile`: parse the arguments, check that what was asked for is there, run it. */
#include "agent/cli/profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/proc_status.h"
#include "agent/cli/profile/profiling.h"
#include "agent/util/file.h"
#include "agent/util/log.h"

#define MESSAGE_MAX_BYTES 8192
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

int cli_profile(int argc, char **argv)
{
	_cleanup_profile_args_ struct profile_args a = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	_cleanup_buf_ struct buf note = BUF_INIT(MESSAGE_MAX_BYTES);
	int r = profile_args_parse(argc, argv, isatty(STDOUT_FILENO), &a, &why);

	if (r < 0)
		return cli_usage_error("profile", &why);
	if (a.help)
		return fputs(profile_help_text(), stdout) < 0 ? CLI_EXIT_FAILURE : 0;
	log_configure(a.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, LOG_FORMAT_LOGFMT);
	r = profile_check(&a, &why);
	if (r < 0) {
		(void)fprintf(stderr, "xagent: %s\n", buf_str(&why));
		return CLI_EXIT_FAILURE;
	}
	uint32_t hz = event_list_has_ticks(&a.events) ? profile_clamp_hz(a.hz, &note) : a.hz;
	if (note.len)
		(void)fprintf(stderr, "xagent: %s\n", buf_str(&note));
	return profiling_run(&a, hz);
}
