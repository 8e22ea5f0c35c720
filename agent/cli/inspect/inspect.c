/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent inspect`: the table of what can be looked at. */
#include "agent/cli/inspect/inspect.h"

#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/util/macro.h"
#include "agent/util/suggest.h"

#define MESSAGE_MAX_BYTES 1024

static const struct inspect_command {
	const char *name;
	const char *arguments;
	const char *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "rows", "ELF", "the unwind rules that the kernel half uses for a file", inspect_rows },
	{ "symbols", "ELF", "what a file's functions are named by, and the names",
	  inspect_symbols },
	{ "stack", "PID", "the present stacks of all threads of a process", inspect_stack },
	{ "process", "PID", "what a process's code is unwound and named by", inspect_process },
	{ "eval", "EXPR", "what an expression of the configuration language yields", inspect_eval },
};

static void print_usage(FILE *to)
{
	(void)fputs("xagent inspect: what profiling rests on\n\nUsage:\n", to);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		(void)fprintf(to, "  xagent inspect %-8s [FLAGS] %-8s %s\n", commands[i].name,
			      commands[i].arguments, commands[i].summary);
	(void)fputs("  xagent inspect WHAT --help\n", to);
}

static const struct inspect_command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	_cleanup_buf_ struct buf why = BUF_INIT(MESSAGE_MAX_BYTES);
	const char *names[ARRAY_SIZE(commands)];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	const char *meant = suggest_nearest(name, names, ARRAY_SIZE(names));
	(void)buf_printf(&why, "cannot inspect \"%.100s\"", name);
	if (meant)
		(void)buf_printf(&why, ", did you mean \"%s\"?", meant);
	return cli_usage_error("inspect", &why);
}

int cli_inspect(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return CLI_EXIT_FAILURE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return 0;
	}
	const struct inspect_command *command = command_find(argv[1]);
	return command ? command->run(argc - 1, argv + 1) : unknown(argv[1]);
}
