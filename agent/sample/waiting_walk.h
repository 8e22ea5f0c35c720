/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that walks the stacks of tasks that wait, frames of runtimes included: bpf/waiting.bpf.c, over the maps of the programs that are loaded already.
 *
 *	waiting_walk_open (a few ms) ──► waiting_walk_load (up to a second: the verifier) ──► a link, to be run as any iterator
 */
#ifndef XAGENT_AGENT_SAMPLE_WAITING_WALK_H
#define XAGENT_AGENT_SAMPLE_WAITING_WALK_H

struct bpf_link;
struct sample_bpf;
struct waiting_bpf;

/* With its maps, of which it has descriptors of its own. 0 or -errno. */
int waiting_walk_open(const struct sample_bpf *bpf, struct waiting_bpf **ret_walk);
/* Takes it. Any thread. NULL: this kernel cannot do it; it was said in the log why. */
struct bpf_link *waiting_walk_load(struct waiting_bpf *walk);

#endif
