/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/run.h"

#include <bpf/bpf.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define N_RUNS 15
#define N_USER_UNWOUND_WALKS 1024
#define CACHE_LINE_BYTES 64
/* All walks of a run; records are some hundred bytes. */
#define RING_BYTES (1u << 23)
#define PATH_BYTES 4096

static int load(struct run *run, const char *path)
{
	struct bpf_map *ring;

	run->object = bpf_object__open_file(path, NULL);
	if (!run->object)
		return -errno;
	ring = bpf_object__find_map_by_name(run->object, "samples");
	if (ring && bpf_map__set_max_entries(ring, RING_BYTES) < 0)
		return -errno;
	return bpf_object__load(run->object) < 0 ? -errno : 0;
}

int run_init(struct run *run, const char *directory, const char *name)
{
	char path[PATH_BYTES];
	void *shared;
	int r;

	*run = (struct run){ 0 };
	if (snprintf(path, sizeof(path), "%s/%s.bpf.o", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = load(run, path);
	if (r < 0)
		return r;
	shared = mmap(NULL, sizeof(*run->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_object__find_map_fd_by_name(run->object, "shared"), 0);
	if (shared == MAP_FAILED)
		return -errno;
	run->shared = shared;
	return 0;
}

void run_fini(struct run *run)
{
	if (run->shared)
		(void)munmap(run->shared, sizeof(*run->shared));
	bpf_object__close(run->object);
	*run = (struct run){ 0 };
}

bool run_alone(void)
{
	struct sched_param realtime = { .sched_priority = 1 };
	int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0 &&
	       sched_setscheduler(0, SCHED_FIFO, &realtime) == 0;
}

static int run_once(const struct run *run, int fd, uint64_t *ret_ns)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint64_t begin;

	run->shared->result = (struct bench_result){ 0 };
	begin = clock_mono_ns();
	if (bpf_prog_test_run_opts(fd, &opts) < 0)
		return -errno;
	*ret_ns = clock_mono_ns() - begin;
	return 0;
}

int run_walks(const struct run *run, const char *program, const struct context *w,
	      unsigned int n_frames, void (*behind)(void *data), void *data, double *ret_ns)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(run->object, program);
	const struct bench_result *result = &run->shared->result;
	uint64_t best = UINT64_MAX;
	uint64_t ns = 0;

	if (!p)
		return -ENOENT;
	memcpy(run->shared->starts, w->starts, sizeof(w->starts));
	for (int i = 0; i < N_RUNS; i++) {
		int r = run_once(run, bpf_program__fd(p), &ns);

		if (r < 0)
			return r;
		if (behind)
			behind(data);
		if (result->n_complete != BENCH_N_WALKS ||
		    result->n_frames != (uint64_t)BENCH_N_WALKS * n_frames)
			return -EBADMSG;
		best = MIN_OF(best, ns);
	}
	*ret_ns = (double)best / BENCH_N_WALKS;
	return 0;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void use_caches(char *memory, size_t n_bytes)
{
	for (volatile char *p = memory; p < memory + n_bytes; p += CACHE_LINE_BYTES)
		++*p;
}

int run_user_unwound(const struct run *run, const char *program, const struct context *w,
		     size_t n_bytes, double *ret_ns)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(run->object, program);
	_cleanup_free_ char *memory = malloc(n_bytes);
	uint64_t times[N_USER_UNWOUND_WALKS];
	uint64_t ns;

	if (!p || !memory)
		return p ? -ENOMEM : -ENOENT;
	memset(memory, 1, n_bytes);
	memcpy(run->shared->starts, w->starts, sizeof(w->starts));
	for (uint32_t i = 0; i < N_USER_UNWOUND_WALKS; i++) {
		run->shared->next = i;
		use_caches(memory, n_bytes);
		int r = run_once(run, bpf_program__fd(p), &ns);
		if (r < 0)
			return r;
		if (run->shared->result.n_complete != 1)
			return -EBADMSG;
		times[i] = run->shared->result.ns;
	}
	qsort(times, N_USER_UNWOUND_WALKS, sizeof(times[0]), compare_ns);
	*ret_ns = (double)times[N_USER_UNWOUND_WALKS / 2];
	return 0;
}
