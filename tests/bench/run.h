/* SPDX-License-Identifier: Apache-2.0 */
/* A bench program, loaded and run: pinned, before everybody else, the best of many. */
#ifndef XAGENT_TESTS_BENCH_RUN_H
#define XAGENT_TESTS_BENCH_RUN_H

#include <bpf/libbpf.h>

#include "agent/util/cleanup.h"
#include "tests/bench/context.h"

struct run {
	struct bpf_object *object;   /* owned */
	struct bench_shared *shared; /* its map, owned mapping */
};

/* The object DIRECTORY/NAME.bpf.o. 0 or -errno; in any case run_fini(). */
int run_init(struct run *run, const char *directory, const char *name);
void run_fini(struct run *run);

/* From now on on one CPU, and not preempted by what is not in real time. False: not allowed to, figures will be worse. */
bool run_alone(void);

/* Nanoseconds of a walk of the context's stacks of n_frames, in the best of some runs. `behind` is called behind each run, unless NULL.
 * 0; -EBADMSG: not every walk came to its end; -errno. */
int run_walks(const struct run *run, const char *program, const struct context *w,
	      unsigned int n_frames, void (*behind)(void *data), void *data, double *ret_ns);

/* The median of single walks by `program`, each after as many bytes of other memory have been written: at a tick the caches are somebody
 * else's. As above. */
int run_user_unwound(const struct run *run, const char *program, const struct context *w,
		     size_t n_bytes, double *ret_ns);

#endif
