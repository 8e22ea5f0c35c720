/* SPDX-License-Identifier: Apache-2.0 */
/* The ring buffer of the kernel half: each record checked and handed out, in their order. Inside of agent/sample. */
#ifndef XAGENT_AGENT_SAMPLE_SAMPLE_RING_H
#define XAGENT_AGENT_SAMPLE_SAMPLE_RING_H

#include <stdint.h>

#include "agent/sample/sampler.h"

struct ring_buffer;

struct sample_ring {
	struct ring_buffer *ring;
	/* Of struct sampler_options. */
	void (*on_name)(const struct wire_name *name, void *data);
	void *name_data;
	void (*on_end)(const struct wire_end *end, void *data);
	void *end_data;
	void (*on_waker)(const struct sample *waker, void *data);
	void *waker_data;
	struct telemetry *telemetry; /* borrowed */
	/* During sample_ring_read(). */
	sampler_fn fn;
	void *data;
	uint64_t sample_ns;  /* when what was read last was taken */
	uint64_t younger_ns; /* what was taken after this ends the call */
	uint64_t end_ns;     /* so does this time */
};

/* Of zeroes. `o` is borrowed for the call. 0 or -errno (then it can be ended all the same). */
int sample_ring_init(struct sample_ring *r, int map_fd, const struct sampler_options *o);
void sample_ring_fini(struct sample_ring *r);

int sample_ring_fd(const struct sample_ring *r);
/* sampler_read() */
int sample_ring_read(struct sample_ring *r, uint64_t budget_ns, sampler_fn fn, void *data,
		     uint64_t *ret_read_ns);

#endif
