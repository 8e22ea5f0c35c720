/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that looks like /proc, for tests. */
#ifndef XAGENT_TESTS_UNIT_AGENT_PROCESS_PROC_TREE_H
#define XAGENT_TESTS_UNIT_AGENT_PROCESS_PROC_TREE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

struct proc_tree {
	char root[64];
};

/* What is NULL is not there. */
struct fake_proc {
	uint32_t pid, parent_pid;
	const char *comm;
	char state; /* 'S' when 0 */
	uint32_t flags;
	uint32_t n_threads; /* 1 when 0 */
	uint64_t start_ticks;
	uint32_t uid;
	const char *maps, *cgroup, *exe, *cmdline, *cwd;
};

static inline void proc_tree_init(struct proc_tree *t)
{
	temp_dir_make(t->root);
}

static inline void proc_tree_fini(struct proc_tree *t)
{
	(void)temp_dir_remove(t->root);
}

static inline uint64_t ticks_of_boot_ns(uint64_t boot_ns)
{
	return boot_ns / (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

static inline uint64_t ticks_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_BOOTTIME, &ts);
	return ticks_of_boot_ns((uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec);
}

static inline const char *proc_tree_path(const struct proc_tree *t, uint32_t pid, const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%u/%s", t->root, pid, name);
	return path;
}

static inline void proc_tree_write(const struct proc_tree *t, uint32_t pid, const char *name,
				   const char *text, size_t n)
{
	int fd = open(proc_tree_path(t, pid, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	(void)close(fd);
}

static inline void proc_tree_link(const struct proc_tree *t, uint32_t pid, const char *name,
				  const char *target)
{
	(void)unlink(proc_tree_path(t, pid, name));
	assert_int_equal(symlink(target, proc_tree_path(t, pid, name)), 0);
}

static inline void proc_tree_dir(const struct proc_tree *t, uint32_t pid, const char *name)
{
	assert_true(mkdir(proc_tree_path(t, pid, name), 0755) == 0 || errno == EEXIST);
}

static inline void proc_tree_remove(const struct proc_tree *t, uint32_t pid)
{
	(void)temp_dir_remove(proc_tree_path(t, pid, ""));
}

/* `below` is "" or "task/TID/". */
static inline void proc_tree_fill(const struct proc_tree *t, const char *below,
				  const struct fake_proc *p)
{
	char text[512];
	char name[64];
	int n = snprintf(text, sizeof(text),
			 "%u (%s) %c %u 1 1 0 -1 %u 0 0 0 0 0 0 0 0 20 0 %u 0 %llu 0 0\n", p->pid,
			 p->comm ? p->comm : "x", p->state ? p->state : 'S', p->parent_pid,
			 p->flags, p->n_threads ? p->n_threads : 1,
			 (unsigned long long)p->start_ticks);
	const struct {
		const char *name, *text;
	} files[] = { { "maps", p->maps }, { "cgroup", p->cgroup }, { "cmdline", p->cmdline } };

	(void)snprintf(name, sizeof(name), "%sstat", below);
	proc_tree_write(t, p->pid, name, text, (size_t)n);
	n = snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\t%u\t%u\t%u\n", p->uid, p->uid, p->uid,
		     p->uid);
	(void)snprintf(name, sizeof(name), "%sstatus", below);
	proc_tree_write(t, p->pid, name, text, (size_t)n);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", below, files[i].name);
		if (files[i].text)
			proc_tree_write(t, p->pid, name, files[i].text, strlen(files[i].text));
	}
	(void)snprintf(name, sizeof(name), "%sexe", below);
	if (p->exe)
		proc_tree_link(t, p->pid, name, p->exe);
	(void)snprintf(name, sizeof(name), "%scwd", below);
	if (p->cwd)
		proc_tree_link(t, p->pid, name, p->cwd);
}

static inline void proc_tree_add(const struct proc_tree *t, const struct fake_proc *p)
{
	proc_tree_remove(t, p->pid);
	proc_tree_dir(t, p->pid, "");
	proc_tree_dir(t, p->pid, "task");
	proc_tree_fill(t, "", p);
}

/* A thread whose own view of the process is `p`. */
static inline void proc_tree_add_thread(const struct proc_tree *t, uint32_t tid,
					const struct fake_proc *p)
{
	char below[32];

	(void)snprintf(below, sizeof(below), "task/%u/", tid);
	proc_tree_dir(t, p->pid, below);
	proc_tree_fill(t, below, p);
}

#endif
