/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Every map of the kernel half, each with its reason. Sizes marked (set) are replaced by the agent before loading. */
#ifndef XAGENT_BPF_MAPS_BPF_H
#define XAGENT_BPF_MAPS_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/remembered.h"
#include "bpf/runtimes/hotspot_thread.h"
#include "bpf/runtimes/v8_translation.h"
#include "bpf/unwind.h"
#include "bpf/wire.h"

/* What one sample is put together in: too large for the 512 bytes of BPF stack. The walk's state lies beside the record because a
 * loop callback can keep no pointer from one step to the next. */
#define RECORD_BYTES 26624
#define RECORD_WORDS (RECORD_BYTES / 8)

_Static_assert(RECORD_BYTES >= (WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_FRAMES) * 8 +
				       sizeof(struct wire_user_unwound) + 4 * WIRE_PAGE_BYTES,
	       "the deepest native stack leaves room for a copy");
_Static_assert(RECORD_BYTES >= (WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS) * 8 +
				       sizeof(struct wire_user_unwound) + 2 * WIRE_PAGE_BYTES,
	       "and that of a runtime, for a small one");

/* Frames of a runtime's run that are kept from when its entry is looked for until it has its place. What is beyond is read once more. */
#define RUNTIME_RUN_FRAMES 128
#define RUNTIME_RUN_WORDS (RUNTIME_RUN_FRAMES * WIRE_RUNTIME_FRAME_WORDS)

/* That a runtime's own search has for itself, and words of memory that it knows. */
#define RUNTIME_WORDS 22
#define RUNTIME_KNOWN 2

/* Frames of one task that are kept on the way to it; a power of two. */
#define RUNTIME_CHAIN_FRAMES 64

/* What the runtime that is not in place keeps (bpf/runtime_beside.bpf.h): words and known of struct runtime_walk. */
#define RUNTIME_BESIDE_WORDS (RUNTIME_WORDS + 2 * RUNTIME_KNOWN)

/* They lie where a copy of the stack may go once the walk is over. The verifier takes a stack of any depth for one that a whole run may follow. */
#define RECORD_RUN_AT (RECORD_WORDS - RUNTIME_RUN_WORDS)
#define RECORD_CHAIN_AT (RECORD_RUN_AT - RUNTIME_CHAIN_FRAMES)
#define RECORD_BESIDE_AT (RECORD_CHAIN_AT - RUNTIME_BESIDE_WORDS)

_Static_assert(RECORD_BESIDE_AT >= WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS + RUNTIME_RUN_WORDS,
	       "the deepest stack and one more run end before them");

struct record {
	struct wire_sample head;
	__u64 words[RECORD_WORDS];
};

/* A piece of the user's stack. Reading a word costs as much as reading a kilobyte, so frames are decoded from here. Most stacks are short, and
 * each line that is read has to come from far: the first piece is small, further ones are twice the one before. */
#define WINDOW_BYTES 4096
#define WINDOW_FIRST_BYTES 1024

struct window {
	__u64 base;    /* address of its first byte */
	__u32 n_bytes; /* 0: nothing was read yet */
	/* The last word of the last byte may reach behind the end. */
	char bytes[WINDOW_BYTES + 8] __attribute__((aligned(8)));
};

/* Where a stack ends, and where another one goes on; 0: not known. */
struct stack_switch {
	__u64 end;
	__u64 from;
};

/* Where the stack goes on that sp lies on, and where that one does, see bpf/second_stack.bpf.h. */
struct second_stack {
	__u64 own_begin, own_bytes; /* the alternate stack that sp lies on */
	__u64 sp, fp, g;	    /* of what is looked at; g is x28, on AArch64 */
	struct stack_switch switches[WIRE_USER_UNWOUND_PIECES];
	struct wire_word words[WIRE_USER_UNWOUND_WORDS];
};

/* Of a structure of a runtime: CPython's thread states are told apart by their first 200 bytes. */
#define RUNTIME_READ_BYTES 256

/* A word of a process's memory that was read in this tick. */
struct runtime_known {
	__u64 at; /* 0: none */
	__u64 word;
};

/* Frames of tasks that await the one that runs, which are in no list of frames (bpf/runtimes/python_async.bpf.h). */
struct runtime_chain {
	__u64 first;   /* the frame behind which they belong; 0: none, or it was met */
	__u64 resume;  /* the frame that follows it in the list */
	__u64 given;   /* the one of them that is read next; 0: none is */
	__u64 awaiter; /* of the task that was looked at last: who awaits it */
	__u64 coro; /* of that task, the coroutine that is to be looked at next; 0: there is none */
	__u32 is_set;		     /* awaiter is a set of them */
	__u32 n_tasks, n_coroutines; /* that were looked at */
	__u32 n;		     /* frames of that task, outermost first, at RECORD_CHAIN_AT */
};

/* struct wire_runtime without what is read where it lies. */
struct runtime_of {
	__u32 kind;
	__u32 flags;
	__u64 base;
	__u64 words[WIRE_RUNTIME_WORDS];
};

_Static_assert(sizeof(struct runtime_of) ==
		       sizeof(struct wire_runtime) - WIRE_RUNTIME_MORE_WORDS * WIRE_WORD_BYTES,
	       "it is its beginning");

/* The frames of a runtime on the way (bpf/runtime.bpf.h). */
struct runtime_walk {
	struct runtime_of of;	 /* the process's; RUNTIME_NONE: it has none */
	__u64 process;		 /* a hash of which one that is */
	__u64 frame;		 /* the next one, innermost first; 0: there is none left */
	__u64 anchor;		 /* of the run that it is in; 0: there is none left */
	__u32 anchor_flags;	 /* WIRE_ANCHOR_* */
	__u32 anchor_position;	 /* as struct wire_runtime_frame has it */
	__u64 activation; /* what the runtime knows the run by, where that is not one of its frames */
	__u64 low, high;  /* what the native frame has on the C stack that was walked last */
	__u64 pc;	  /* of that frame */
	__u64 kept;	  /* its word, while it is to follow the run; 0: none */
	__u32 is_inside;  /* the next frame is a runtime's */
	__u32 n_frames;	  /* of both kinds */
	__u32 n_names;	  /* told with this record */
	__u32 n_pieces;	  /* of what is remembered afterwards, read for it */
	__u32 n_reads;	  /* of frames */
	__u32 n_run;	  /* frames of the run in `run` */
	__u32 n_left;	  /* those behind them, as many as there were when the entry was found */
	__u32 n_native;	  /* frames since the leaf, or the last run */
	__u64 rest;	  /* the first of those that are left */
	__u64 entry;	  /* of the run, as its runtime's frame */
	__u64 seen;	  /* a frame, while an entry is looked for */
	__u64 after;	  /* what follows the entry: the frame of the next run */
	__u32 is_seeking; /* entries alone are looked for: functions need not be read */
	__u32 result;	  /* enum wire_runtime_result */
	/* Of the frame that was read last, which is at `at`. */
	__u32 is_entry; /* no frame, but the anchor: the run ends */
	__u64 at;
	__u64 next;
	/* Of an entry. */
	__u64 next_activation;
	__u64 place; /* on the C stack */
	__u32 place_flags, place_position; /* as print and position of an anchor */
	__u64 function; /* address */
	__u64 scope;	/* address of what the function lies in; 0: not known */
	__u32 print;
	__u32 position;
	__u32 n_looked; /* threads, in that search */
	/* Of generated code: what was walked last has been called as a function; the next function that was inlined into the present frame (0: none). */
	__u32 is_called, inlined;
	__u64 words[RUNTIME_WORDS];		   /* of the runtime's own search */
	struct runtime_known known[RUNTIME_KNOWN]; /* likewise */
	struct runtime_chain chain;
	char bytes[RUNTIME_READ_BYTES]; /* what is read at once */
};

/* The runtime that is not in place, of a process with two (bpf/runtime_beside.bpf.h). */
struct runtime_beside {
	__u32 kind; /* RUNTIME_NONE: there is none */
	__u32 flags, result;
	__u32 is_turned; /* the one that was beside is in place, and this is the other */
	__u64 claimed_at, claimed_bytes;
};

/* What was found of a library with a runtime (bpf/library.bpf.h). */
struct library_walk {
	__u64 next; /* struct link_map */
	__u64 base; /* what its addresses are raised by */
	__u64 text; /* its first executable segment; 0: there is none */
};

struct scratch {
	__u32 is_claimed;
	__u32 level;
	__u32 has_cache; /* of frames: no other program on this CPU can be in the middle of it */
	struct unwind_walk walk;
	struct wire_object object; /* of walk.mapping */
	struct wire_regs regs;	   /* where the walk begins, or the agent has to go on */
	__u32 n_right;		   /* frames that need no second look when it goes on */
	__u32 regs_flags;	   /* WIRE_USER_UNWOUND_* */
	__u32 n_searches;	   /* for mappings */
	__u32 n_fills;		   /* of the window */
	__u32 epoch;		   /* of the objects' tables, when the walk began */
	__u32 cache_at;		   /* where the callee was found in the cache of frames */
	__u32 is_chained;	   /* cache_at is that of a caller */
	__u32 want_bytes;	   /* of the next window */
	__u32 n_copied;		   /* bytes of a deep stack */
	__u32 n_missing;	   /* bytes before the first page of a range that was there */
	__u64 image;		   /* struct wire_user_unwound */
	__u64 library_image;	   /* likewise */
	struct library_walk library;
	struct runtime_walk runtime;
	struct runtime_beside beside;
	struct second_stack second;
	struct window window;
	struct record record;
};

_Static_assert(sizeof(struct scratch) <= 32768,
	       "a per-CPU value is limited to 32 KiB (PCPU_MIN_UNIT_SIZE)");

/* A tick may come in the middle of another event's program, and that one in the middle of one that was preempted (bpf/capture.bpf.h). */
#define SCRATCH_MAX_LEVELS 3

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_MAX_LEVELS); /* (set) 1 where there are ticks only */
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

/* Samples to the agent. One ring for all CPUs: a few thousand samples a second, each some microseconds of work, leave it uncontended. */
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

/* A segment of the arena: one value that user space has memory-mapped. */
struct segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, WIRE_SEGMENT_BYTES);
};

/* The arena: mapping arrays and unwind tables (bpf/table.h). The agent makes segments as they are needed, fills them by plain stores, and
 * publishes by one write to `processes` or `objects`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WIRE_MAX_SEGMENTS);
	__type(key, __u32);
	__array(values, struct segment);
} segments SEC(".maps");

/*
 * Frames found lately, on each CPU its own: between two ticks other work has taken the caches, and the look-up of a mapping and in a table is
 * a dozen lines of memory, one here. A frame is at the place that its pc hashes to, and at the one behind its callee's: the callers of a
 * stack that comes again lie side by side.
 */
#define FRAME_CACHE_PART_ENTRIES (WIRE_CACHE_PART_BYTES / WIRE_CACHED_FRAME_BYTES)

struct cached_frame {
	__u64 pc;	  /* | CACHED_EXACT */
	__u32 generation; /* of the process's table */
	__u32 epoch;	  /* of the objects' tables */
	__u64 frame;
	__u64 word; /* struct wire_rule, plain or a root's */
};

/* In a pc, where no user address has a bit: it is no return address. */
#define CACHED_EXACT (1ULL << 63)

struct frame_cache_part {
	struct cached_frame entries[FRAME_CACHE_PART_ENTRIES];
};

_Static_assert(sizeof(struct frame_cache_part) == WIRE_CACHE_PART_BYTES,
	       "a per-CPU value is limited to 32 KiB (PCPU_MIN_UNIT_SIZE)");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_CACHE_MAX_PARTS); /* (set) a power of two */
	__type(key, __u32);
	__type(value, struct frame_cache_part);
} frame_cache SEC(".maps");

/* Where in the arena the unwind table of an object is. One write of the agent publishes or withdraws it for all processes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096); /* (set) */
	__type(key, __u32);
	__type(value, struct wire_object);
} objects SEC(".maps");

/* By event. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, EVENT_MAX);
	__type(key, __u32);
	__type(value, struct wire_counters);
} counters SEC(".maps");

/* Of sources of events (bpf/thin.bpf.h). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, EVENT_MAX_SOURCES);
	__type(key, __u32);
	__type(value, struct wire_thinning);
} thinnings SEC(".maps");

/* wire_runtime_key() → where a runtime of a process has its frames. Behind wire_process.runtime, so that nobody else pays for the look-up. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192); /* (set) 1 where no runtime is known */
	__type(key, __u64);
	__type(value, struct wire_runtime);
} runtimes SEC(".maps");

/* The same by executable, for processes that are too young to be in `processes` (struct wire_user_unwound, image). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024); /* (set) likewise */
	__type(key, __u64);
	__type(value, struct wire_runtime);
} runtime_images SEC(".maps");

/* Libraries with a runtime, by library_key(): where their first executable segment is linked to be. At 0, which is no key: something, as long as there
 * are any. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1025); /* (set) likewise */
	__type(key, __u64);
	__type(value, __u64);
} runtime_libraries SEC(".maps");

/* Functions of runtimes whose names have been sent, and executables that were met. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_TOLD_SLOTS); /* (set) likewise */
	__type(key, __u32);
	__type(value, __u64);
} told SEC(".maps");

/* The name that is being told, at each level. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_MAX_LEVELS); /* (set) as scratch; 1 where no runtime is known */
	__type(key, __u32);
	__type(value, struct wire_name);
} names SEC(".maps");

/* What is read of a safepoint of V8's optimized code, at each level. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_MAX_LEVELS); /* (set) as names */
	__type(key, __u32);
	__type(value, struct v8_translation);
} v8_translations SEC(".maps");

/* Chains that were read, by a hash of the safepoint: what was read last has the place. */
#define V8_CHAIN_SLOTS (1U << 10)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, V8_CHAIN_SLOTS); /* (set) 1 where no runtime is known */
	__type(key, __u32);
	__type(value, struct v8_chain);
} v8_chains SEC(".maps");

/* Where a thread's state was found, so that a list of threads is not searched at each tick. Believed only where that state says so itself. */
struct runtime_thread {
	__u64 thread;	/* bpf_get_current_pid_tgid() */
	__u64 state;	/* address; 0: there is none … */
	__u64 until_ns; /* … as far as was known until then */
};

_Static_assert(sizeof(struct runtime_return) == sizeof(struct runtime_thread), "they share places");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_THREAD_SLOTS); /* (set) likewise */
	__type(key, __u32);
	__type(value, struct runtime_thread);
} threads SEC(".maps");

/* pid → where HotSpot has what is read of its threads, and hotspot_thread_key() → which one a thread is. Those used longest ago make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256); /* (set) 1 where no runtime is known */
	__type(key, __u32);
	__type(value, struct hotspot_threads);
} java_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096); /* (set) likewise */
	__type(key, __u64);
	__type(value, struct hotspot_thread);
} java_threads SEC(".maps");

/* Where a walk is on the heap of a JVM, at each level (bpf/runtimes/hotspot_chunks.bpf.h). */
struct java_chunk_walk {
	__u64 chunk; /* the object whose frames are walked */
	__u64 end;   /* of the words in use in it */
	__u64 entry; /* of the continuation: behind the last frame on the heap the stack goes on there */
	__u64 enter; /* the code that has called the continuation */
	__u64 moved; /* how often objects had been moved before the first of these was found */
	__u32 enter_bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_MAX_LEVELS);
	__type(key, __u32);
	__type(value, struct java_chunk_walk);
} java_chunk_walks SEC(".maps");

/* Stacks with a runtime, by its kind. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RUNTIME_MAX);
	__type(key, __u32);
	__type(value, struct wire_runtime_results);
} runtime_results SEC(".maps");

/* What `xagent profile -p` and `-t` ask for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096); /* (set) 1 where none is named */
	__type(key, __u32);
	__type(value, __u8);
} wanted_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096); /* (set) 1 where none is named */
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
