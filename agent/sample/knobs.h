/* SPDX-License-Identifier: Apache-2.0 */
/* What is set between opening the programs and attaching them: knobs, sizes of maps, filters. Those of one event are its source's. */
#ifndef XAGENT_AGENT_SAMPLE_KNOBS_H
#define XAGENT_AGENT_SAMPLE_KNOBS_H

#include "agent/sample/sampler.h"

struct sample_bpf;

/* The ring's size with so many CPUs: a power of two, as large as all events together need, or as is allowed. Pure. */
size_t knobs_ring_bytes(const struct sampler_options *o, size_t n_cpus);
/* Samples a second of a tracepoint on one CPU, at most. */
unsigned int knobs_tracepoint_hz(const struct sampler_options *o, size_t i);
/* Before the programs are loaded. 0 or -errno. */
int knobs_set(struct sample_bpf *bpf, const struct sampler_options *o);
/* Once they are. */
int knobs_set_filters(struct sample_bpf *bpf, const struct sampler_options *o);

#endif
