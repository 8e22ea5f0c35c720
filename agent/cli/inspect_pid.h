/* SPDX-License-Identifier: Apache-2.0 */
/* Process ids as words of a command line, and what keeps us from a process, in one line. */
#ifndef XAGENT_AGENT_CLI_INSPECT_PID_H
#define XAGENT_AGENT_CLI_INSPECT_PID_H

#include <stddef.h>
#include <stdint.h>

#include "agent/cli/options.h"
#include "agent/util/buf.h"

struct inspect_pids {
	uint32_t *items; /* owned; in order of appearance, may repeat */
	size_t n;
};

void inspect_pids_fini(struct inspect_pids *p);
#define _cleanup_inspect_pids_ _cleanup_(inspect_pids_fini)

/* 0; -EINVAL or -ENOMEM with one line in `why`. Pure. */
int inspect_pids_parse(const struct cli_words *words, struct inspect_pids *ret_pids,
		       struct buf *why);

/* A process with a live thread and user code: 0, or -ESRCH with one line in `why`. */
int inspect_pid_check(uint32_t pid, struct buf *why);

/* Why ptrace(2) said `error` (-errno) of a process. */
void inspect_pid_explain(uint32_t pid, int error, struct buf *why);

/* What is needed to look into the memory of others. */
void inspect_pid_needs(struct buf *why);

#endif
