/* SPDX-License-Identifier: Apache-2.0 */
/* The command table, --help and --version. */
#include "agent/cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/cli/argv_secrets.h"
#include "agent/util/suggest.h"
#include "agent/util/macro.h"
#include "agent/version.h"

static const struct cli_command {
	const char *name;
	const char *arguments;
	const char *summary;
	int (*run)(int argc, char **argv);
	const char *alias; /* not shown; NULL: none */
} commands[] = {
	{ "run", "[FLAGS] [PATH]", "profile this host: flame graphs at its own address", cli_run,
	  NULL },
	{ "validate", "[FLAGS] PATH", "say what is wrong with a configuration", cli_validate,
	  NULL },
	{ "fmt", "[-w|-t] [FILE|-]", "lay a configuration out as everybody does", cli_fmt,
	  "format" },
	{ "convert", "--source-format=yaml [FILE]", "older configurations in this language",
	  cli_convert, NULL },
	{ "profile", "[FLAGS] [-- COMMAND]",
	  "profile now, for a person: a table, a flame graph, pprof", cli_profile, NULL },
	{ "top", "[FLAGS]", "which services and functions are busy, again and again", cli_top,
	  NULL },
	{ "inspect", "WHAT [FLAGS] PID|ELF|EXPR",
	  "look at a process's stacks, what it is unwound by, a file's rules", cli_inspect, NULL },
};

static void print_usage(FILE *to)
{
	(void)fputs("xagent, a continuous CPU profiler for Linux\n\nUsage:\n", to);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		(void)fprintf(to, "  xagent %-8s %-27s  %s\n", commands[i].name,
			      commands[i].arguments, commands[i].summary);
	(void)fputs(
		"  xagent --version\n"
		"  xagent COMMAND --help\n\n"
		"Examples:\n"
		"  xagent profile -d 10                       the hottest functions of this host\n"
		"  xagent top                                 what is busy now, again and again\n"
		"  xagent profile -o cpu.pb.gz -- make        where a build spends its time\n"
		"  xagent run                                 profile all the time, look at it in "
		"a "
		"browser\n"
		"  xagent run /etc/xagent/agent.alloy         … as a configuration says\n"
		"  xagent inspect stack 4711                  what the threads of a process do "
		"now\n",
		to);
}

static int print_version(void)
{
	struct utsname u;

	if (uname(&u) < 0)
		printf("xagent %s\n", XAGENT_VERSION);
	else
		printf("xagent %s (%s %s %s)\n", XAGENT_VERSION, u.sysname, u.release, u.machine);
	return 0;
}

static const struct cli_command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0 ||
		    (commands[i].alias && strcmp(commands[i].alias, name) == 0))
			return &commands[i];
	return NULL;
}

static const char *command_suggest(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	return suggest_nearest(name, names, ARRAY_SIZE(names));
}

static int unknown_command(const char *name)
{
	const char *meant = command_suggest(name);

	(void)fprintf(stderr, "xagent: unknown %s \"%s\"", name[0] == '-' ? "flag" : "command",
		      name);
	if (meant)
		(void)fprintf(stderr, ", did you mean \"%s\"?", meant);
	(void)fputs("; see xagent --help\n", stderr);
	return CLI_EXIT_FAILURE;
}

int cli_usage_error(const char *command, const struct buf *why)
{
	(void)fprintf(stderr, "xagent %s: %s\nsee xagent %s --help\n", command, buf_str(why),
		      command);
	return CLI_EXIT_FAILURE;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int print_help(int argc, char **argv)
{
	const struct cli_command *command = argc > 2 ? command_find(argv[2]) : NULL;
	char help[] = "--help";

	if (command)
		return command->run(2, (char *[]){ argv[2], help, NULL });
	if (argc > 2)
		return unknown_command(argv[2]);
	print_usage(stdout);
	return 0;
}

int cli_main(int argc, char **argv)
{
	(void)argv_secrets_hide(argc, argv);
	if (argc < 2) {
		print_usage(stderr);
		return CLI_EXIT_FAILURE;
	}
	if (is_one_of(argv[1], "--help", "-h", "help"))
		return print_help(argc, argv);
	if (is_one_of(argv[1], "--version", "-V", "version"))
		return print_version();
	const struct cli_command *command = command_find(argv[1]);
	return command ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}
