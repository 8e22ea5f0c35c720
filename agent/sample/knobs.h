/* SPDX-License-Identifier: Apache-2.0 */
/* What is set between opening the programs and attaching them: knobs, sizes of maps, filters. Those of one event are its source's. */
#ifndef XAGENT_AGENT_SAMPLE_KNOBS_H
#define XAGENT_AGENT_SAMPLE_KNOBS_H

#include "agent/sample/sampler.h"

struct sample_bpf;

/* Before the programs are loaded. 0 or -errno. */
int knobs_set(struct sample_bpf *bpf, const struct sampler_options *o);
/* Once they are. */
int knobs_set_filters(struct sample_bpf *bpf, const struct sampler_options *o);

#endif
