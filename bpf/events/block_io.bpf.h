/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Block I/O: bytes and latency of what is asked of disks, by the stack that submits it.
 *
 *	block_bio_queue: taken? ──► stack, record, place ──► … ──► block_rq_complete, block_bio_complete, on any CPU: d = now − since ──► end
 *
 * By bios and not by requests: a bio is queued in the task that submits it (submit_bio() may sleep), requests may be issued by a kernel worker. It ends with the request that it
 * is in, alone or merged with others, or by itself where a disk has no requests; one that is split with its last part. When it ends, it is not known any more who that was, so the stack is taken at the begin; what is a sample is decided then, by
 * the limit alone (bpf/thin.bpf.h), so that no latency can bias its own sum. How long it took follows, as a record of its own.
 *
 * Latency is all from the submission on: in the queue of the disk, too. Where a control group's limit holds a bio back, it is queued by a kernel worker, later.
 */
#ifndef XAGENT_BPF_EVENTS_BLOCK_IO_BPF_H
#define XAGENT_BPF_EVENTS_BLOCK_IO_BPF_H

#include "bpf/duration.bpf.h"

/* The program, and bpf_trace_run1(). */
#define BLOCK_IO_OWN_FRAMES 2

/* REQ_OP_*, include/linux/blk_types.h */
#define BLOCK_IO_OP_MASK 0xff
#define BLOCK_IO_OP_READ 0
#define BLOCK_IO_OP_WRITE 1
#define BLOCK_IO_OP_FLUSH 2
#define BLOCK_IO_OP_DISCARD 3
/* Of RQF_FLUSH_SEQ before 6.11 (include/linux/blk-mq.h). */
#define BLOCK_IO_FLUSH_SEQ_BIT 4
/* Of a request: some hundred that lie side by side are merged into one. */
#define BLOCK_IO_MAX_BIOS 1024

/* Fibonacci hashing; addresses of bios are of whole cache lines. */
#define BLOCK_IO_HASH 0x9e3779b97f4a7c15ULL

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_IO_SETS);
	__type(key, __u32);
	__type(value, struct wire_io_set);
} ios SEC(".maps");

static __always_inline struct wire_io_set *io_set(__u64 bio)
{
	__u32 at = (bio * BLOCK_IO_HASH >> 32) & (WIRE_IO_SETS - 1);

	return bpf_map_lookup_elem(&ios, &at);
}

/* The place of a bio; NULL: it has none. */
static __always_inline struct wire_io *io_find(struct wire_io_set *set, __u64 bio)
{
	for (int i = 0; i < WIRE_IO_WAYS; i++)
		if (set->places[i].bio == bio)
			return &set->places[i];
	return NULL;
}

/* A free one, or that of the oldest. */
static __always_inline struct wire_io *io_place(struct wire_io_set *set)
{
	struct wire_io *oldest = &set->places[0];

	for (int i = 0; i < WIRE_IO_WAYS; i++) {
		if (!set->places[i].bio)
			return &set->places[i];
		if (set->places[i].since_ns < oldest->since_ns)
			oldest = &set->places[i];
	}
	return oldest;
}

/* Its time begins now: the stack that was taken is not part of it. Functions of their own for their stack, which is not to lie below that of the walk. */
__noinline int io_keep(__u64 bio, __u64 id)
{
	struct wire_io_set *set = io_set(bio);
	struct wire_io *place = set ? io_place(set) : NULL;
	__u64 before;

	if (!place)
		return 0;
	before = place->bio;
	/* Another CPU has just taken it, or what was there has ended. */
	if (__sync_val_compare_and_swap(&place->bio, before, bio) != before || before)
		duration_lose(EVENT_BLOCK_IO);
	if (place->bio != bio)
		return 0;
	place->id = id;
	place->since_ns = bpf_ktime_get_ns();
	return 0;
}

/* What was at this address before has ended unseen. */
__noinline int io_forget(__u64 bio)
{
	struct wire_io_set *set = io_set(bio);
	struct wire_io *place = set ? io_find(set, bio) : NULL;

	if (!place)
		return 0;
	place->bio = 0;
	duration_lose(EVENT_BLOCK_IO);
	return 0;
}

static __always_inline __u32 io_operation(__u32 op, __u32 bytes)
{
	switch (op & BLOCK_IO_OP_MASK) {
	case BLOCK_IO_OP_READ:
		return WIRE_IO_READ;
	case BLOCK_IO_OP_WRITE:
		return bytes ? WIRE_IO_WRITE : WIRE_IO_FLUSH;
	case BLOCK_IO_OP_FLUSH:
		return WIRE_IO_FLUSH;
	case BLOCK_IO_OP_DISCARD:
		return WIRE_IO_DISCARD;
	default:
		return WIRE_IO_OTHER;
	}
}

/* WIRE_IO(); partitions are told as their disk. */
__noinline __u32 io_what(__u64 address)
{
	struct bio *bio = (void *)address;
	struct block_device *device = KERNEL_READ(bio, bi_bdev, NULL);
	struct gendisk *disk = KERNEL_READ(device, bd_disk, NULL);

	return WIRE_IO(io_operation(KERNEL_READ(bio, bi_opf, BLOCK_IO_OP_MASK),
				    KERNEL_READ(bio, bi_iter.bi_size, 1)),
		       KERNEL_READ(disk, major, 0), KERNEL_READ(disk, first_minor, 0));
}

SEC("?tp_btf/block_bio_queue")
int block_io_begin(__u64 *ctx)
{
	struct wire_counters *count = moment_count(EVENT_BLOCK_IO);
	__u64 bio = moment_argument(&ctx[0]);
	struct moment m = { .ctx = ctx,
			    .event = EVENT_BLOCK_IO,
			    .source = EVENT_SOURCE_BLOCK_IO,
			    .reason = io_what(bio),
			    .n_own_frames = BLOCK_IO_OWN_FRAMES,
			    .bytes = KERNEL_READ((struct bio *)bio, bi_iter.bi_size, 0),
			    .values = { [WIRE_VALUE_IOS] = 1 } };

	io_forget(bio);
	if (count && capture(&m, count))
		io_keep(bio, m.values[WIRE_VALUE_ID]);
	return 0;
}

/* In whatever was interrupted. */
static __always_inline void io_end(__u64 bio)
{
	struct wire_io_set *set = io_set(bio);
	struct wire_io *place = set ? io_find(set, bio) : NULL;
	struct wire_end end = { .record = { .n_bytes = sizeof(end),
					    .type = WIRE_END,
					    .event = EVENT_BLOCK_IO,
					    .source = EVENT_SOURCE_BLOCK_IO } };

	if (!place)
		return;
	end.id = place->id;
	end.values[0] = bpf_ktime_get_ns() - place->since_ns;
	place->bio = 0;
	end_emit(&end);
}

/* Bios of a request, or of a part of it, that is done. */
struct io_request {
	__u64 bio;
	__u32 n_bytes; /* left */
};

static long io_end_next(__u32 i, struct io_request *r)
{
	struct bio *bio = (void *)r->bio;
	__u32 n_bytes;

	(void)i;
	if (!bio)
		return 1;
	n_bytes = KERNEL_READ(bio, bi_iter.bi_size, 0);
	if (n_bytes > r->n_bytes)
		return 1;
	r->n_bytes -= n_bytes;
	io_end(r->bio);
	r->bio = (__u64)KERNEL_READ(bio, bi_next, NULL);
	return 0;
}

/* Whether flushes follow, the disk's cache: it will be completed once more. */
static __always_inline bool io_is_in_flush_sequence(struct request *request)
{
	__u32 bit = bpf_core_enum_value_exists(enum rqf_flags, __RQF_FLUSH_SEQ)
			    ? bpf_core_enum_value(enum rqf_flags, __RQF_FLUSH_SEQ)
			    : BLOCK_IO_FLUSH_SEQ_BIT;

	return KERNEL_READ(request, rq_flags, 0) >> bit & 1;
}

SEC("?tp_btf/block_rq_complete")
int block_io_end_request(__u64 *ctx)
{
	struct request *request = (void *)moment_argument(&ctx[0]);
	struct io_request r = { .bio = (__u64)KERNEL_READ(request, bio, NULL), .n_bytes = ctx[2] };

	if (!io_is_in_flush_sequence(request))
		bpf_loop(BLOCK_IO_MAX_BIOS, io_end_next, &r, 0);
	return 0;
}

/* Of disks without requests. */
SEC("?tp_btf/block_bio_complete")
int block_io_end_bio(__u64 *ctx)
{
	io_end(moment_argument(&ctx[1]));
	return 0;
}

#endif
