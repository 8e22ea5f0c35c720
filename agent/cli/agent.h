/* SPDX-License-Identifier: Apache-2.0 */
/* The running agent: loop, worker, HTTP, component graph, and what holds them together. Loop thread. */
#ifndef XAGENT_AGENT_CLI_AGENT_H
#define XAGENT_AGENT_CLI_AGENT_H

#include <stdbool.h>

#include "agent/component/graph.h"
#include "agent/http/server.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/loop.h"
#include "agent/util/worker.h"

#define AGENT_DEFAULT_LISTEN "127.0.0.1:12345"
/* Intervals being named and encoded at once: more waiting means that the machine is too slow, and then intervals grow instead;
 * one more builds unwind tables. */
#define AGENT_MAX_JOBS 5

struct agent_options {
	const char *config_path; /* file or directory; borrowed, as the next */
	const char *listen;
};

struct agent {
	struct agent_options options;
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct http_client *http;
	struct http_server *server;
	struct component_env env;
	struct graph *graph;
	char hostname[256];
	bool ready; /* the first load has succeeded */
	bool ending;
};

/* Everything but the configuration: 0, or -errno with one line in `why`. `a` stays where it is until agent_fini(). */
int agent_init(struct agent *a, const struct agent_options *o, struct buf *why);
/* Stops components (they hand over and send what they have), then everything else. */
void agent_fini(struct agent *a);

/* Loads the configuration and lets its components begin. Mistakes are printed to standard error with excerpts, or appended to
 * `summary` in one line when it is not NULL. 0, or -EINVAL / -errno after something was said. */
int agent_load(struct agent *a, struct buf *summary);

/* Until a signal ends it; the exit code. */
int agent_loop(struct agent *a);

/* The routes of the HTTP server; 0 or -errno. */
int agent_routes_add(struct agent *a);

/* Metrics about the process itself and its configuration. */
int agent_self_metrics_add(struct agent *a);
void agent_self_metrics_remove(struct agent *a);
void agent_self_metrics_loaded(struct agent *a, bool success);

#endif
