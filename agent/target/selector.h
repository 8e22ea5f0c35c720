/* SPDX-License-Identifier: Apache-2.0 */
/* Which label of a target selects its processes. Pure. */
#ifndef XAGENT_AGENT_TARGET_SELECTOR_H
#define XAGENT_AGENT_TARGET_SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/target/label.h"
#include "agent/util/clock.h"

/*
 * The first of these that a target has, and then no other:
 *
 * 1. __process_pid__: decimal, not 0, at most UINT32_MAX; anything else is passed over
 * 2. __container_id__: to the letter
 * 3. __meta_kubernetes_pod_container_id: without its docker://, containerd://, cri-o:// or
 *    podman://; with another scheme the target is unusable
 * 4. __meta_docker_container_id
 * 5. __meta_dockerswarm_task_container_id
 *
 * Container ids are compared whole, so the shortened ones of `docker ps` can select nothing and
 * make a target unusable too.
 *
 * A pid alone may belong to somebody else by now. discovery.process therefore tells the start of
 * the process as well, in SELECTOR_START_LABEL (nanoseconds, CLOCK_MONOTONIC); where that label is,
 * a process that started at another time is not selected. It is no __meta_process_ label: a rule that makes labels of all those
 * (`labelmap`) would make a series of each process.
 */
#define SELECTOR_START_LABEL "__process_start_time_ns__"

enum selector_kind { SELECTOR_NONE, SELECTOR_PID, SELECTOR_CONTAINER };

struct selector {
	enum selector_kind kind;
	uint32_t pid;
	bool have_start;
	uint64_t start_ns;
	const char *container_id; /* borrowed from the labels */
};

void selector_from_labels(const struct labels *l, struct selector *ret_selector);

/* The container id that a target would select by if it had no pid; NULL when none is usable.
 * Borrowed from the labels. */
const char *selector_container_id(const struct labels *l);

/* Start times come from a fork event or from /proc, whose clock ticks (USER_HZ) are 10 ms, and which counts from another clock. Pids are not
 * used again that soon, unless somebody asks for one. */
#define SELECTOR_START_SLACK_NS (50 * NS_PER_MS)
bool selector_takes_start(const struct selector *s, uint64_t start_ns);

#endif
