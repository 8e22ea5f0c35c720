/* SPDX-License-Identifier: Apache-2.0 */
/* `xagent run [PATH]`: the agent, until a signal ends it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/cli/cli.h"
#include "agent/cli/run/agent.h"
#include "agent/cli/run/quick_start.h"
#include "agent/cli/run/run_args.h"
#include "agent/util/file.h"
#include "agent/util/log.h"
#include "agent/util/str.h"

static void print_help(void)
{
	(void)fputs(
		"Usage: xagent run [FLAGS] [PATH]\n\n"
		"Without PATH: profiles every process of this host, keeps the profiles of the last "
		"hours in\n"
		"memory, and prints the address of a page with their flame graphs.\n"
		"With PATH: profiles as the configuration there says (a file, or a directory of "
		"*.alloy and\n"
		"*.river files).\n"
		"Either until SIGINT or SIGTERM; what was sampled last is sent before it ends. "
		"SIGHUP reads the\n"
		"configuration again.\n\n"
		"Flags:\n"
		"  --push.url=URL                       without PATH: send the profiles to this "
		"Pyroscope server too\n"
		"                                       (https://USER:PASSWORD@HOST where it asks "
		"for a password)\n"
		"  --otlp.endpoint=URL                  without PATH: send the profiles to this "
		"server of OTLP too\n"
		"                                       (OpenTelemetry's collector: "
		"http://HOST:4318)\n"
		"  --server.http.listen-addr=HOST:PORT  where the page is, and /metrics, /-/ready, "
		"/-/healthy,\n"
		"                                       /-/reload … (default 127.0.0.1:12345)\n"
		"  --server.http.probe-addr=HOST:PORT   /-/ready, /-/healthy and /metrics, and "
		"nothing else, here too\n"
		"  --server.http.allowed-hosts=NAMES    host names, with commas between, that the "
		"agent may be\n"
		"                                       asked by, besides its addresses, localhost "
		"and this host's\n"
		"                                       name\n"
		"  --server.http.ui-path-prefix=PATH    answer below PATH too\n"
		"  --server.http.disable-support-bundle no /-/support\n"
		"  --config.watch                       read the configuration again when its "
		"files change\n"
		"  --config.format=FORMAT               alloy, flow or river: all the same "
		"language\n"
		"  --stability.level=LEVEL              generally-available (default), "
		"public-preview, experimental\n"
		"  --storage.path=DIRECTORY             for files of the agent (default "
		"data-xagent/)\n"
		"  --disable-reporting                  nothing is ever reported\n"
		"  -h, --help                           this text\n"
		"Other flags of `alloy run` are accepted and have no effect.\n\n"
		"Examples:\n"
		"  xagent run                                 flame graphs at "
		"http://127.0.0.1:12345/\n"
		"  xagent run --push.url=http://10.0.0.1:4040 … and at that server\n"
		"  xagent run config.alloy                    where config.alloy is, for "
		"instance:\n"
		"    pyroscope.ebpf \"host\" { forward_to = [pyroscope.write.server.receiver] }\n"
		"    pyroscope.write \"server\" { endpoint { url = \"http://127.0.0.1:4040\" } }\n",
		stdout);
}

static void say_ignored(const char *flag, bool expected, void *data)
{
	(void)data;
	if (expected)
		log_warn("flag has no effect, there is nothing here that it could change",
			 LOG_STR("flag", flag));
	else
		log_debug("flag has no effect", LOG_STR("flag", flag));
}

static int report_failure(int r, const struct buf *why)
{
	if (r == AGENT_LOAD_INVALID) {
		/* After the diagnostics, on the other stream, as tools that read either expect it. */
		(void)puts("");
		(void)fflush(stdout);
		(void)fputs("Error: could not perform the initial load successfully\n", stderr);
	} else {
		(void)fprintf(stderr, "Error: %s\n", buf_str(why));
	}
	return CLI_EXIT_FAILURE;
}

static void write_stderr(const struct buf *text)
{
	(void)file_write_fd(STDERR_FILENO, buf_str(text), text->len);
}

/* To a person who has no configuration: where to look. */
static void say_begin(const struct agent *a, const struct run_args *args)
{
	_cleanup_buf_ struct buf address = BUF_INIT(8192);
	_cleanup_buf_ struct buf text = BUF_INIT(2 * 8192);

	if (!a->options.config.text)
		return;
	quick_start_put_address(a->options.listen, http_server_port(a->server),
				a->options.ui_prefix, &address);
	quick_start_put_begin(buf_str(&address), &args->servers, &text);
	write_stderr(&text);
}

static void say_end(const struct agent *a)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	if (!a->options.config.text)
		return;
	quick_start_put_end(&text);
	write_stderr(&text);
}

static int run_agent(const struct agent_options *o, const struct run_args *args)
{
	_cleanup_buf_ struct buf why = BUF_INIT(AGENT_WHY_MAX_BYTES);
	struct agent a;
	int code;
	int r = agent_init(&a, o, &why);

	run_args_each_ignored(args, say_ignored, NULL);
	if (r < 0)
		log_flush_held();
	else
		r = agent_load(&a, &why);
	if (r == 0) {
		log_info_always("xagent is running");
		say_begin(&a, args);
		code = agent_loop(&a);
	} else {
		code = report_failure(r, &why);
	}
	agent_fini(&a);
	if (r == 0)
		say_end(&a);
	return code;
}

/* "/a/b/" as "/a/b", "/" as "". */
static int make_prefix(const char *text, struct buf *out)
{
	struct str rest = str_from(text);
	struct str piece;

	while (str_split(&rest, '/', &piece))
		if (piece.n > 0)
			(void)buf_printf(out, "/%.*s", (int)piece.n, piece.p);
	return out->failed ? -ENAMETOOLONG : 0;
}

static void check_server(const char *flag, const char *block, const char *url,
			 const struct cli_words *words, struct buf *why)
{
	const char *problem = url ? quick_start_url_problem(url) : NULL;

	if (why->len > 0)
		return;
	if (url && words->n > 0)
		(void)buf_printf(why,
				 "%s is for a run without PATH: with one, it is a %s block that "
				 "says where profiles go",
				 flag, block);
	else if (problem)
		(void)buf_printf(why, "%s: %s", flag, problem);
}

static void check_servers(const struct run_args *args, const struct cli_words *words,
			  struct buf *why)
{
	check_server("--push.url", "pyroscope.write", args->servers.push_url, words, why);
	check_server("--otlp.endpoint", "otelcol.exporter.otlphttp", args->servers.otlp_url, words,
		     why);
}

/* What can be told wrong before anything begins. */
static int check(const struct run_args *args, const struct cli_words *words, struct buf *why)
{
	const char *refused = config_format_refused(args->format);
	const char *hosts = http_hosts_problem(args->allowed_hosts);

	if (words->n > 1)
		(void)buf_printf(why, "PATH of one configuration is needed, %zu were given",
				 words->n);
	else if (words->n == 0 && args->watch)
		(void)buf_append_str(why, "--config.watch needs PATH: there is no file to watch");
	else if (refused)
		(void)buf_printf(why, "--config.format=%s %s", args->format, refused);
	else if (hosts)
		(void)buf_printf(why, "--server.http.allowed-hosts: %s", hosts);
	else
		check_servers(args, words, why);
	return why->len ? -EINVAL : 0;
}

static int run(const struct run_args *args, const struct config_source *config, char **argv)
{
	_cleanup_buf_ struct buf prefix = BUF_INIT(4096);

	if (make_prefix(args->ui_prefix, &prefix) < 0) {
		(void)fputs("Error: --server.http.ui-path-prefix is too long\n", stderr);
		return CLI_EXIT_FAILURE;
	}
	return run_agent(
		&(struct agent_options){
			.config = *config,
			.listen = args->listen,
			.probe_listen = args->probe_listen,
			.allowed_hosts = args->allowed_hosts,
			.ui_prefix = buf_str(&prefix),
			.storage_path = args->storage_path,
			.stability = args->stability,
			.watch = args->watch,
			.no_support_bundle = args->disable_support_bundle,
			.argv = argv,
		},
		args);
}

static int run_built_in(const struct run_args *args, char **argv)
{
	_cleanup_buf_ struct buf text = BUF_INIT(CONFIG_FILE_MAX_BYTES);
	int r = quick_start_text(&args->servers, &text);

	if (r < 0) {
		(void)fprintf(stderr, "Error: %s\n", strerror(-r));
		return CLI_EXIT_FAILURE;
	}
	return run(args,
		   &(struct config_source){ .path = QUICK_START_NAME, .text = buf_str(&text) },
		   argv);
}

int cli_run(int argc, char **argv)
{
	struct run_args args;
	_cleanup_words_ struct cli_words words = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);

	if (run_args_parse(argc, argv, &args, &words, &why) < 0)
		return cli_usage_error("run", &why);
	if (args.help) {
		print_help();
		return 0;
	}
	if (check(&args, &words, &why) < 0)
		return cli_usage_error("run", &why);
	return words.n == 0 ? run_built_in(&args, argv)
			    : run(&args, &(struct config_source){ .path = words.items[0] }, argv);
}
