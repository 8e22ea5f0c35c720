/* SPDX-License-Identifier: Apache-2.0 */
/* Milliseconds, each for one profile. */
#include "agent/component/receivers/moments.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/util/clock.h"
#include "agent/util/hash.h"

/* A millisecond is kept in one of so many places, which its hash tells. */
#define WAYS 8
#define SETS (MOMENTS_MAX / WAYS)

struct moment {
	uint64_t ms; /* 0: free */
	uint64_t origin;
	uint64_t used; /* when it was taken: the oldest goes first */
};

struct moments {
	struct moment sets[SETS][WAYS];
	uint64_t n_taken;
};

int moments_new(struct moments **ret_moments)
{
	*ret_moments = calloc(1, sizeof(**ret_moments));
	return *ret_moments ? 0 : -ENOMEM;
}

void moments_free(struct moments *m)
{
	free(m);
}

static struct moment *set_of(struct moments *m, uint64_t ms)
{
	return m->sets[hash_u64(ms) % SETS];
}

/* NULL: nobody has it. */
static struct moment *find(struct moments *m, uint64_t ms)
{
	struct moment *set = set_of(m, ms);

	for (unsigned int i = 0; i < WAYS; i++)
		if (set[i].ms == ms)
			return &set[i];
	return NULL;
}

static void keep(struct moments *m, uint64_t ms, uint64_t origin)
{
	struct moment *set = set_of(m, ms), *oldest = &set[0];

	for (unsigned int i = 1; i < WAYS; i++)
		if (set[i].used < oldest->used)
			oldest = &set[i];
	*oldest = (struct moment){ .ms = ms, .origin = origin, .used = ++m->n_taken };
}

bool moments_take(struct moments *m, uint64_t origin, uint64_t time_ns, uint64_t *ret_ns)
{
	for (uint64_t move = 0; move <= MOMENTS_MAX_MOVE_MS; move++) {
		uint64_t ns = time_ns + move * NS_PER_MS;
		const struct moment *had = find(m, ns / NS_PER_MS);

		if (had && had->origin != origin)
			continue;
		if (!had)
			keep(m, ns / NS_PER_MS, origin);
		*ret_ns = ns;
		return true;
	}
	return false;
}
