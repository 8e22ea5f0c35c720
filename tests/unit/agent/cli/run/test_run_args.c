/* SPDX-License-Identifier: Apache-2.0 */
/* What `xagent run` is asked for. */
#include <string.h>

#include "agent/cli/run/run_args.h"
#include "tests/support/unit.h"

#define MAX_ARGS 8

static int parse(const char *const *words, struct run_args *args, struct cli_words *rest,
		 struct buf *why)
{
	char *argv[MAX_ARGS + 2] = { (char *)"run" };
	int argc = 1;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	return run_args_parse(argc, argv, args, rest, why);
}

static void test_defaults(void **state)
{
	static const char *const words[] = { "c.alloy", NULL };
	_cleanup_words_ struct cli_words rest = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct run_args args;

	(void)state;
	assert_int_equal(parse(words, &args, &rest, &why), 0);
	assert_string_equal(args.listen, "127.0.0.1:12345");
	assert_string_equal(args.ui_prefix, "/");
	assert_string_equal(args.format, "alloy");
	assert_string_equal(args.storage_path, "data-xagent/");
	assert_int_equal(args.stability, STABILITY_GENERALLY_AVAILABLE);
	assert_false(args.help || args.watch || args.disable_support_bundle ||
		     args.disable_reporting);
	assert_int_equal(rest.n, 1);
	assert_string_equal(rest.items[0], "c.alloy");
}

static void put_ignored(const char *flag, bool expected, void *data)
{
	(void)buf_printf(data, "%s%s ", flag, expected ? "!" : "");
}

/* What a flag is accepted as, and whether a person is told that it has no effect. */
static const struct row {
	const char *flag;
	const char *ignored; /* NULL: refused */
} rows[] = {
	{ "--server.http.listen-addr=0.0.0.0:80", "" },
	{ "--server.http.probe-addr=:12346", "" },
	{ "--server.http.allowed-hosts=a.example,b", "" },
	{ "--server.http.memory-addr=alloy.internal:12345", "server.http.memory-addr " },
	{ "--server.http.ui-path-prefix=/ui/", "" },
	{ "--server.http.enable-pprof=true", "server.http.enable-pprof " },
	{ "--server.http.enable-pprof=false", "" },
	{ "--server.http.disable-support-bundle", "" },
	{ "--storage.path=/var/lib/x", "" },
	{ "--disable-reporting", "" },
	{ "--disable-reporting=true", "" },
	{ "--stability.level=generally-available", "" },
	{ "--stability.level=public-preview", "" },
	{ "--stability.level=experimental", "" },
	{ "--stability.level=GA", NULL },
	{ "--config.format=flow", "" },
	{ "--config.watch", "" },
	{ "--config.bypass-conversion-errors", "config.bypass-conversion-errors! " },
	{ "--config.extra-args=-x", "config.extra-args! " },
	{ "--config.extra-args=", "" },
	{ "--cluster.enabled", "cluster.enabled! " },
	{ "--cluster.enabled=true", "cluster.enabled! " },
	{ "--cluster.enabled=false", "" },
	{ "--cluster.node-name=a", "cluster.node-name " },
	{ "--cluster.advertise-address=a:1", "cluster.advertise-address " },
	{ "--cluster.join-addresses=a,b", "cluster.join-addresses " },
	{ "--cluster.discover-peers=x", "cluster.discover-peers " },
	{ "--cluster.advertise-interfaces=eth0", "cluster.advertise-interfaces " },
	{ "--cluster.rejoin-interval=60s", "cluster.rejoin-interval " },
	{ "--cluster.rejoin-interval=soon", NULL },
	{ "--cluster.max-join-peers=5", "cluster.max-join-peers " },
	{ "--cluster.max-join-peers=many", NULL },
	{ "--cluster.name=a", "cluster.name " },
	{ "--cluster.enable-tls", "cluster.enable-tls " },
	{ "--cluster.tls-ca-path=a", "cluster.tls-ca-path " },
	{ "--cluster.tls-cert-path=a", "cluster.tls-cert-path " },
	{ "--cluster.tls-key-path=a", "cluster.tls-key-path " },
	{ "--cluster.tls-server-name=a", "cluster.tls-server-name " },
	{ "--cluster.wait-for-size=3", "cluster.wait-for-size " },
	{ "--cluster.wait-timeout=5m", "cluster.wait-timeout " },
	{ "--cluster.wait-timeout=0", "cluster.wait-timeout " },
	{ "--cluster.use-discovery-v1", "cluster.use-discovery-v1 " },
	{ "--feature.community-components.enabled", "feature.community-components.enabled! " },
	{ "--feature.component-shutdown-deadline=10m", "feature.component-shutdown-deadline " },
	{ "--feature.prometheus.metric-validation-scheme=utf-8",
	  "feature.prometheus.metric-validation-scheme " },
	{ "--help", "" },
	{ "-h", "" },
	{ "--nothing-like-it", NULL },
	{ "--server.http.listen", NULL },
};

static void test_row(void **state)
{
	const struct row *row = *state;
	const char *const words[] = { row->flag, "c.alloy", NULL };
	_cleanup_words_ struct cli_words rest = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	_cleanup_buf_ struct buf ignored = BUF_INIT(4096);
	struct run_args args = { 0 };

	int r = parse(words, &args, &rest, &why);
	if (!row->ignored) {
		assert_true(r < 0);
		assert_true(why.len > 0);
		assert_null(strchr(buf_str(&why), '\n'));
		return;
	}
	assert_string_equal(buf_str(&why), "");
	assert_int_equal(r, 0);
	run_args_each_ignored(&args, put_ignored, &ignored);
	assert_string_equal(buf_str(&ignored), row->ignored);
}

static void test_values(void **state)
{
	static const char *const words[] = { "--stability.level",
					     "experimental",
					     "--config.watch",
					     "--disable-reporting",
					     "--storage.path",
					     "/s",
					     "--server.http.listen-addr",
					     NULL };
	static const char *const more[] = { "--server.http.ui-path-prefix",
					    "/p",
					    "--server.http.disable-support-bundle",
					    "--config.format",
					    "river",
					    "x",
					    NULL };
	_cleanup_words_ struct cli_words rest = { 0 }, refused = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(4096);
	struct run_args args = { .listen = "kept" };

	(void)state;
	assert_true(parse(words, &args, &refused, &why) < 0);
	assert_string_equal(args.listen, "kept");
	assert_int_equal(parse(words + 2, &args, &rest, &why) < 0, 1);
	assert_int_equal(parse(more, &args, &rest, &why), 0);
	assert_string_equal(args.ui_prefix, "/p");
	assert_string_equal(args.format, "river");
	assert_true(args.disable_support_bundle);
}

static void test_formats(void **state)
{
	(void)state;
	assert_null(config_format_refused("alloy"));
	assert_null(config_format_refused("flow"));
	assert_null(config_format_refused("river"));
	assert_non_null(strstr(config_format_refused("static"), "is not supported"));
	assert_non_null(strstr(config_format_refused("otelcol"), "is not supported"));
	assert_non_null(strstr(config_format_refused("promtail"), "is not supported"));
	assert_non_null(strstr(config_format_refused("prometheus"), "is not supported"));
	assert_non_null(strstr(config_format_refused(""), "is not known"));
}

static const struct unit_test tests[] = {
	TEST(test_defaults),
	TEST(test_values),
	TEST(test_formats),
	TEST_ROWS(test_row, rows, flag),
};

TEST_MAIN(tests)
