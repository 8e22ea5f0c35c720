/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel, the mounts and the environment tell of the place the agent runs in. What cannot be read is as on a plain host: nobody is
 * warned of what may not be. */
#ifndef XAGENT_AGENT_PROCESS_HOST_FACTS_H
#define XAGENT_AGENT_PROCESS_HOST_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/str.h"

/* Inodes of the first namespaces (PROC_*_INIT_INO, include/linux/proc_ns.h). */
#define HOST_INITIAL_CGROUP_NAMESPACE 0xEFFFFFFBU
#define HOST_INITIAL_PID_NAMESPACE 0xEFFFFFFCU

/* What of the unified hierarchy can be looked into (cgroup_tree.h). */
enum host_cgroup2 {
	HOST_CGROUP2_NONE,
	HOST_CGROUP2_PART, /* below our own control group */
	HOST_CGROUP2_HOST, /* all of it */
};

struct host_facts {
	uint64_t pid_namespace; /* inodes; 0: not readable */
	uint64_t cgroup_namespace;
	uint32_t own_pid;
	uint32_t proc_pid; /* the number that /proc gives us; 0: none, /proc is not ours at all */
	uint32_t
		pid_levels; /* numbers that /proc knows us by: its own pid namespace, and those below it */
	bool part_of_uids; /* the user namespace does not have all of them: it is not the first */
	bool hidepid;	   /* an option of the mount … */
	bool init_hidden;  /* … which hides pid 1 from us */
	enum host_cgroup2 cgroup2;

	bool dockerenv;	    /* /.dockerenv */
	bool containerenv;  /* /run/.containerenv: Podman */
	bool kubernetes;    /* a service account or the service's address */
	bool own_container; /* our control group is a container's */
	bool init_elsewhere; /* pid 1 has another mount namespace than we: it is not of our container */
	bool kind;	     /* pid 1's root is a node of kind's */
	char init_comm[16];
	char kernel_release[65];
	bool wsl_interop;
	bool gvisor;
};

/* `root`: "" for the running system; tests give a tree of files. */
void host_facts_read(const char *root, struct host_facts *ret_facts);

/* One line of /proc/self/mountinfo each; what later lines mount over earlier ones counts. Pure. */
void host_facts_mounts(struct str mountinfo, struct host_facts *f);

#endif
