/* SPDX-License-Identifier: Apache-2.0 */
/* The running agent. */
#include "agent/cli/agent.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/cli/config_file.h"
#include "agent/cli/priority.h"
#include "agent/util/file.h"
#include "agent/util/log.h"
#include "agent/version.h"

/* A load makes at most RIVER_DIAGS_MAX diagnostics of a few lines each. */
#define DIAGS_ARENA_BYTES ((size_t)16 << 20)
#define DIAGS_TEXT_BYTES ((size_t)16 << 20)

static void on_signal(int signo, void *data)
{
	struct agent *a = data;

	if (signo == SIGHUP) {
		_cleanup_buf_ struct buf summary = BUF_INIT(DIAGS_TEXT_BYTES);

		(void)agent_load(a, &summary);
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

static int open_server(struct agent *a, struct buf *why)
{
	struct http_server_options o = HTTP_SERVER_OPTIONS_INIT;
	char error[HTTP_SERVER_MAX_ERROR_BYTES];

	o.listen = a->options.listen;
	int r = http_server_new(a->loop, &o, &a->server, error);
	if (r == HTTP_LISTEN_REFUSED) {
		(void)buf_printf(why, "%s; choose another with --server.http.listen-addr=HOST:PORT",
				 error);
		return -EADDRINUSE;
	}
	if (r < 0)
		return r;
	a->env.server = a->server;
	return agent_routes_add(a);
}

static int open_parts(struct agent *a, struct buf *why)
{
	int r = loop_new(&a->loop);

	if (r == 0)
		r = open_signals(a);
	if (r == 0)
		r = telemetry_new(&a->telemetry);
	if (r == 0)
		r = worker_new(a->loop, AGENT_MAX_JOBS, &a->worker);
	if (r == 0)
		r = http_client_new(a->loop, &a->http);
	if (r < 0)
		return r;
	a->env = (struct component_env){
		.loop = a->loop,
		.worker = a->worker,
		.telemetry = a->telemetry,
		.http = a->http,
		.hostname = a->hostname,
	};
	r = graph_new(&a->env, &a->graph);
	if (r == 0)
		r = agent_self_metrics_add(a);
	return r == 0 ? open_server(a, why) : r;
}

int agent_init(struct agent *a, const struct agent_options *o, struct buf *why)
{
	*a = (struct agent){ .options = *o };
	tune_malloc();
	raise_file_limit();
	priority_raise();
	if (gethostname(a->hostname, sizeof(a->hostname) - 1) < 0)
		a->hostname[0] = '\0';
	log_info_always("xagent is starting", LOG_STR("version", XAGENT_VERSION),
			LOG_STR("config", o->config_path));
	int r = open_parts(a, why);
	if (r < 0) {
		if (why->len == 0)
			(void)buf_printf(why, "cannot start: %s", strerror(-r));
		return r;
	}
	log_info_always("now listening for http traffic", LOG_STR("addr", o->listen),
			LOG_UINT("port", http_server_port(a->server)));
	return 0;
}

void agent_fini(struct agent *a)
{
	/* The loop goes on until the last profiles are sent. */
	a->ending = true;
	/* While the last profiles are sent, passwords and TLS stay as they are. */
	a->env.server = NULL;
	graph_free(a->graph);
	if (a->telemetry)
		agent_self_metrics_remove(a);
	http_server_free(a->server);
	http_client_free(a->http);
	worker_free(a->worker);
	telemetry_free(a->telemetry);
	loop_free(a->loop);
}

static void write_stderr(void *ctx, const char *bytes, size_t n)
{
	(void)ctx;
	(void)file_write_fd(STDERR_FILENO, bytes, n);
}

static void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static void tell(const struct river_diags *diags, const struct config_texts *texts,
		 struct buf *summary)
{
	if (summary)
		river_diags_write_summary(diags, write_buf, summary);
	else
		river_diags_write_pretty(diags, texts->sources, texts->n, isatty(STDERR_FILENO),
					 write_stderr, NULL);
}

/* `why` is left empty where diagnostics have been told. */
static int load_texts(struct agent *a, const struct config_texts *texts, struct buf *summary,
		      struct buf *why)
{
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, DIAGS_ARENA_BYTES);
	river_diags_init(&diags, &arena);
	int r = graph_load(a->graph, texts->sources, texts->n, &diags);
	if (diags.n_items > 0)
		tell(&diags, texts, summary);
	if (r < 0)
		(void)buf_printf(why, "loading config path \"%s\": %s", a->options.config_path,
				 strerror(-r));
	river_arena_fini(&arena);
	return r == RIVER_INVALID ? -EINVAL : r;
}

static void tell_failure(const struct buf *why, struct buf *summary)
{
	if (summary)
		(void)buf_append_str(summary, buf_str(why));
	else
		(void)fprintf(stderr, "Error: %s\n", buf_str(why));
}

static int read_and_load(struct agent *a, struct buf *summary)
{
	_cleanup_config_texts_ struct config_texts texts = { 0 };
	_cleanup_buf_ struct buf why = BUF_INIT(DIAGS_TEXT_BYTES);
	int r = config_texts_read(a->options.config_path, &why, &texts);

	if (r == 0)
		r = load_texts(a, &texts, summary, &why);
	if (r == 0)
		r = graph_run(a->graph, &why);
	if (r < 0 && why.len > 0)
		tell_failure(&why, summary);
	return r;
}

/* A configuration without a `logging` block has the defaults. */
static void configure_log(const struct graph *g)
{
	for (size_t i = 0; i < graph_n(g); i++)
		if (strcmp(graph_component(g, i)->id, "logging") == 0)
			return;
	log_configure(LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
}

/* Whoever reaches it can reload, and read what components say about this host. */
static void warn_open_server(const struct agent *a)
{
	if (http_server_is_open(a->server))
		log_warn("everybody who reaches this address may use it: there is no `auth` in an "
			 "`http` block",
			 LOG_STR("addr", a->options.listen));
}

int agent_load(struct agent *a, struct buf *summary)
{
	if (a->ending) {
		if (summary)
			(void)buf_append_str(summary, "the agent is about to end");
		return -ESHUTDOWN;
	}
	int r = read_and_load(a, summary);

	configure_log(a->graph);
	agent_self_metrics_loaded(a, r == 0);
	if (r == 0 && a->ready)
		log_info_always("config reloaded");
	else if (r < 0 && a->ready)
		log_error("failed to reload config",
			  LOG_STR("err", summary ? buf_str(summary) : strerror(-r)));
	if (r == 0) {
		warn_open_server(a);
		a->ready = true;
	}
	return r;
}

int agent_loop(struct agent *a)
{
	int r = loop_run(a->loop);

	if (r < 0)
		log_error("the event loop failed", LOG_ERR(r));
	return r < 0 ? 1 : r;
}
