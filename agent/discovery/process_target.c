/* SPDX-License-Identifier: Apache-2.0 */
/* One process as a target of `discovery.process`. */
#include "agent/discovery/process_target.h"

#include <inttypes.h>
#include <stdio.h>

#include "agent/target/selector.h"
#include "agent/util/macro.h"

/* UINT64_MAX has 20 digits. */
#define NUMBER_BYTES 21

bool process_target_wanted(const struct process_identity *id)
{
	return !id->kernel_thread && id->exe[0];
}

static const char *if_wanted(bool wanted, const char *value)
{
	return wanted ? value : "";
}

int process_target_labels(const struct process *p, const struct discover_config *config,
			  const char *username, struct labels **ret_labels)
{
	const struct process_identity *id = &p->identity;
	char pid[NUMBER_BYTES], start[NUMBER_BYTES], uid[NUMBER_BYTES];

	(void)snprintf(pid, sizeof(pid), "%" PRIu32, p->pid);
	(void)snprintf(start, sizeof(start), "%" PRIu64, p->start_ns);
	(void)snprintf(uid, sizeof(uid), "%" PRIu32, id->uid);
	const struct label items[] = {
		{ "__process_pid__", pid },
		{ SELECTOR_START_LABEL, start },
		{ "__meta_process_cwd", if_wanted(config->cwd, id->cwd) },
		{ "__meta_process_exe", if_wanted(config->exe, id->exe) },
		{ "__meta_process_commandline", if_wanted(config->commandline, id->cmdline) },
		{ "__meta_process_username", if_wanted(config->username, username) },
		{ "__meta_process_uid", if_wanted(config->uid, uid) },
		{ "__meta_process_cgroup_path", if_wanted(config->cgroup_path, id->cgroup_path) },
		{ "__container_id__", if_wanted(config->container_id, id->cgroup.container_id) },
	};

	return labels_new(items, ARRAY_SIZE(items), ret_labels);
}
