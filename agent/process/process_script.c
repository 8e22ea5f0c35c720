/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: what an interpreter runs.
 *
 * Libraries start helpers of their program: Python's multiprocessing does since 3.14 for every worker. Their arguments are the library's
 * own; the program is an ancestor that runs the same interpreter.
 */
#include <string.h>

#include "agent/process/process_private.h"
#include "agent/process/script.h"

/* A worker is forked by a server, which the program has started. */
#define HELPER_MAX_ANCESTORS 4

/* Leaves the arguments of the nearest ancestor that is no helper in `arguments`. False when there is none. */
static bool find_helped(const char *proc_root, uint32_t pid, const char *exe, struct buf *arguments)
{
	for (int i = 0; i < HELPER_MAX_ANCESTORS; i++) {
		_cleanup_proc_ struct proc proc = PROC_NONE;

		if (proc_open(proc_root, pid, &proc) < 0 || !proc.exe ||
		    strcmp(proc.exe, exe) != 0)
			return false;
		buf_fini(arguments);
		if (proc_read_arguments(&proc, arguments, NULL) < 0)
			return false;
		if (!script_is_helper((struct str){ arguments->data, arguments->len }))
			return true;
		pid = proc.parent_pid;
	}
	return false;
}

void process_find_script(const char *proc_root, const struct proc *proc, const char *exe,
			 struct str arguments, struct buf *out)
{
	_cleanup_buf_ struct buf helped = BUF_INIT(PROC_ARGUMENTS_MAX);
	struct str script;

	if (script_is_helper(arguments)) {
		if (!find_helped(proc_root, proc->parent_pid, exe, &helped))
			return;
		arguments = (struct str){ helped.data, helped.len };
	}
	script = script_find(str_from(exe), arguments);
	(void)buf_append(out, script.p, script.n);
}
