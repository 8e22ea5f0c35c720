/* SPDX-License-Identifier: Apache-2.0 */
/* What `xagent run` is asked for. */
#include "agent/cli/run/run_args.h"

#include <errno.h>
#include <string.h>

#include "agent/cli/duration.h"
#include "agent/cli/run/agent.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define DEFAULT_STORAGE "data-xagent/"

int cli_parse_stability(const char *value, void *member)
{
	return stability_parse(value, member) ? 0 : -EINVAL;
}

static int parse_duration(const char *value, void *member)
{
	uint64_t ns;
	int r = duration_parse(str_from(value), &ns);

	*(const char **)member = value;
	return r;
}

static int parse_number(const char *value, void *member)
{
	uint64_t n;
	int r = str_parse_u64(str_from(value), 10, INT32_MAX, &n);

	*(const char **)member = value;
	return r;
}

#define AT(member) offsetof(struct run_args, member)
#define SWITCH_ROW(member, flag) { flag, 0, CLI_SWITCH, AT(member), NULL, NULL },
#define TEXT_ROW(member, flag, wants) { flag, 0, CLI_TEXT, AT(member), wants, NULL },

static const struct cli_flag flags[] = {
	{ "help", 'h', CLI_SWITCH, AT(help), NULL, NULL },
	{ "server.http.listen-addr", 0, CLI_TEXT, AT(listen), "HOST:PORT", NULL },
	{ "server.http.probe-addr", 0, CLI_TEXT, AT(probe_listen), "HOST:PORT", NULL },
	{ "server.http.allowed-hosts", 0, CLI_TEXT, AT(allowed_hosts), "host names", NULL },
	{ "server.http.ui-path-prefix", 0, CLI_TEXT, AT(ui_prefix), "a path", NULL },
	{ "server.http.disable-support-bundle", 0, CLI_SWITCH, AT(disable_support_bundle), NULL,
	  NULL },
	{ "storage.path", 0, CLI_TEXT, AT(storage_path), "a directory", NULL },
	{ "disable-reporting", 0, CLI_SWITCH, AT(disable_reporting), NULL, NULL },
	{ "stability.level", 0, CLI_PARSED, AT(stability),
	  "generally-available, public-preview or experimental", cli_parse_stability },
	{ "config.format", 0, CLI_TEXT, AT(format), "a format", NULL },
	{ "push.url", 0, CLI_TEXT, AT(servers.push_url), "a URL", NULL },
	{ "otlp.endpoint", 0, CLI_TEXT, AT(servers.otlp_url), "a URL", NULL },
	{ "config.watch", 0, CLI_SWITCH, AT(watch), NULL, NULL },
	{ "cluster.rejoin-interval", 0, CLI_PARSED, AT(cluster_rejoin_interval), "a duration",
	  parse_duration },
	{ "cluster.wait-timeout", 0, CLI_PARSED, AT(cluster_wait_timeout), "a duration",
	  parse_duration },
	{ "cluster.max-join-peers", 0, CLI_PARSED, AT(cluster_max_join_peers), "a number",
	  parse_number },
	{ "cluster.wait-for-size", 0, CLI_PARSED, AT(cluster_wait_for_size), "a number",
	  parse_number },
	{ "feature.component-shutdown-deadline", 0, CLI_PARSED, AT(shutdown_deadline), "a duration",
	  parse_duration },
	RUN_IGNORED_SWITCHES(SWITCH_ROW) RUN_IGNORED_TEXTS(TEXT_ROW)
};

int run_args_parse(int argc, char **argv, struct run_args *ret_args, struct cli_words *ret_words,
		   struct buf *why)
{
	struct run_args args = {
		.listen = AGENT_DEFAULT_LISTEN,
		.ui_prefix = "/",
		.storage_path = DEFAULT_STORAGE,
		.format = "alloy",
	};
	int r = cli_options_parse(flags, ARRAY_SIZE(flags), argc, argv, &args, ret_words, why);

	if (r < 0)
		return r;
	*ret_args = args;
	return 0;
}

struct ignored {
	const char *flag;
	size_t offset;
	bool is_switch;
};

#define IGNORED_SWITCH(member, flag) { flag, AT(member), true },
#define IGNORED_TEXT(member, flag, wants) { flag, AT(member), false },

static const struct ignored ignored[] = {
	{ "cluster.rejoin-interval", AT(cluster_rejoin_interval), false },
	{ "cluster.wait-timeout", AT(cluster_wait_timeout), false },
	{ "cluster.max-join-peers", AT(cluster_max_join_peers), false },
	{ "cluster.wait-for-size", AT(cluster_wait_for_size), false },
	{ "feature.component-shutdown-deadline", AT(shutdown_deadline), false },
	RUN_IGNORED_SWITCHES(IGNORED_SWITCH) RUN_IGNORED_TEXTS(IGNORED_TEXT)
};

/* Who asks for clustering, or for what a conversion left over, would wait for it. The rest only tunes what is not there. */
static bool is_expected(const char *flag)
{
	static const char *const expected[] = { "cluster.enabled",
						"config.bypass-conversion-errors",
						"config.extra-args",
						"feature.community-components.enabled" };

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		if (strcmp(flag, expected[i]) == 0)
			return true;
	return false;
}

static bool is_given(const struct run_args *args, const struct ignored *row)
{
	const char *at = (const char *)args + row->offset;

	return row->is_switch ? *(const bool *)at
			      : *(const char *const *)at && **(const char *const *)at;
}

void run_args_each_ignored(const struct run_args *args,
			   void (*fn)(const char *flag, bool expected, void *data), void *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		if (is_given(args, &ignored[i]))
			fn(ignored[i].flag, is_expected(ignored[i].flag), data);
}

const char *config_format_refused(const char *text)
{
	static const char *const ours[] = { "alloy", "flow", "river" };
	static const char *const others[] = { "otelcol", "prometheus", "promtail", "static" };

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strcmp(text, ours[i]) == 0)
			return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(text, others[i]) == 0)
			return "is not supported: a profiler has nothing to take from such a "
			       "configuration; use alloy";
	return "is not known: use alloy, flow or river";
}
