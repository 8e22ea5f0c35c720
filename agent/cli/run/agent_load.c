/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration into the running agent: the first time, and again. */
#include "agent/cli/run/agent.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "agent/cli/config/config_load.h"
#include "agent/cli/run/config_watch.h"
#include "agent/util/clock.h"
#include "agent/util/log.h"
#include "agent/util/program_pages.h"

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

/* Texts to graph, and its components begin. Diagnostics are in `l`. */
static int load(struct agent *a, struct config_load *l, struct buf *why)
{
	int r;

	a->tried_hash[0] = '\0';
	if (a->watch)
		config_watch_look(a->watch);
	uint64_t begin_ns = clock_mono_ns();
	r = config_load(l, a->graph, &a->options.config, why);
	agent_self_metrics_evaluated(a, clock_mono_ns() - begin_ns);
	if (l->texts.n > 0)
		config_texts_hash(&l->texts, a->tried_hash);
	if (r != RIVER_OK)
		return r;
	memcpy(a->config_hash, a->tried_hash, sizeof(a->config_hash));
	r = graph_run(a->graph, why);
	configure_log(a->graph);
	return r;
}

int agent_load(struct agent *a, struct buf *why)
{
	struct config_load l;

	assert(!a->ready && !a->ending);
	config_load_init(&l);
	int r = load(a, &l, why);
	config_load_print(&l);
	config_load_fini(&l);
	agent_self_metrics_loaded(a, r == 0);
	if (r == 0)
		warn_open_server(a);
	program_pages_release();
	a->ready = r == 0;
	return r == RIVER_INVALID ? AGENT_LOAD_INVALID : r;
}

static int reload(struct agent *a, struct buf *why)
{
	struct config_load l;

	config_load_init(&l);
	int r = load(a, &l, why);
	if (r == RIVER_INVALID)
		config_load_summary(&l, why);
	else
		config_load_log_warnings(&l);
	config_load_fini(&l);
	return r == RIVER_INVALID ? -EINVAL : r;
}

int agent_reload(struct agent *a, struct buf *why)
{
	if (a->ending || !a->ready) {
		(void)buf_append_str(why, a->ending ? "the agent is about to end"
						    : "the first load is not done yet");
		return a->ending ? -ESHUTDOWN : -EAGAIN;
	}
	int r = reload(a, why);

	agent_self_metrics_loaded(a, r == 0);
	if (r == 0)
		log_info_always("config reloaded");
	else
		log_write(LOG_LEVEL_ERROR, NULL, "failed to reload config",
			  (const struct log_field[]){ LOG_STR("err", buf_str(why)),
						      { .key = NULL } });
	if (r == 0)
		warn_open_server(a);
	return r;
}
