/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are profiled. */
#include "agent/cli/scope.h"

#include "agent/cli/proc_status.h"
#include "agent/util/log.h"

static int confine_command(struct scope *s, uint32_t pid)
{
	int r = cgroup_room_new(pid, &s->room);

	if (r == 0)
		return 0;
	log_debug("no cgroup for the command", LOG_ERR(r));
	return descent_new(pid, &s->descent);
}

int scope_open(struct scope *s, const struct profile_args *a, uint32_t command_pid, struct buf *why)
{
	if (a->cgroup)
		return cgroup2_open(a->cgroup, why, &s->cgroup_fd);
	return profile_args_is_command_only(a) ? confine_command(s, command_pid) : 0;
}

void scope_release_command(struct scope *s)
{
	cgroup_room_free(s->room);
	s->room = NULL;
}

void scope_fini(struct scope *s)
{
	scope_release_command(s);
	descent_free(s->descent);
	cleanup_close_p(&s->cgroup_fd);
	*s = SCOPE_INIT;
}

int scope_cgroup_fd(const struct scope *s)
{
	return s->room ? cgroup_room_fd(s->room) : s->cgroup_fd;
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
	return !s->descent || descent_has(s->descent, p->pid, parent_of, processes);
}
