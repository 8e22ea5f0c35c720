/* SPDX-License-Identifier: Apache-2.0 */
/* A graph with everything that real components need. */
#ifndef XAGENT_TESTS_UNIT_AGENT_COMPONENT_REAL_GRAPH_H
#define XAGENT_TESTS_UNIT_AGENT_COMPONENT_REAL_GRAPH_H

#include <stdlib.h>
#include <string.h>

#include "agent/component/graph/graph.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"

struct fixture {
	struct component_env env;
	struct graph *graph;
	struct buf messages; /* file:line:column: text, one a line */
};

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A configuration as people have it: tabs and blanks mixed, no blanks around "=". */
#define EBPF                                                   \
	"pyroscope.ebpf \"instance\" {\n"                      \
	"\tforward_to = [pyroscope.write.endpoint.receiver]\n" \
	"\tdefault_target = {\n"                               \
	"\t\t\"__name__\"=\"host_cpu\",\n"                     \
	"\t\t\"service_name\"=\"host_cpu\", \n"                \
	"\t}\n"                                                \
	"        targets = [\n"                                \
	"\t\t{\"__container_id__\"=\"" ID "\", \n"             \
	"\t\t \"service_name\"=\"grafana\", \n"                \
	"\t\t \"__name__\"=\"grafana_cpu\"},\n"                \
	"\t]\n"                                                \
	"\ttargets_only = false\n"                             \
	"\tcollect_kernel_profile = true\n"                    \
	"\tcollect_user_profile = true\n"                      \
	"\tcollect_interval = \"5s\"\n"                        \
	"\tsample_rate = 100\n"                                \
	"}\n"
#define WRITE                                    \
	"pyroscope.write \"endpoint\" {\n"       \
	"\tendpoint {\n"                         \
	"        url = \"http://127.0.0.1:1\"\n" \
	"    }\n"                                \
	"}\n"
#define LOGGING "logging {\n\tlevel = \"error\"\n}\n"
#define DISCOVERY "discovery.process \"all\" { }\n"
#define EBPF_DISCOVERED                                        \
	"pyroscope.ebpf \"instance\" {\n"                      \
	"\tforward_to = [pyroscope.write.endpoint.receiver]\n" \
	"\ttargets = discovery.process.all.targets\n"          \
	"}\n"

static inline void set_up(struct fixture *f)
{
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_LOGFMT);
	buf_init(&f->messages, (size_t)1 << 20);
	f->env.hostname = "h";
	assert_int_equal(loop_new(&f->env.loop), 0);
	assert_int_equal(telemetry_new(&f->env.telemetry), 0);
	assert_int_equal(worker_new(f->env.loop, 4, &f->env.worker), 0);
	assert_int_equal(http_client_new(f->env.loop, &f->env.http), 0);
	assert_int_equal(graph_new(&f->env, &f->graph), 0);
}

static inline void tear_down(struct fixture *f)
{
	graph_free(f->graph);
	http_client_free(f->env.http);
	worker_free(f->env.worker);
	telemetry_free(f->env.telemetry);
	loop_free(f->env.loop);
	buf_fini(&f->messages);
}

FIXTURE(struct fixture, set_up, tear_down)

static inline void write_buf(void *ctx, const char *bytes, size_t n)
{
	(void)buf_append(ctx, bytes, n);
}

static inline int load(struct fixture *f, const char *text)
{
	struct river_source source = { .file = "a", .text = text, .len = strlen(text) };
	struct river_arena arena;
	struct river_diags diags;

	river_arena_init(&arena, (size_t)16 << 20);
	river_diags_init(&diags, &arena);
	buf_reset(&f->messages);
	int r = graph_load(f->graph, &source, 1, &diags);
	for (size_t i = 0; i < diags.n_items; i++) {
		river_diag_write(&diags.items[i], write_buf, &f->messages);
		(void)buf_append_char(&f->messages, '\n');
	}
	river_arena_fini(&arena);
	return r;
}

static inline void assert_loads(struct fixture *f, const char *text)
{
	int r = load(f, text);

	assert_string_equal(buf_str(&f->messages), "");
	assert_int_equal(r, RIVER_OK);
}

static inline const struct component *find(const struct fixture *f, const char *id)
{
	for (size_t i = 0; i < graph_n(f->graph); i++)
		if (strcmp(graph_component(f->graph, i)->id, id) == 0)
			return graph_component(f->graph, i);
	fail_msg("no component %s", id);
	return NULL;
}

#endif
