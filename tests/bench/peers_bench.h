/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/* Keys and values of the maps of peers.bpf.c. */
#ifndef XAGENT_TESTS_BENCH_PEERS_BENCH_H
#define XAGENT_TESTS_BENCH_PEERS_BENCH_H

#include <linux/types.h>

#define PEERS_MAX_OBJECTS 64
/* Pid 1, most significant byte first, as the trie compares it. */
#define PEERS_PID_BE 0x01000000

struct peers_prefix {
	__u32 n_bits;
	__u32 pid_be;
	__u64 pc_be;
} __attribute__((packed));

struct peers_mapping {
	__u64 bias; /* pc − offset in the file */
	__u32 object;
	__u32 zero;
};

/* 64 KiB of an object's text. */
struct peers_page {
	__u32 object;
	__u32 page;
};

struct peers_range {
	__u32 first;
	__u32 last; /* the row behind its last one */
};

struct peers_row {
	__u16 low; /* of its offset in the file */
	__u16 cfa_off;
	__s16 fp_off; /* 0: not saved */
	__u16 zero;
};

#endif
