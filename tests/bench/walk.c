/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the walk of the kernel half, and the same walk from the primitives of the other profilers.
 * usage: walk DIRECTORY-OF-BPF-OBJECTS [FILE...]	(with files: through their unwind tables)
 *
 * Prints lines "name value"; times are nanoseconds of a walk, of the best run; of single walks with cold caches the median.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>

#include "agent/util/macro.h"
#include "tests/bench/peers.h"
#include "tests/bench/run.h"

static const unsigned int depths[] = { 4, 10, 20, 30, 60, 120 };
/* That of the aims; its records go to the ring as well. */
#define RING_DEPTH 30
/* The second level of the caches of today's cores, and what is shared behind it. */
#define L2_BYTES ((size_t)2 << 20)
#define L3_BYTES ((size_t)40 << 20)

/* The process and its objects, as the agent publishes them. */
static int publish(const struct run *run, const struct context *w)
{
	int objects_fd = bpf_object__find_map_fd_by_name(run->object, "objects");

	for (size_t i = 0; i < w->n_mappings; i++)
		if (bpf_map_update_elem(objects_fd, &w->mappings[i].object, &w->objects[i].object,
					BPF_ANY) < 0)
			return -errno;
	run->shared->process = (struct wire_process){ .mappings_at = w->mappings_at,
						      .n_mappings = (uint32_t)w->n_mappings,
						      .generation = 1 };
	return 0;
}

static int ignore(void *data, void *record, size_t n)
{
	(void)data;
	(void)record;
	(void)n;
	return 0;
}

static void empty_ring(void *data)
{
	(void)ring_buffer__consume(data);
}

static int measure_ring(const struct run *run, const struct context *w)
{
	struct ring_buffer *ring = ring_buffer__new(
		bpf_object__find_map_fd_by_name(run->object, "samples"), ignore, NULL, NULL);
	double ns = 0;
	int r = ring ? run_walks(run, "walk_to_ring", w, RING_DEPTH, empty_ring, ring, &ns)
		     : -ENOMEM;

	ring_buffer__free(ring);
	if (r == 0)
		printf("ring_%u %.1f\n", RING_DEPTH, ns);
	return r;
}

static int measure(const struct run *run, const char *program, const struct context *w,
		   unsigned int n_frames)
{
	const struct bench_result *result = &run->shared->result;
	double ns = 0;
	int r = run_walks(run, program, w, n_frames, NULL, NULL, &ns);

	if (r != 0)
		return r;
	printf("%s_%u %.1f\n", program, n_frames, ns);
	if (result->n_fills)
		printf("%s_fills_%u %.2f\n%s_searches_%u %.2f\n", program, n_frames,
		       (double)result->n_fills / BENCH_N_WALKS, program, n_frames,
		       (double)result->n_searches / BENCH_N_WALKS);
	return 0;
}

static int measure_user_unwound(const struct run *run, const char *program, const struct context *w,
				const char *level, size_t n_bytes)
{
	double ns = 0;
	int r = run_user_unwound(run, program, w, n_bytes, &ns);

	if (r == 0)
		printf("%s_%s %.1f\n", program, level, ns);
	return r;
}

/* What is done at one depth only. */
static int measure_more(const struct run *walk, const struct run *peers, const struct context *w)
{
	int r = measure_ring(walk, w);

	if (r == 0)
		r = measure_user_unwound(walk, "walk_once", w, "l2", L2_BYTES);
	if (r == 0)
		r = measure_user_unwound(peers, "peers_once", w, "l2", L2_BYTES);
	if (r == 0)
		r = measure_user_unwound(walk, "walk_once", w, "l3", L3_BYTES);
	if (r == 0)
		r = measure_user_unwound(peers, "peers_once", w, "l3", L3_BYTES);
	return r;
}

static int measure_all(const struct run *walk, const struct run *peers, struct context *w)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(depths); i++) {
		if (!context_make_stacks(w, depths[i]))
			return -ENODATA;
		r = measure(walk, "walk", w, depths[i]);
		if (r == 0)
			r = measure(walk, "walk_new", w, depths[i]);
		if (r == 0)
			r = measure(peers, "peers", w, depths[i]);
		if (r == 0 && depths[i] == RING_DEPTH)
			r = measure_more(walk, peers, w);
	}
	return r;
}

static int bench(struct run *walk, struct run *peers, char *const *files, size_t n_files)
{
	int segments_fd = bpf_object__find_map_fd_by_name(walk->object, "segments");
	_cleanup_(context_freep) struct context *w = NULL;
	int r = context_new(segments_fd, files, n_files, &w);

	if (r == 0)
		r = publish(walk, w);
	if (r == 0)
		r = peers_fill(peers->object, w);
	if (r < 0)
		return r;
	printf("rows %llu\ntable_bytes %llu\nmappings %zu\nalone %d\n",
	       (unsigned long long)w->n_rows, (unsigned long long)w->n_bytes, w->n_mappings,
	       run_alone());
	return measure_all(walk, peers, w);
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : ".";
	_cleanup_(run_fini) struct run walk;
	_cleanup_(run_fini) struct run peers = { 0 };
	int r = run_init(&walk, directory, "walk");

	if (r == 0)
		r = run_init(&peers, directory, "peers");
	if (r == 0)
		r = bench(&walk, &peers, argv + 2, argc > 2 ? (size_t)argc - 2 : 0);
	if (r < 0)
		(void)fprintf(stderr, "walk: %s\n", strerror(-r));
	return r < 0;
}
