/* SPDX-License-Identifier: Apache-2.0 */
/* One process as a target of `discovery.process`: facts become labels. Pure. */
#ifndef XAGENT_AGENT_DISCOVERY_PROCESS_TARGET_H
#define XAGENT_AGENT_DISCOVERY_PROCESS_TARGET_H

#include <stdbool.h>

#include "agent/process/process.h"
#include "agent/target/label.h"

/* Which facts become labels. __process_pid__ and SELECTOR_START_LABEL always do. */
struct discover_config {
	bool cwd;	   /* __meta_process_cwd */
	bool exe;	   /* __meta_process_exe */
	bool commandline;  /* __meta_process_commandline */
	bool container_id; /* __container_id__ */
	bool username;	   /* __meta_process_username */
	bool uid;	   /* __meta_process_uid */
	bool cgroup_path;  /* __meta_process_cgroup_path */
};

/* Those of Grafana's agent; its documentation has username and uid, too. */
#define DISCOVER_CONFIG_DEFAULTS   \
	((struct discover_config){ \
		.cwd = true, .exe = true, .commandline = true, .container_id = true })

/* False, no target: kernel threads, and where no executable is known (a process that is gone). */
bool process_target_wanted(const struct process_identity *id);

/* p->identity is loaded. `username` is used if the config wants it. Facts that are not known make
 * no label. 0 or -ENOMEM. */
int process_target_labels(const struct process *p, const struct discover_config *config,
			  const char *username, struct labels **ret_labels);

#endif
