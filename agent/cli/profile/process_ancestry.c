/* SPDX-License-Identifier: Apache-2.0 */
/* Who descends from a command, by the chain of parents. */
#include "agent/cli/profile/process_ancestry.h"

#include <errno.h>
#include <stdlib.h>

#define WORD_BITS 64

struct process_ancestry {
	/* A bit a pid: half a MiB of addresses, of which only the pages of pids in use become memory. */
	uint64_t known[PROCESS_ANCESTRY_MAX_PID / WORD_BITS];
};

static bool known_get(const struct process_ancestry *d, uint32_t pid)
{
	return pid < PROCESS_ANCESTRY_MAX_PID && d->known[pid / WORD_BITS] >> (pid % WORD_BITS) & 1;
}

static void known_set(struct process_ancestry *d, uint32_t pid)
{
	if (pid < PROCESS_ANCESTRY_MAX_PID)
		d->known[pid / WORD_BITS] |= (uint64_t)1 << (pid % WORD_BITS);
}

int process_ancestry_new(uint32_t root_pid, struct process_ancestry **ret_process_ancestry)
{
	struct process_ancestry *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	known_set(d, root_pid);
	*ret_process_ancestry = d;
	return 0;
}

void process_ancestry_free(struct process_ancestry *d)
{
	free(d);
}

bool process_ancestry_has(struct process_ancestry *d, uint32_t pid,
			  process_ancestry_parent_fn parent, void *data)
{
	uint32_t chain[PROCESS_ANCESTRY_MAX_DEPTH];
	unsigned int n = 0;

	while (pid && !known_get(d, pid) && n < PROCESS_ANCESTRY_MAX_DEPTH) {
		chain[n++] = pid;
		pid = parent(pid, data);
	}
	if (!known_get(d, pid))
		return false;
	while (n > 0)
		known_set(d, chain[--n]);
	return true;
}
