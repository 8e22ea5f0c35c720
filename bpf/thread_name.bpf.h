/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a sample tells of its thread, beside its stack: its name, as the runtime has it or else the kernel, and what else the runtime knows. A name is sent as those of
 * functions are: once, and samples tell which one they have. So it is that of the moment of the sample, whoever renames a thread when.
 */
#ifndef XAGENT_BPF_THREAD_NAME_BPF_H
#define XAGENT_BPF_THREAD_NAME_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtime.bpf.h"

/* Of s->runtime.bytes. */
#define THREAD_NAME_WORDS (RUNTIME_READ_BYTES / 8)

/* A hash of the first n bytes of s->runtime.bytes. */
static __always_inline __u64 thread_name_hash(const struct scratch *s, __u32 n, __u64 hash)
{
	const __u64 *words = (const __u64 *)s->runtime.bytes;

	for (__u32 i = 0; i < THREAD_NAME_WORDS; i++) {
		__u64 word = words[i];

		if (8 * i >= n)
			break;
		if (n - 8 * i < 8)
			word &= (1ULL << 8 * (n - 8 * i)) - 1;
		hash = hash_mix(hash, word);
	}
	return hash;
}

/* The name in s->runtime.bytes. False: the ring is filling. */
__noinline int thread_name_send(__u32 level, __u32 n, __u32 encoding)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	__u32 bytes = offsetof(struct wire_name, texts) + ((n + 7) & ~7u);

	if (!s || !name || n > RUNTIME_READ_BYTES ||
	    bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) >= user_unwound_bytes)
		return 0;
	__builtin_memset(name, 0, offsetof(struct wire_name, texts));
	name->record = (struct wire_record){ .n_bytes = bytes,
					     .type = WIRE_NAME,
					     .event = s->record.head.record.event,
					     .source = s->record.head.record.source };
	name->function = s->record.head.thread_name;
	name->pid = s->record.head.pid;
	name->exec_id = s->record.head.exec_id;
	name->n_name = n;
	name->name_encoding = encoding;
	__builtin_memcpy(name->texts, s->runtime.bytes, RUNTIME_READ_BYTES);
	barrier_var(bytes);
	if (bytes > offsetof(struct wire_name, texts) + RUNTIME_READ_BYTES)
		return 0;
	return !bpf_ringbuf_output(&samples, name, bytes, BPF_RB_NO_WAKEUP);
}

/* The name in s->runtime.bytes becomes the sample's, and is sent unless the agent has it. */
__noinline int thread_name_tell(__u32 level, __u32 n, __u32 encoding)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *leader = KERNEL_READ(task, group_leader, NULL);
	struct scratch *s = walk_scratch(level);
	__u64 hash, *slot;
	__u32 at;
	int is_sent;

	if (!s || !n || n > RUNTIME_READ_BYTES)
		return 0;
	hash = thread_name_hash(s, n, n | encoding << 16);
	s->record.head.thread_name = runtime_word(RUNTIME_NONE, hash);
	hash = hash_mix(hash_mix(hash, told_seed),
			(__u64)s->record.head.pid << 32 | s->record.head.exec_id);
	hash = hash_mix(hash, leader ? KERNEL_READ(leader, start_time, 0) : 0);
	at = hash & (WIRE_TOLD_SLOTS - 1);
	slot = bpf_map_lookup_elem(&told, &at);
	if (!slot || *slot == hash)
		return 0;
	is_sent = thread_name_send(level, n, encoding);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_sent));
	if (is_sent)
		*slot = hash;
	return 0;
}

/* The name that the kernel has, into s->runtime.bytes: how many bytes. */
static __always_inline __u32 thread_name_of_task(struct scratch *s)
{
	__u32 n = 0;

	if (bpf_get_current_comm(s->runtime.bytes, WIRE_COMM_BYTES))
		return 0;
	for (__u32 i = 0; i < WIRE_COMM_BYTES; i++) {
		if (!s->runtime.bytes[i])
			break;
		n++;
	}
	return n;
}

/* What the runtimes tell of the thread; its name as NAME_task() has it. */
__noinline __u32 runtime_task(__u32 level)
{
	struct scratch *s = walk_scratch(level);

	if (!s)
		return 0;
	RUNTIME_CALL(s, task, 0);
}

/* Behind the walk. */
__noinline int thread_note(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u32 text = 0;

	if (!s || !s->record.head.pid)
		return 0;
	if (RUNTIME_ANY && s->runtime.of.kind != RUNTIME_NONE)
		text = runtime_task(level);
	if (RUNTIME_ANY && s->beside.kind != RUNTIME_NONE && !text) {
		runtime_turn(level);
		text = runtime_task(level);
		runtime_turn(level);
	}
	if (!want_thread_names)
		return 0;
	if (!text)
		text = thread_name_of_task(s) | WIRE_UTF8 << 16;
	thread_name_tell(level, text & 0xffff, text >> 16);
	return 0;
}

#endif
