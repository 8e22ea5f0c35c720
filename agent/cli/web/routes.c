/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent answers over HTTP. */
#include "agent/cli/run/agent.h"

#include <errno.h>
#include <string.h>

#include "agent/cli/support/support.h"
#include "agent/cli/web/disclosure.h"
#include "agent/cli/web/web.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

static void answer_ready(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct agent *a = data;

	(void)call;
	answer->status = a->ready ? 200 : 503;
	(void)buf_printf(&answer->body, "xagent is %sready.\n", a->ready ? "" : "not ");
}

static void put_unhealthy(const struct graph *g, struct http_answer *answer)
{
	size_t n = 0;

	for (size_t i = 0; i < graph_n(g); i++) {
		const struct component *c = graph_component(g, i);

		if (c->health.state != HEALTH_UNHEALTHY)
			continue;
		(void)buf_printf(&answer->body, "%s%s",
				 n++ ? ", " : "unhealthy components: ", c->id);
	}
	answer->status = n ? 500 : 200;
	(void)buf_append_str(&answer->body, n ? "\n" : "All xagent components are healthy.\n");
}

/* Behind the sentence that probes look for: what is healthy and yet worth knowing. */
static void put_notes(const struct graph *g, struct buf *out)
{
	for (size_t i = 0; i < graph_n(g); i++) {
		const struct component *c = graph_component(g, i);

		(void)buf_printf(out, "%s: %s: %s\n", c->id, health_state_text(c->health.state),
				 c->health.message);
	}
	if (reader_get_stats().n_lost > 0)
		(void)buf_printf(
			out,
			"reads of %u processes or file systems did not return (FUSE or NFS?); "
			"the log says which\n",
			reader_get_stats().n_lost);
}

static void answer_healthy(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct agent *a = data;

	(void)call;
	graph_check(a->graph);
	put_unhealthy(a->graph, answer);
	put_notes(a->graph, &answer->body);
}

/* For whoever reaches the probes' own address: no reasons, which may quote addresses and paths. */
static void answer_probe(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct agent *a = data;

	(void)call;
	graph_check(a->graph);
	put_unhealthy(a->graph, answer);
}

static void answer_reload(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct agent *a = data;
	_cleanup_buf_ struct buf why = BUF_INIT(AGENT_WHY_MAX_BYTES);

	(void)call;
	log_info_always("reload requested via /-/reload endpoint");
	if (agent_reload(a, &why) == 0) {
		(void)buf_append_str(&answer->body, "config reloaded\n");
		return;
	}
	answer->status = 400;
	(void)buf_printf(&answer->body, "%s\n", buf_str(&why));
}

static void answer_support(const struct http_call *call, struct http_answer *answer, void *data)
{
	struct agent *a = data;

	if (a->options.no_support_bundle) {
		answer->status = 403;
		(void)buf_append_str(&answer->body, "the support bundle is disabled\n");
		return;
	}
	if (disclosure_to(call) != DISCLOSE_ALL) {
		disclosure_refuse(answer, "the support bundle");
		return;
	}
	support_answer(a, call, answer);
}

static void put_list(struct buf *out)
{
	(void)buf_append_str(
		out,
		"xagent, a continuous profiler\n\n"
		"  /            flame graphs, in a browser (with a pyroscope.store)\n"
		"  /metrics     counters, Prometheus text\n"
		"  /-/ready     200 once the configuration is loaded\n"
		"  /-/healthy   200 while all components are well, and how each of them is\n"
		"  /-/reload    reads the configuration again\n"
		"  /-/support   a zip file for whoever helps: configuration without secrets, "
		"metrics, log;\n"
		"               with a password only\n"
		"  /api/v0/web/components\n"
		"               components as JSON; arguments and exports with a password only\n"
		"  /api/v0/web/status\n"
		"               targets, and what becomes of samples, as JSON\n"
		"  /api/v0/web/process?pid=PID or ?name=NAME\n"
		"               whether a process is profiled, and if not, why\n"
		"  /querier.v1.QuerierService/…, /push.v1.PusherService/Push\n"
		"               as a Pyroscope server has them (with a pyroscope.store)\n");
}

static void answer_root(const struct http_call *call, struct http_answer *answer, void *data)
{
	const struct agent *a = data;

	if (page_is_wanted(call)) {
		page_answer(call, a->page_tag, answer);
		return;
	}
	http_answer_add_header(answer, "Vary", "Accept");
	put_list(&answer->body);
}

int agent_routes_add(struct agent *a)
{
	const struct http_route routes[] = {
		{ .method = "GET",
		  .path = "/",
		  .fn = answer_root,
		  .data = a,
		  .effect = HTTP_IS_PAGE },
		{ .method = "GET", .path = "/-/ready", .fn = answer_ready, .data = a },
		{ .method = "GET", .path = "/-/healthy", .fn = answer_healthy, .data = a },
		{ .method = "GET",
		  .path = "/-/reload",
		  .fn = answer_reload,
		  .data = a,
		  .effect = HTTP_CHANGES },
		{ .method = "POST", .path = "/-/reload", .fn = answer_reload, .data = a },
		{ .method = "GET", .path = "/-/support", .fn = answer_support, .data = a },
		{ .method = "GET", .path = "/metrics", .fn = agent_answer_metrics, .data = a },
	};
	int r = http_server_add_routes(a->server, routes, ARRAY_SIZE(routes));

	if (r < 0)
		return r;
	page_tag_make(a->page_tag);
	r = page_routes_add(a->server, a->page_tag);
	if (r < 0)
		return r;
	return web_routes_add(a);
}

int agent_probe_routes_add(struct agent *a)
{
	const struct http_route routes[] = {
		{ .method = "GET", .path = "/-/ready", .fn = answer_ready, .data = a },
		{ .method = "GET", .path = "/-/healthy", .fn = answer_probe, .data = a },
		{ .method = "GET", .path = "/metrics", .fn = agent_answer_metrics, .data = a },
	};

	return http_server_add_routes(a->probes, routes, ARRAY_SIZE(routes));
}
