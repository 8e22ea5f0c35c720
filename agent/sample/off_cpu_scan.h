/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at all tasks that wait: what of each wait lies before now is told (bpf/events/off_cpu_open.bpf.h). Loop thread only.
 *
 * Stacks of other processes are read through their memory maps, and a process can make that wait for as long as it likes (userfaultfd). So a thread of its
 * own does it: one that is stuck is left behind, and waits then count when they are over.
 */
#ifndef XAGENT_AGENT_SAMPLE_OFF_CPU_SCAN_H
#define XAGENT_AGENT_SAMPLE_OFF_CPU_SCAN_H

#include <stdbool.h>
#include <stdint.h>

struct off_cpu_scan;
struct sample_bpf;

/* Samples a look at most, about: of more tasks some are taken, by how long they wait. */
#define OFF_CPU_SCAN_SAMPLES 512

struct bpf_program;

/*
 * The programs are loaded; `bpf` is borrowed until free. `sum` finds out how long all wait, `look` tells of it. is_predicted: samples are taken when a wait begins, and
 * `look` is run some times a second besides, for those that turn out to be long (bpf/events/off_cpu_look.bpf.h). 0 or -errno.
 */
int off_cpu_scan_new(struct sample_bpf *bpf, const struct bpf_program *sum,
		     const struct bpf_program *look, bool is_predicted,
		     struct off_cpu_scan **ret_scan);
/* NULL-safe. Waits for a look that is under way, for a second at most. */
void off_cpu_scan_free(struct off_cpu_scan *s);

/* A look begins, unless one is under way. */
void off_cpu_scan_begin(struct off_cpu_scan *s);
bool off_cpu_scan_is_busy(struct off_cpu_scan *s);

#endif
