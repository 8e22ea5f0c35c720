/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand whose words are process ids. */
#include "agent/cli/inspect_each.h"

#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/inspect_pid.h"
#include "agent/cli/options.h"
#include "agent/util/macro.h"

#define MESSAGE_MAX_BYTES 8192

struct args {
	bool help;
};

static const struct cli_flag flags[] = {
	{ "help", 'h', CLI_SWITCH, offsetof(struct args, help), NULL, NULL },
};

static void complain(struct buf *why)
{
	(void)fprintf(stderr, "xagent: %s\n", buf_str(why));
	buf_reset(why);
}

static int show_all(const struct inspect_pids *pids, inspect_show_fn show, struct buf *why)
{
	_cleanup_inspect_context_ struct inspect_context w = { 0 };
	bool is_first = true;
	int code = 0;
	int r = inspect_context_init(&w);

	if (r < 0) {
		(void)buf_append_str(why, strerror(-r));
		complain(why);
		return CLI_EXIT_FAILURE;
	}
	for (size_t i = 0; i < pids->n; i++) {
		if (show(&w, pids->items[i], is_first, why) == 0) {
			is_first = false;
			continue;
		}
		complain(why);
		code = CLI_EXIT_FAILURE;
	}
	return code;
}

int inspect_each(const char *command, const char *help, inspect_show_fn show, int argc, char **argv)
{
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_inspect_pids_ struct inspect_pids pids = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	struct args a = { 0 };
	int r = cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &a, &words, &why);

	if (r < 0)
		return cli_usage_error(command, &why);
	if (a.help)
		return fputs(help, stdout) < 0 ? CLI_EXIT_FAILURE : 0;
	if (inspect_pids_parse(&words, &pids, &why) < 0)
		return cli_usage_error(command, &why);
	return show_all(&pids, show, &why);
}
