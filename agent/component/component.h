/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A component: a block of the configuration, built and running.
 *
 *	build	arguments are decoded, state is made, exports exist; no side effect outside of the process
 *	run	work begins
 *	update	other arguments, without losing anything
 *	stop	work ends, what is under way is handed on, state is freed
 *
 * `xagent validate` needs build alone; a load that fails anywhere runs nothing. Arguments live until the next update or stop
 * returns, so a component may keep pointers into them.
 *
 * A new component is a new file, and one line each in kinds.h and registry.c. Loop thread only.
 */
#ifndef XAGENT_AGENT_COMPONENT_COMPONENT_H
#define XAGENT_AGENT_COMPONENT_COMPONENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/http/client.h"
#include "agent/http/server.h"
#include "agent/process/process.h"
#include "agent/telemetry/telemetry.h"
#include "agent/util/buf.h"
#include "agent/util/list.h"
#include "agent/util/loop.h"
#include "agent/util/worker.h"
#include "river-config/river.h"

#define COMPONENT_MESSAGE_MAX 512

enum health_state { HEALTH_UNKNOWN, HEALTH_HEALTHY, HEALTH_UNHEALTHY, HEALTH_EXITED, HEALTH_MAX };

struct health {
	enum health_state state;
	char message[COMPONENT_MESSAGE_MAX]; /* one sentence for a person */
	uint64_t updated_real_ns;
};

/* How far a feature has come; what is allowed is --stability.level. */
enum stability {
	STABILITY_GENERALLY_AVAILABLE,
	STABILITY_PUBLIC_PREVIEW,
	STABILITY_EXPERIMENTAL,
	STABILITY_MAX,
};

/* What every component may use; borrowed, outlives all of them. */
struct component_env {
	enum stability stability; /* the least that is allowed */
	struct loop *loop;
	struct worker *worker;
	struct telemetry *telemetry;
	struct http_client *http;
	struct http_server *server; /* NULL: there is none, or it is not for components any more */
	const char *hostname;
	const char *storage_path; /* directory of the files; NULL or "": the present one */
	bool offline; /* arguments are checked, nobody outside is asked and nothing will run */
};

struct component;
struct graph;

/* What update may say: not from within what is under way; it is asked again in the next round of the loop. */
#define COMPONENT_LATER 1
/* What build may say: what it will export is known only when it runs, so what depends on it cannot be judged. */
#define COMPONENT_UNKNOWN 2

struct component_kind {
	const char *name; /* "pyroscope.ebpf" */
	const struct river_schema *schema;
	bool wants_label; /* else it may have none, and there is one of it */
	bool only_one;	  /* … although it has a label, in all modules together */
	enum stability stability;
	bool finds_containers; /* what it exports may name containers that were just started */
	/* 0 or -errno; on failure `why` gets a sentence. Offline also COMPONENT_UNKNOWN. */
	int (*build)(struct component *c, const void *args, struct buf *why);
	int (*run)(struct component *c, struct buf *why);
	/* Whether update would take them: asked in a load, before anything is changed. 0, or -errno: the load fails. NULL: 0. */
	int (*accepts)(struct component *c, const void *args, struct buf *why);
	/* Also before run. 0: taken, pointers into the old arguments are gone; COMPONENT_LATER; -errno: the old ones stay. */
	int (*update)(struct component *c, const void *args, struct buf *why);
	/* Also after a build alone, and after one that failed. May not run the loop: what takes time is left as a deferred_cleanup. */
	void (*stop)(struct component *c);
	/* An object in `arena`; NULL function: nothing is exported. 0 or -ENOMEM. */
	int (*exports)(struct component *c, struct river_arena *arena,
		       const struct river_value **ret_exports);
	/* A process was sampled for the first time since its last exec, or since targets changed; true as long as what is exported of it is
	 * new to dependants. `p` is of `processes`, the sampler's own table, and may have ended already. */
	bool (*process_seen)(struct component *c, struct process_table *processes,
			     struct process *p);
	void (*process_gone)(struct component *c, uint32_t pid);
	/* Its exports are about to be evaluated by all dependants. May be NULL. */
	void (*exports_told)(struct component *c);
	/* Brings c->health up to date: called before somebody looks at it. */
	void (*check)(struct component *c);
	/* What it has to tell about itself beyond arguments and exports, for a person: an object in `arena`. NULL function: nothing.
	 * 0 or -ENOMEM. */
	int (*debug_info)(struct component *c, struct river_arena *arena,
			  const struct river_value **ret_info);
};

struct component {
	const struct component_kind *kind;
	const struct component_env *env;
	struct graph *graph;
	const char *
		id; /* "pyroscope.ebpf.instance", in a module "module.label/pyroscope.ebpf.instance" */
	const char *local_id; /* without the module */
	const char *
		path; /* "/", in a module "/module.label": with local_id what metrics are labelled with */
	const char *label;    /* "" when it has none */
	void *state;	      /* the kind's */
	struct health health; /* as others see it: the worse of the two below */
	struct health reported;
	struct health evaluation;
};

/* The component's own report; `message` is copied. */
void component_set_health(struct component *c, enum health_state state, const char *message);
/* What the graph has to say: how its last evaluation went. */
void component_set_evaluation(struct component *c, enum health_state state, const char *message);
const char *health_state_text(enum health_state state);

const char *stability_text(enum stability stability); /* "generally-available" … */
bool stability_parse(const char *text, enum stability *ret_stability);

/* The exports are others now: dependants are evaluated again in the next round of the loop. */
void component_exports_changed(struct component *c);

/* What is under way when a component ends, or is no longer its own, such as the last requests. The graph ends only after all of it. */
struct deferred_cleanup {
	struct list node;
	void (*abandon)(struct deferred_cleanup
				*rest); /* frees it at once: the loop does not run any more */
};

void component_defer_cleanup(struct component *c, struct deferred_cleanup *rest);
void deferred_cleanup_done(struct deferred_cleanup *rest);

/* The kind with this name, or NULL; and the nearest name for a suggestion, or NULL. */
const struct component_kind *component_kind_find(const char *name);
const char *component_kind_suggest(const char *name);

#endif
