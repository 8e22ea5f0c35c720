/* SPDX-License-Identifier: Apache-2.0 */
/* Who descends from a command, by the chain of parents. */
#include "agent/cli/descent.h"

#include <errno.h>
#include <stdlib.h>

#define WORD_BITS 64

struct descent {
	/* A bit a pid: half a MiB of addresses, of which only the pages of pids in use become memory. */
	uint64_t known[DESCENT_MAX_PID / WORD_BITS];
};

static bool known_get(const struct descent *d, uint32_t pid)
{
	return pid < DESCENT_MAX_PID && d->known[pid / WORD_BITS] >> (pid % WORD_BITS) & 1;
}

static void known_set(struct descent *d, uint32_t pid)
{
	if (pid < DESCENT_MAX_PID)
		d->known[pid / WORD_BITS] |= (uint64_t)1 << (pid % WORD_BITS);
}

int descent_new(uint32_t root_pid, struct descent **ret_descent)
{
	struct descent *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	known_set(d, root_pid);
	*ret_descent = d;
	return 0;
}

void descent_free(struct descent *d)
{
	free(d);
}

bool descent_has(struct descent *d, uint32_t pid, descent_parent_fn parent, void *data)
{
	uint32_t chain[DESCENT_MAX_DEPTH];
	unsigned int n = 0;

	while (pid && !known_get(d, pid) && n < DESCENT_MAX_DEPTH) {
		chain[n++] = pid;
		pid = parent(pid, data);
	}
	if (!known_get(d, pid))
		return false;
	while (n > 0)
		known_set(d, chain[--n]);
	return true;
}
