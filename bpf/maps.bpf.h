/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Every map of the kernel half, each with its reason. Sizes marked (set) are replaced by the agent before loading. */
#ifndef XAGENT_BPF_MAPS_BPF_H
#define XAGENT_BPF_MAPS_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/unwind.h"
#include "bpf/wire.h"

/* What one sample is put together in: too large for the 512 bytes of BPF stack. The walk's state lies beside the record because a
 * loop callback can keep no pointer from one step to the next. */
#define RECORD_WORDS                                     \
	(WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_FRAMES + \
	 (sizeof(struct wire_cold) + WIRE_MAX_STACK_BYTES) / 8)

struct record {
	struct wire_sample head;
	__u64 words[RECORD_WORDS];
};

struct scratch {
	struct unwind_walk walk;
	struct wire_regs regs;
	struct record record;
};

_Static_assert(sizeof(struct scratch) <= 32768,
	       "a per-CPU value is limited to 32 KiB (PCPU_MIN_UNIT_SIZE)");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

/* Samples to the agent. One ring for all CPUs: 6.2 µs of work a sample and a few thousand samples a second leave it uncontended. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18); /* (set) */
} samples SEC(".maps");

/* pid → its mappings. Written by the agent when a process is first sampled. Not preallocated: idle hosts pay for the buckets only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384); /* (set) */
	__type(key, __u32);
	__type(value, struct wire_process);
} processes SEC(".maps");

/* The arena of mapping arrays. Memory-mapped by the agent, which fills it by plain stores and then publishes one `processes` entry. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 32768); /* (set) */
	__type(key, __u32);
	__type(value, struct wire_mapping);
} mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_counters);
} counters SEC(".maps");

/* What `xagent profile -p` and `-t` ask for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} wanted_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} wanted_tids SEC(".maps");

/* The directory that `--cgroup` names; a task anywhere below it is wanted. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} wanted_cgroup SEC(".maps");

#endif
