/* SPDX-License-Identifier: Apache-2.0 */
/* The running agent: loop, worker, HTTP, component graph, and what holds them together. Loop thread. */
#ifndef XAGENT_AGENT_CLI_RUN_AGENT_H
#define XAGENT_AGENT_CLI_RUN_AGENT_H

#include <stdbool.h>

#include "agent/cli/config/config_file.h"
#include "agent/cli/web/page_routes.h"
#include "agent/component/graph/graph.h"
#include "agent/http/answer_queue.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/loop.h"
#include "agent/util/worker.h"

#define AGENT_DEFAULT_LISTEN "127.0.0.1:12345"
/* Intervals being named and encoded at once: more waiting means that the machine is too slow, and then intervals grow instead;
 * one more builds unwind tables, one looks for runtimes. */
#define AGENT_MAX_JOBS 6

struct agent_options {
	struct config_source config; /* borrowed, as all texts */
	const char *listen;
	const char *probe_listen;  /* NULL or "": none */
	const char *allowed_hosts; /* NULL: none; see http_hosts_problem() */
	const char *ui_prefix;	   /* of web pages: "" or "/prefix" */
	const char *storage_path;
	enum stability stability;
	bool watch; /* loads again when the files change */
	bool no_support_bundle;
	char **argv; /* as the process was called, for the support bundle; NULL terminated */
};

struct config_watch;
struct spool_sweeper;

struct agent {
	struct agent_options options;
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct http_client *http;
	struct http_server *server;
	struct http_server *probes; /* NULL: none of their own */
	/* What takes longer than a turn of the loop may. Apart: who asks too much else keeps nobody from the counters. */
	struct answer_queue *answers, *metrics;
	struct component_env env;
	struct graph *graph;
	struct config_watch *watch;
	struct spool_sweeper *sweeper; /* of spools that nothing configured has */
	char hostname[256];
	char page_tag[PAGE_TAG_BYTES];
	uint64_t started_real_ns;
	char config_hash[CONFIG_HASH_BYTES]; /* of what runs; "" before the first load */
	char tried_hash
		[CONFIG_HASH_BYTES]; /* of what was last loaded, or refused; "" when it could not be read */
	bool ready;		     /* the first load has succeeded */
	bool ending;
};

/* Everything but the configuration: 0, or -errno with one line in `why`. `a` stays where it is until agent_fini(). */
int agent_init(struct agent *a, const struct agent_options *o, struct buf *why);
/* Stops components (they hand over and send what they have), then everything else. */
void agent_fini(struct agent *a);

enum agent_load_outcome { AGENT_LOADED, AGENT_LOAD_INVALID };

/* The first load. Lets the components begin. AGENT_LOADED; AGENT_LOAD_INVALID: diagnostics were printed on standard error; -errno with
 * one line in `why`. */
int agent_load(struct agent *a, struct buf *why);

/* Another load: takes the whole configuration, or changes nothing; the log tells. 0, or -errno with the reason in `why`. Not before the
 * first load has succeeded: -EAGAIN. */
int agent_reload(struct agent *a, struct buf *why);

/* The reason of a reload is as long as the diagnostics of a load at most. */
#define AGENT_WHY_MAX_BYTES ((size_t)16 << 20)

/* Until a signal ends it; the exit code. */
int agent_loop(struct agent *a);

/* The routes of the HTTP server; 0 or -errno. */
int agent_routes_add(struct agent *a);
/* Of a->probes: what kubelets and Prometheus ask, and nothing else. */
int agent_probe_routes_add(struct agent *a);

/* Metrics about the process itself and its configuration. */
int agent_self_metrics_add(struct agent *a);
void agent_self_metrics_remove(struct agent *a);
/* Those of reads that did not return. 0 or -ENOMEM. */
int agent_reader_metrics_add(struct agent *a);
void agent_reader_metrics_remove(struct agent *a);
/* What /metrics answers: any thread. 0 or -errno. */
int agent_metrics_write(struct telemetry_snapshot *snapshot, const char *config_hash,
			struct buf *out);
/* A handler; `data` is the agent. */
void agent_answer_metrics(const struct http_call *call, struct http_answer *answer, void *data);
void agent_self_metrics_evaluated(struct agent *a, uint64_t ns);
/* After each load. */
void agent_self_metrics_loaded(struct agent *a, bool success);

#endif
