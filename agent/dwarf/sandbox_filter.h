/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that are left to the processes that read DWARF: lists, and the seccomp program made of one (seccomp(2)).
 *
 * A call that is not on the list, of another architecture's numbers, or with an argument it may not have, ends the process (SIGSYS).
 */
#ifndef XAGENT_AGENT_DWARF_SANDBOX_FILTER_H
#define XAGENT_AGENT_DWARF_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stddef.h>

enum sandbox_kind {
	SANDBOX_SERVER, /* starts and ends readers */
	SANDBOX_READER, /* reads one file */
	SANDBOX_KIND_MAX
};

/* Five instructions a system call that has a condition. */
#define SANDBOX_FILTER_MAX 256

/* How many instructions were written to `program`, at most SANDBOX_FILTER_MAX. */
size_t sandbox_filter_make(enum sandbox_kind kind, struct sock_filter *program);
/* Cannot be undone, and holds for children. no_new_privs is set. 0 or -errno. */
int sandbox_filter_apply(enum sandbox_kind kind);

#endif
