/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are profiled. */
#include "agent/cli/profile/scope.h"

#include <assert.h>

#include "agent/cli/proc_status.h"
#include "agent/util/log.h"

static int confine_command(struct scope *s, uint32_t pid)
{
	int r = transient_cgroup_new(pid, &s->transient);

	if (r == 0)
		return 0;
	log_debug("no cgroup for the command", LOG_ERR(r));
	return process_ancestry_new(pid, &s->process_ancestry);
}

int scope_open(struct scope *s, const struct profile_args *a, uint32_t command_pid, struct buf *why)
{
	assert(s->cgroup_fd < 0 && !s->transient && !s->process_ancestry);
	if (a->cgroup)
		return cgroup2_open(a->cgroup, why, &s->cgroup_fd);
	return profile_args_is_command_only(a) ? confine_command(s, command_pid) : 0;
}

void scope_release_command(struct scope *s)
{
	transient_cgroup_free(s->transient);
	s->transient = NULL;
}

void scope_fini(struct scope *s)
{
	scope_release_command(s);
	process_ancestry_free(s->process_ancestry);
	cleanup_close_p(&s->cgroup_fd);
	*s = SCOPE_INIT;
}

int scope_cgroup_fd(const struct scope *s)
{
	return s->transient ? transient_cgroup_fd(s->transient) : s->cgroup_fd;
}

static uint32_t parent_of(uint32_t pid, void *data)
{
	struct process *p = process_table_find(data, pid);
	uint32_t parent;

	if (p)
		return p->parent_pid;
	return proc_status_number(pid, "PPid:", &parent) == 0 ? parent : 0;
}

bool scope_has(struct scope *s, struct process_table *processes, const struct process *p)
{
	return !s->process_ancestry ||
	       process_ancestry_has(s->process_ancestry, p->pid, parent_of, processes);
}
