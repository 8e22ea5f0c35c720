/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `xagent validate FILE|DIR`: what `xagent run` would say about it, and nothing else.
 *
 * Components are built and never run: no program is loaded, nothing listens, nobody is asked anything.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/config/config_load.h"
#include "agent/cli/run/run_args.h"
#include "agent/util/macro.h"

/* Of the worker, which a load does not use. */
#define MAX_JOBS 1

struct validate_args {
	bool help;
	bool bypass_conversion_errors, community_components;
	const char *format, *extra_args;
	enum stability stability;
};

#define AT(member) offsetof(struct validate_args, member)

static const struct cli_flag flags[] = {
	{ "help", 'h', CLI_SWITCH, AT(help), NULL, NULL },
	{ "stability.level", 0, CLI_PARSED, AT(stability),
	  "generally-available, public-preview or experimental", cli_parse_stability },
	{ "config.format", 0, CLI_TEXT, AT(format), "a format", NULL },
	{ "config.bypass-conversion-errors", 0, CLI_SWITCH, AT(bypass_conversion_errors), NULL,
	  NULL },
	{ "config.extra-args", 0, CLI_TEXT, AT(extra_args), "arguments", NULL },
	{ "feature.community-components.enabled", 0, CLI_SWITCH, AT(community_components), NULL,
	  NULL },
};

static void print_help(void)
{
	(void)fputs(
		"Usage: xagent validate [FLAGS] FILE|DIRECTORY\n\n"
		"Says what is wrong with a configuration, as `xagent run` would, without running "
		"it. Exit code 0 and\n"
		"no word: nothing is wrong.\n\n"
		"Flags:\n"
		"  --stability.level=LEVEL  generally-available (default), public-preview, "
		"experimental\n"
		"  --config.format=FORMAT   alloy, flow or river: all the same language\n"
		"  -h, --help               this text\n\n"
		"Example:\n"
		"  xagent validate /etc/xagent/agent.alloy && systemctl reload xagent\n",
		stdout);
}

/* What components need to be built. */
struct context {
	struct component_env env;
	struct graph *graph;
	char hostname[256];
};

static int context_init(struct context *w, enum stability stability)
{
	*w = (struct context){
		.env = { .stability = stability, .hostname = w->hostname, .offline = true }
	};
	if (gethostname(w->hostname, sizeof(w->hostname) - 1) < 0)
		w->hostname[0] = '\0';
	int r = loop_new(&w->env.loop);

	if (r < 0)
		return r;
	r = worker_new(w->env.loop, MAX_JOBS, &w->env.worker);
	if (r < 0)
		return r;
	r = telemetry_new(&w->env.telemetry);
	if (r < 0)
		return r;
	r = http_client_new(w->env.loop, &w->env.http);
	if (r < 0)
		return r;
	return graph_new(&w->env, &w->graph);
}

static void context_fini(struct context *w)
{
	graph_free(w->graph);
	http_client_free(w->env.http);
	worker_free(w->env.worker);
	telemetry_free(w->env.telemetry);
	loop_free(w->env.loop);
}

static int report(int r, const struct config_load *l, const struct buf *why)
{
	config_load_print(l);
	if (r == RIVER_OK)
		return 0;
	if (r == RIVER_INVALID) {
		/* As after a load that failed: the diagnostics end in an empty line, and it is on standard output. */
		(void)puts("");
		(void)fflush(stdout);
		(void)fputs("Error: validation failed\n", stderr);
	} else {
		(void)fprintf(stderr, "Error: %s\n", why->len ? buf_str(why) : strerror(-r));
	}
	return CLI_EXIT_FAILURE;
}

static int validate(const char *path, enum stability stability)
{
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)64 << 10);
	_cleanup_config_load_ struct config_load l;
	struct context w;
	int r = context_init(&w, stability);

	config_load_init(&l);
	if (r == 0)
		r = config_load(&l, w.graph, &(struct config_source){ .path = path }, &why);
	int code = report(r, &l, &why);
	context_fini(&w);
	return code;
}

int cli_validate(int argc, char **argv)
{
	struct validate_args args = { .format = "alloy" };
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	const char *refused;

	if (cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &args, &words, &why) < 0)
		return cli_usage_error("validate", &why);
	if (args.help) {
		print_help();
		return 0;
	}
	refused = config_format_refused(args.format);
	if (words.n != 1)
		(void)buf_printf(&why, "one FILE or DIRECTORY is needed, %zu were given", words.n);
	else if (refused)
		(void)buf_printf(&why, "--config.format=%s %s", args.format, refused);
	return why.len ? cli_usage_error("validate", &why)
		       : validate(words.items[0], args.stability);
}
