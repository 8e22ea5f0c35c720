/* SPDX-License-Identifier: Apache-2.0 */
/* The running agent. */
#include "agent/cli/run/agent.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/cli/priority.h"
#include "agent/cli/run/config_watch.h"
#include "agent/push/spool/spool_sweeper.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/program_pages.h"
#include "agent/version.h"

static void on_signal(int signo, void *data)
{
	struct agent *a = data;

	if (signo == SIGHUP) {
		_cleanup_buf_ struct buf why = BUF_INIT(AGENT_WHY_MAX_BYTES);

		(void)agent_reload(a, &why);
		return;
	}
	log_info_always("interrupt received", LOG_STR("signal", strsignal(signo)));
	loop_quit(a->loop, 0);
}

/* One descriptor a mapped file and a few a CPU: the soft limit of 1024 is small for a large host, the hard one is not. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* An interval's memory is taken and given back as a whole every few seconds. One heap for both threads, and large pieces mapped on
 * their own, let it go back to the system: 10.6 MiB of anonymous memory become 6.1. */
static void tune_malloc(void)
{
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, 64 * 1024);
	(void)mallopt(M_TRIM_THRESHOLD, 64 * 1024);
}

/* Before any thread is made, so that all of them leave these signals to the loop. */
static int open_signals(struct agent *a)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	return loop_signals_new(a->loop, &set, on_signal, a);
}

/* The words that people look for, and then the server's own reason. */
static void put_refused(const char *listen, const char *error, const char *flag, struct buf *why)
{
	const char *at = strstr(error, listen);
	const char *reason = at ? at + strlen(listen) : error;

	(void)buf_printf(why, "failed to listen on %s%s; choose another address with %s=HOST:PORT",
			 listen, reason, flag);
}

static int open_listener(struct agent *a, const char *listen, const char *prefix, const char *flag,
			 struct http_server **ret_server, struct buf *why)
{
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	o.listen = listen;
	o.prefix = prefix;
	o.telemetry = a->telemetry;
	o.hostname = a->hostname;
	o.hosts_path = "/etc/hosts";
	o.allowed_hosts = a->options.allowed_hosts;
	int r = http_server_new(a->loop, &o, ret_server, error);
	if (r == HTTP_LISTEN_REFUSED) {
		put_refused(listen, error, flag, why);
		return -EADDRINUSE;
	}
	return r;
}

static int open_server(struct agent *a, struct buf *why)
{
	int r = open_listener(a, a->options.listen, a->options.ui_prefix,
			      "--server.http.listen-addr", &a->server, why);

	if (r < 0)
		return r;
	a->env.server = a->server;
	return agent_routes_add(a);
}

static int open_probes(struct agent *a, struct buf *why)
{
	const char *listen = a->options.probe_listen;

	if (!listen || !*listen)
		return 0;
	int r = open_listener(a, listen, NULL, "--server.http.probe-addr", &a->probes, why);
	if (r < 0)
		return r;
	log_info_always("now listening for probes", LOG_STR("addr", listen),
			LOG_UINT("port", http_server_port(a->probes)));
	return agent_probe_routes_add(a);
}

static int open_env(struct agent *a)
{
	int r = loop_new(&a->loop);

	if (r < 0)
		return r;
	r = open_signals(a);
	if (r < 0)
		return r;
	r = telemetry_new(&a->telemetry);
	if (r < 0)
		return r;
	r = worker_new(a->loop, AGENT_MAX_JOBS, &a->worker);
	if (r < 0)
		return r;
	r = http_client_new(a->loop, &a->http);
	if (r < 0)
		return r;
	a->env = (struct component_env){
		.stability = a->options.stability,
		.loop = a->loop,
		.worker = a->worker,
		.telemetry = a->telemetry,
		.http = a->http,
		.hostname = a->hostname,
		.storage_path = a->options.storage_path,
	};
	return graph_new(&a->env, &a->graph);
}

static int open_metrics(struct agent *a)
{
	int r = agent_self_metrics_add(a);

	return r < 0 ? r : agent_reader_metrics_add(a);
}

/* What answers over HTTP. */
static int open_http(struct agent *a, struct buf *why)
{
	int r = answer_queue_new(a->loop, a->telemetry, &a->answers);

	if (r < 0)
		return r;
	r = answer_queue_new(a->loop, a->telemetry, &a->metrics);
	if (r < 0)
		return r;
	r = open_server(a, why);
	if (r < 0)
		return r;
	return open_probes(a, why);
}

static int open_sweeper(struct agent *a)
{
	struct spool_sweeper_options o = SPOOL_SWEEPER_OPTIONS_INIT;

	o.storage_path = a->options.storage_path;
	return spool_sweeper_new(a->loop, &o, &a->sweeper);
}

static int open_parts(struct agent *a, struct buf *why)
{
	int r = open_env(a);

	if (r < 0)
		return r;
	r = open_sweeper(a);
	if (r < 0)
		return r;
	r = open_metrics(a);
	if (r < 0)
		return r;
	r = open_http(a, why);
	if (r < 0)
		return r;
	return a->options.watch ? config_watch_new(a, &a->watch) : 0;
}

int agent_init(struct agent *a, const struct agent_options *o, struct buf *why)
{
	*a = (struct agent){ .options = *o, .started_real_ns = clock_real_ns() };
	tune_malloc();
	raise_file_limit();
	priority_raise();
	if (gethostname(a->hostname, sizeof(a->hostname) - 1) < 0)
		a->hostname[0] = '\0';
	log_info_always("xagent is starting", LOG_STR("version", XAGENT_VERSION),
			LOG_STR("config", o->config.path));
	int r = open_parts(a, why);
	if (r < 0) {
		if (why->len == 0)
			(void)buf_printf(why, "cannot start: %s", strerror(-r));
		return r;
	}
	log_info_always("now listening for http traffic", LOG_STR("addr", o->listen),
			LOG_UINT("port", http_server_port(a->server)));
	/* The libraries are up: what only that needed does not lie below what loading takes. */
	program_pages_release();
	return 0;
}

void agent_fini(struct agent *a)
{
	/* The loop goes on until the last profiles are sent. */
	a->ending = true;
	config_watch_free(a->watch);
	spool_sweeper_free(a->sweeper);
	/* While the last profiles are sent, passwords and TLS stay as they are. */
	a->env.server = NULL;
	graph_free(a->graph);
	answer_queue_free(a->answers);
	answer_queue_free(a->metrics);
	if (a->telemetry) {
		agent_self_metrics_remove(a);
		agent_reader_metrics_remove(a);
	}
	http_server_free(a->probes);
	http_server_free(a->server);
	http_client_free(a->http);
	worker_free(a->worker);
	telemetry_free(a->telemetry);
	loop_free(a->loop);
}

int agent_loop(struct agent *a)
{
	assert(a->ready);

	int r = loop_run(a->loop);

	if (r < 0)
		log_error("the event loop failed", LOG_ERR(r));
	return r < 0 ? 1 : r;
}
