/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent run FILE`: the agent, until a signal ends it. */
#include <stdio.h>

#include "agent/cli/agent.h"
#include "agent/cli/cli.h"
#include "agent/cli/options.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

struct run_args {
	bool help;
	const char *listen;
};

/* The flags of Grafana's agents are understood, so that service files and manifests need no change; what has no meaning here is
 * taken and ignored (nothing is ever reported to anybody). */
static const struct cli_flag run_flags[] = {
	{ "help", 'h', CLI_SWITCH, offsetof(struct run_args, help), NULL, NULL },
	{ "server.http.listen-addr", 0, CLI_TEXT, offsetof(struct run_args, listen), "HOST:PORT",
	  NULL },
	{ "server.http.memory-addr", 0, CLI_IGNORED, 0, "HOST:PORT", NULL },
	{ "server.http.ui-path-prefix", 0, CLI_IGNORED, 0, "a path", NULL },
	{ "server.http.enable-pprof", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "server.http.disable-support-bundle", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "storage.path", 0, CLI_IGNORED, 0, "a directory", NULL },
	{ "disable-reporting", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "stability.level", 0, CLI_IGNORED, 0, "a level", NULL },
	{ "config.format", 0, CLI_IGNORED, 0, "a format", NULL },
	{ "config.bypass-conversion-errors", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "config.extra-args", 0, CLI_IGNORED, 0, "arguments", NULL },
	{ "cluster.enabled", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "cluster.node-name", 0, CLI_IGNORED, 0, "a name", NULL },
	{ "cluster.advertise-address", 0, CLI_IGNORED, 0, "HOST:PORT", NULL },
	{ "cluster.join-addresses", 0, CLI_IGNORED, 0, "addresses", NULL },
	{ "cluster.discover-peers", 0, CLI_IGNORED, 0, "peers", NULL },
	{ "cluster.advertise-interfaces", 0, CLI_IGNORED, 0, "interfaces", NULL },
	{ "cluster.rejoin-interval", 0, CLI_IGNORED, 0, "a duration", NULL },
	{ "cluster.max-join-peers", 0, CLI_IGNORED, 0, "a number", NULL },
	{ "cluster.name", 0, CLI_IGNORED, 0, "a name", NULL },
	{ "cluster.enable-tls", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "cluster.tls-ca-path", 0, CLI_IGNORED, 0, "a file", NULL },
	{ "cluster.tls-cert-path", 0, CLI_IGNORED, 0, "a file", NULL },
	{ "cluster.tls-key-path", 0, CLI_IGNORED, 0, "a file", NULL },
	{ "cluster.tls-server-name", 0, CLI_IGNORED, 0, "a name", NULL },
	{ "cluster.wait-for-size", 0, CLI_IGNORED, 0, "a number", NULL },
	{ "cluster.wait-timeout", 0, CLI_IGNORED, 0, "a duration", NULL },
	{ "cluster.use-discovery-v1", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "feature.community-components.enabled", 0, CLI_IGNORED_SWITCH, 0, NULL, NULL },
	{ "feature.component-shutdown-deadline", 0, CLI_IGNORED, 0, "a duration", NULL },
	{ "feature.prometheus.metric-validation-scheme", 0, CLI_IGNORED, 0, "a scheme", NULL },
};

static void print_help(void)
{
	(void)fputs(
		"Usage: xagent run [FLAGS] PATH\n\n"
		"Profiles this host as the configuration at PATH says (a file, or a directory of "
		"*.alloy and\n"
		"*.river files) until SIGINT or SIGTERM; what was sampled last is sent before it "
		"ends.\n"
		"SIGHUP reads the configuration again.\n\n"
		"Flags:\n"
		"  --server.http.listen-addr=HOST:PORT  where to answer /metrics, /-/ready, "
		"/-/healthy, /-/reload\n"
		"                                       (default 127.0.0.1:12345)\n"
		"  -h, --help                           this text\n"
		"Other flags of `alloy run` are accepted and have no effect.\n\n"
		"Example, a whole configuration:\n"
		"  pyroscope.ebpf \"host\" { forward_to = [pyroscope.write.server.receiver] }\n"
		"  pyroscope.write \"server\" { endpoint { url = \"http://127.0.0.1:4040\" } }\n",
		stdout);
}

static int run_agent(const struct agent_options *o)
{
	_cleanup_buf_ struct buf why = BUF_INIT((size_t)1 << 20);
	struct agent a;
	int code = CLI_EXIT_FAILURE;
	int r = agent_init(&a, o, &why);

	if (r < 0) {
		log_flush_held();
		(void)fprintf(stderr, "Error: %s\n", buf_str(&why));
	} else if (agent_load(&a, NULL) < 0) {
		(void)fputs("\nError: could not perform the initial load successfully\n", stderr);
	} else {
		log_info_always("xagent is running");
		code = agent_loop(&a);
	}
	agent_fini(&a);
	return code;
}

int cli_run(int argc, char **argv)
{
	struct run_args args = { .listen = AGENT_DEFAULT_LISTEN };
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (cli_options_parse(run_flags, ARRAY_SIZE(run_flags), argc, argv, &args, &words, &why) <
	    0)
		return cli_usage_error("run", &why);
	if (args.help) {
		print_help();
		return 0;
	}
	if (words.n != 1) {
		(void)buf_printf(&why, "PATH of one configuration is needed, %zu were given",
				 words.n);
		return cli_usage_error("run", &why);
	}
	return run_agent(
		&(struct agent_options){ .config_path = words.items[0], .listen = args.listen });
}
