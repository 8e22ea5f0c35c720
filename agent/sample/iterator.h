/* SPDX-License-Identifier: Apache-2.0 */
/* BPF iterators, run for what they do and not for what they print. Any thread. */
#ifndef XAGENT_AGENT_SAMPLE_ITERATOR_H
#define XAGENT_AGENT_SAMPLE_ITERATOR_H

struct bpf_link;
struct bpf_program;

/* Once over everything there is. 0 or -errno. */
int iterator_run(const struct bpf_link *link);
/* Likewise, of a program that is needed no more. */
int iterator_run_once(const struct bpf_program *program);

#endif
