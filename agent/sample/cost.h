/* SPDX-License-Identifier: Apache-2.0 */
/* What programs and maps cost, as the kernel accounts it. */
#ifndef XAGENT_AGENT_SAMPLE_COST_H
#define XAGENT_AGENT_SAMPLE_COST_H

#include "agent/sample/sampler.h"

int cost_add_program(int prog_fd, struct sampler_cost *cost);
int cost_add_map(int map_fd, struct sampler_cost *cost);

#endif
