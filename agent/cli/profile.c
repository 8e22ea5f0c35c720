/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent profile`: parse the arguments, check that it can be done, run it. */
#include <stdio.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/output.h"
#include "agent/cli/profile_args.h"
#include "agent/cli/profile_check.h"
#include "agent/cli/profiling.h"
#include "agent/util/log.h"

#define MESSAGE_MAX_BYTES 8192

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
	if (r == 0)
		r = output_check(a.output, &why);
	if (r < 0) {
		(void)fprintf(stderr, "xagent: %s\n", buf_str(&why));
		return CLI_EXIT_FAILURE;
	}
	uint32_t hz = a.event.event == EVENT_CPU ? profile_clamp_hz(a.hz, &note) : a.hz;
	if (note.len)
		(void)fprintf(stderr, "xagent: %s\n", buf_str(&note));
	return profiling_run(&a, hz);
}
