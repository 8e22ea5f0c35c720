/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands of `xagent inspect` share whose words are process ids. */
#ifndef XAGENT_AGENT_CLI_INSPECT_INSPECT_EACH_H
#define XAGENT_AGENT_CLI_INSPECT_INSPECT_EACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/cli/options.h"
#include "agent/process/process.h"
#include "agent/symbol/store.h"
#include "agent/unwind/object_tables.h"
#include "agent/util/buf.h"

/* Process ids as words of a command line, and what keeps us from a process, in one line. */
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

/* The tables of the profiler (processes, unwind rules, names), for a few processes. */
struct inspect_context {
	struct telemetry *telemetry;
	struct process_table *processes;
	struct kernel_arena *arena;
	struct object_tables *objects; /* single rules only, no tables */
	struct symbol_store *symbols;
};

/* 0 or -errno; fini may follow either. */
int inspect_context_init(struct inspect_context *w);
void inspect_context_fini(struct inspect_context *w);
#define _cleanup_inspect_context_ _cleanup_(inspect_context_fini)

/* The process as it is now: mappings are read, files that are mapped executable are open, where that is permitted. NULL without memory.
 * Borrowed until the next call. */
struct process *inspect_context_process(struct inspect_context *w, uint32_t pid);

/* Writes what is to be said of one process to standard output; a blank line comes first unless it `is_first` of all. 0, or -errno with
 * one line in `why`. */
typedef int (*inspect_show_fn)(struct inspect_context *w, uint32_t pid, bool is_first,
			       struct buf *why);

/* The exit code. What is wrong with one process is said on standard error, and the next one's turn comes. */
int inspect_each(const char *command, const char *help, inspect_show_fn show, int argc,
		 char **argv);

#endif
