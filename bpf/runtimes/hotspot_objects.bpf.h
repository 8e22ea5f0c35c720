/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* HotSpot's code cache and its metadata, in the memory of the present process. */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_OBJECTS_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_OBJECTS_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/remembered.bpf.h"
#include "bpf/runtimes/hotspot.h"
#include "bpf/walk.bpf.h"

/* JDK 9 to 24 have three, later ones one more. */
#define HOTSPOT_MAX_HEAPS 6
/* Steps back to a block's first segment: each is of 254 segments at most, and fewer where blocks were joined. */
#define HOTSPOT_MAX_HOPS 32
/* Segments further away from the first one are told in several steps. */
#define HOTSPOT_MAX_HOP 254
/* What is known of the sample's process: s->runtime.words. */
enum hotspot_word {
	HOTSPOT_WORD_FLAGS, /* HOTSPOT_ON_HEAP, HOTSPOT_UNPACKED */
	HOTSPOT_WORD_LOW,   /* the heap that was looked at last */
	HOTSPOT_WORD_BYTES, /* of it */
	HOTSPOT_WORD_SEGMAP,
	HOTSPOT_WORD_SHIFT, /* of all heaps; 0: none was looked at */
	/* Of the frame's code (bpf/runtimes/hotspot_scopes.bpf.h): its tables, … */
	HOTSPOT_WORD_SCOPES,
	HOTSPOT_WORD_METADATA,
	HOTSPOT_WORD_PLACES,
	/* … the scope that was read last, … */
	HOTSPOT_WORD_SENDER,
	HOTSPOT_WORD_METHOD,
	HOTSPOT_WORD_BCI,
	/* … and what is looked for. */
	HOTSPOT_WORD_ONE,
	HOTSPOT_WORD_OTHER,
	HOTSPOT_WORD_WANTED,
	/* What is remembered of the frame's code is by this key; 0: nothing is. */
	HOTSPOT_WORD_KEY,
	/* The pool that was read last, the name of its class, and in halves its length and a hash of the end of that name. */
	HOTSPOT_WORD_POOL,
	HOTSPOT_WORD_POOL_NAME,
	HOTSPOT_WORD_POOL_REST,
	/* The name of blobs that are compiled methods, by its address; 0: none was met. */
	HOTSPOT_WORD_NMETHOD,
	/* In halves, how far into the code cache addresses of the interpreter are, the lowest and the highest that were met: one blob holds what lies between. */
	HOTSPOT_WORD_INTERPRETER,
	/* Of the stub through which the JVM has called what was walked last: its JavaCallWrapper. 0: none was met. */
	HOTSPOT_WORD_WRAPPER,
	HOTSPOT_WORD_MAX,
	/* When nothing is looked for any more: the frame's CodeBlob. */
	HOTSPOT_WORD_AT = HOTSPOT_WORD_ONE,
};

_Static_assert(HOTSPOT_WORD_MAX <= RUNTIME_WORDS, "there is room");

/* s->runtime.known[0]: where the code cache is, and its bytes. [1]: of the function read last, the names of its class and of itself; of a stub 0 and its name. */
#define HOTSPOT_KNOWN_BOUNDS 0
#define HOTSPOT_KNOWN_NAMES 1
/* The function was remembered, and its names were not read. */
#define HOTSPOT_NAMES_UNREAD 1

static __always_inline const struct hotspot_layout *hotspot_layout(const struct scratch *s)
{
	return (const void *)s->runtime.of.words;
}

#define HOTSPOT_ON_HEAP 1ULL
/* An sp, which is a multiple of a word's bytes (bpf/runtimes/hotspot_deopt.bpf.h). */
#define HOTSPOT_UNPACKED(sp) ((__u64)(sp) >> 3 << 3)

/* sp lies in an object of the heap. */
static __always_inline bool hotspot_is_on_heap(const struct scratch *s)
{
	return s->runtime.words[HOTSPOT_WORD_FLAGS] & HOTSPOT_ON_HEAP;
}

static __always_inline void hotspot_set_on_heap(struct scratch *s, bool is_on_heap)
{
	__u64 *word = &s->runtime.words[HOTSPOT_WORD_FLAGS];

	*word = (*word & ~HOTSPOT_ON_HEAP) | (is_on_heap ? HOTSPOT_ON_HEAP : 0);
}

static __always_inline __u64 hotspot_u64(__u64 from)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)from);
	return word;
}

static __always_inline __u32 hotspot_u32(__u64 from)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)from);
	return value;
}

static __always_inline __u32 hotspot_u16(__u64 from)
{
	__u16 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)from);
	return value;
}

/* Of the structure that was read last. */
static __always_inline __u64 hotspot_read_u64(const struct scratch *s, __u32 at)
{
	return *(const __u64 *)(s->runtime.bytes + (at & (RUNTIME_READ_BYTES - 8)));
}

static __always_inline __u32 hotspot_read_u32(const struct scratch *s, __u32 at)
{
	return *(const __u32 *)(s->runtime.bytes + (at & (RUNTIME_READ_BYTES - 4)));
}

static __always_inline __u32 hotspot_read_u16(const struct scratch *s, __u32 at)
{
	return *(const __u16 *)(s->runtime.bytes + (at & (RUNTIME_READ_BYTES - 2)));
}

static __always_inline bool hotspot_is_in_cache(const struct scratch *s, __u64 pc)
{
	const struct runtime_known *bounds = &s->runtime.known[HOTSPOT_KNOWN_BOUNDS];

	return pc - bounds->at < bounds->word;
}

/* What it has committed; 0 bytes: it cannot be read. */
static __always_inline void hotspot_get_heap(struct scratch *s, __u64 heap)
{
	const struct hotspot_layout *l = hotspot_layout(s);
	__u64 memory = heap + l->at[HOTSPOT_HEAP_MEMORY];
	__u64 low = hotspot_u64(memory + l->at[HOTSPOT_SPACE_LOW]);
	__u64 high = hotspot_u64(memory + l->at[HOTSPOT_SPACE_HIGH]);

	s->runtime.words[HOTSPOT_WORD_LOW] = low;
	s->runtime.words[HOTSPOT_WORD_BYTES] = high > low ? high - low : 0;
	s->runtime.words[HOTSPOT_WORD_SEGMAP] =
		hotspot_u64(heap + l->at[HOTSPOT_HEAP_SEGMAP] + l->at[HOTSPOT_SPACE_LOW]);
	s->runtime.words[HOTSPOT_WORD_SHIFT] = hotspot_u32(heap + l->at[HOTSPOT_HEAP_SHIFT]) & 31;
}

/* What all heaps lie in, or the only one. */
__noinline int hotspot_find_cache(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_layout *l;
	struct runtime_known *bounds;
	__u64 high;

	if (!s)
		return 0;
	l = hotspot_layout(s);
	bounds = &s->runtime.known[HOTSPOT_KNOWN_BOUNDS];
	s->runtime.words[HOTSPOT_WORD_BYTES] = s->runtime.words[HOTSPOT_WORD_SHIFT] = 0;
	s->runtime.words[HOTSPOT_WORD_FLAGS] = 0;
	if (!l->low_at) {
		hotspot_get_heap(s, hotspot_u64(l->heaps_at));
		bounds->at = s->runtime.words[HOTSPOT_WORD_LOW];
		bounds->word = s->runtime.words[HOTSPOT_WORD_BYTES];
		return 1;
	}
	bounds->at = hotspot_u64(l->low_at);
	high = hotspot_u64(l->high_at);
	bounds->word = bounds->at && high > bounds->at ? high - bounds->at : 0;
	return 1;
}

static __always_inline bool hotspot_is_in_heap(const struct scratch *s, __u64 pc)
{
	return pc - s->runtime.words[HOTSPOT_WORD_LOW] < s->runtime.words[HOTSPOT_WORD_BYTES];
}

/* By the MiB that the address is in; no address is as high. */
static __always_inline __u64 hotspot_key_of_heap(const struct scratch *s, __u64 pc)
{
	return hash_mix(s->runtime.process, ~(pc >> 20));
}

/* Where a heap begins and where its segment map is never change, and what it has committed only grows. In a word: its pages, where it begins, and the segments' shift. */
#define HOTSPOT_PAGES_SHIFT 48
#define HOTSPOT_PAGE_MASK (WIRE_PAGE_BYTES - 1ULL)

static __always_inline void hotspot_remember_heap(const struct scratch *s, __u64 pc)
{
	const __u64 *w = s->runtime.words;
	__u64 pages = w[HOTSPOT_WORD_BYTES] / WIRE_PAGE_BYTES, low = w[HOTSPOT_WORD_LOW];

	if (!(low & HOTSPOT_PAGE_MASK) && !((low | pages << 32) >> HOTSPOT_PAGES_SHIFT))
		remember(hotspot_key_of_heap(s, pc),
			 pages << HOTSPOT_PAGES_SHIFT | low | w[HOTSPOT_WORD_SHIFT],
			 w[HOTSPOT_WORD_SEGMAP]);
}

static __always_inline bool hotspot_recall_heap(struct scratch *s, __u64 pc)
{
	__u64 *w = s->runtime.words, what, segmap;

	if (!remembered(hotspot_key_of_heap(s, pc), &what, &segmap))
		return false;
	w[HOTSPOT_WORD_LOW] = what & ((1ULL << HOTSPOT_PAGES_SHIFT) - 1) & ~HOTSPOT_PAGE_MASK;
	w[HOTSPOT_WORD_BYTES] = (what >> HOTSPOT_PAGES_SHIFT) * WIRE_PAGE_BYTES;
	w[HOTSPOT_WORD_SEGMAP] = segmap;
	w[HOTSPOT_WORD_SHIFT] = what & 31;
	return hotspot_is_in_heap(s, pc);
}

/* Makes the heap that holds the pc the one that was looked at last. */
__noinline int hotspot_find_heap(__u32 level, __u64 pc)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_layout *l;
	__u64 list, data;
	__u32 n;

	if (!s)
		return 0;
	l = hotspot_layout(s);
	if (hotspot_is_in_heap(s, pc) || !l->low_at || hotspot_recall_heap(s, pc))
		return hotspot_is_in_heap(s, pc);
	list = hotspot_u64(l->heaps_at);
	data = hotspot_u64(list + l->at[HOTSPOT_ARRAY_DATA]);
	n = hotspot_u32(list + l->at[HOTSPOT_ARRAY_LENGTH]);
	for (__u32 i = 0; i < HOTSPOT_MAX_HEAPS; i++) {
		if (i >= n)
			return 0;
		hotspot_get_heap(s, hotspot_u64(data + 8 * i));
		if (hotspot_is_in_heap(s, pc)) {
			hotspot_remember_heap(s, pc);
			return 1;
		}
	}
	return 0;
}

/* The number of the compilation whose CodeBlob was read, which no other one has; 0: it is not known. */
static __always_inline __u32 hotspot_number_of(const struct scratch *s, __u64 at)
{
	const struct hotspot_layout *l = hotspot_layout(s);
	__u32 offset = l->at[HOTSPOT_NMETHOD_NUMBER];

	if (offset == HOTSPOT_NONE)
		return 0;
	return offset <= HOTSPOT_BLOB_BYTES - 4 ? hotspot_read_u32(s, offset)
						: hotspot_u32(at + offset);
}

/* What is remembered of an address in code: where the CodeBlob is, the compilation's number (upper half) and a scope. */
static __always_inline __u64 hotspot_key_of_pc(const struct scratch *s)
{
	return hash_mix(s->runtime.process, s->walk.pc);
}

/* A block's header, and what lies before the number of a compilation. */
#define HOTSPOT_NUMBER_BYTES 640

static __always_inline __u32 hotspot_number_at(const struct hotspot_layout *l)
{
	__u32 n = l->block_bytes + l->at[HOTSPOT_NMETHOD_NUMBER];

	/* What is checked is what is passed on, not a copy of it. */
	barrier_var(n);
	return n;
}

/* A part of what was read of a block; what lies elsewhere is 0. */
static __always_inline __u32 hotspot_of_block(const struct wire_name *buffer, __u32 at)
{
	barrier_var(at);
	return at <= HOTSPOT_NUMBER_BYTES ? *(const __u32 *)(buffer->texts + at) : 0;
}

/*
 * Whether the pc lies in the block of the CodeBlob at `at`, which is that compilation still. What is freed keeps its number as long as nothing is written over it, but the header of its
 * block says that it is not in use, and keeps that, too. What takes its place may be shorter than what lies before the number, and another block follows it. One read tells all.
 */
static __always_inline bool hotspot_is_compilation(const struct scratch *s, __u64 at, __u32 number)
{
	const struct hotspot_layout *l = hotspot_layout(s);
	__u32 level = s->level, n = hotspot_number_at(l);
	struct wire_name *buffer = bpf_map_lookup_elem(&names, &level);

	if (!buffer || n > HOTSPOT_NUMBER_BYTES ||
	    bpf_probe_read_user(buffer->texts, n + 4, (void *)(at - l->block_bytes)))
		return false;
	/* Offsets are read again, and not kept: there is no room on the stack. */
	return hotspot_of_block(buffer, hotspot_number_at(l)) == number &&
	       (__u8)hotspot_of_block(buffer, l->at[HOTSPOT_BLOCK_USED]) == 1 &&
	       (s->walk.pc - at + l->block_bytes) >> (s->runtime.words[HOTSPOT_WORD_SHIFT] & 31) <
		       hotspot_of_block(buffer, l->at[HOTSPOT_BLOCK_LENGTH]);
}

/* Reads the CodeBlob that holds the present pc, in the heap that was looked at last. */
__noinline __u64 hotspot_read_blob(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u64 segment, blob;
	__u8 hop = 0;

	if (!s)
		return 0;
	segment = (s->walk.pc - s->runtime.words[HOTSPOT_WORD_LOW]) >>
		  (s->runtime.words[HOTSPOT_WORD_SHIFT] & 31);
	for (int i = 0; i < HOTSPOT_MAX_HOPS; i++) {
		hop = HOTSPOT_SEGMENT_FREE;
		bpf_probe_read_user(&hop, sizeof(hop),
				    (void *)(s->runtime.words[HOTSPOT_WORD_SEGMAP] + segment));
		if (!hop || hop == HOTSPOT_SEGMENT_FREE)
			break;
		segment -= hop;
	}
	if (hop)
		return 0;
	blob = s->runtime.words[HOTSPOT_WORD_LOW] +
	       (segment << (s->runtime.words[HOTSPOT_WORD_SHIFT] & 31)) +
	       hotspot_layout(s)->block_bytes;
	if (bpf_probe_read_user(s->runtime.bytes, HOTSPOT_BLOB_BYTES, (void *)blob))
		return 0;
	return blob;
}

/* … in whichever heap it is, and tells its address; 0: there is none. Both are called from here: the stack of the one is not to lie below the other's. */
static __always_inline __u64 hotspot_find_blob(const struct scratch *s)
{
	__u32 level = s->level;
	int is_found = hotspot_find_heap(level, s->walk.pc);

	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_found));
	return is_found ? hotspot_read_blob(level) : 0;
}

/* Of a Symbol: its last eight bytes, or all of a shorter one, and its length. */
static __always_inline __u32 hotspot_symbol_hash(const struct hotspot_layout *l, __u64 symbol)
{
	__u32 n = hotspot_u16(symbol + l->at[HOTSPOT_SYMBOL_LENGTH]);
	__u64 tail = hotspot_u64(symbol + l->at[HOTSPOT_SYMBOL_BODY] + n - 8);

	if (n < 8)
		tail = n ? tail >> (64 - 8 * n) : 0;
	return hash_mix(tail, n) >> 32;
}

/* The pool of a class, which most of its callers have as well. */
static __always_inline void hotspot_get_pool(struct scratch *s, __u64 pool)
{
	const struct hotspot_layout *l = hotspot_layout(s);
	__u64 *w = s->runtime.words, holder;

	if (w[HOTSPOT_WORD_POOL] == pool)
		return;
	holder = hotspot_u64(pool + l->at[HOTSPOT_POOL_HOLDER]);
	w[HOTSPOT_WORD_POOL] = pool;
	w[HOTSPOT_WORD_POOL_NAME] = hotspot_u64(holder + l->at[HOTSPOT_KLASS_NAME]);
	w[HOTSPOT_WORD_POOL_REST] = hotspot_u32(pool + l->at[HOTSPOT_POOL_LENGTH]) |
				    (__u64)hotspot_symbol_hash(l, w[HOTSPOT_WORD_POOL_NAME]) << 32;
}

/* The Symbol in a slot of the pool that was read last; 0: there is none. */
static __always_inline __u64 hotspot_own_slot(const struct scratch *s, __u32 index)
{
	if (!index || index >= (__u32)s->runtime.words[HOTSPOT_WORD_POOL_REST])
		return 0;
	return hotspot_u64(s->runtime.words[HOTSPOT_WORD_POOL] + hotspot_layout(s)->pool_bytes +
			   8 * (__u64)index);
}

/* Two addresses of names that lie in a class that was loaded, and the end of its name: a class that takes another one's place has another name. */
static __always_inline __u32 hotspot_print_of(const struct scratch *s, __u64 constants, __u64 hash)
{
	const struct runtime_known *names = &s->runtime.known[HOTSPOT_KNOWN_NAMES];

	hash = hash_mix(hash, constants);
	hash = hash_mix(hash, names->at);
	hash = hash_mix(hash, names->word);
	hash = hash_mix(hash, s->runtime.words[HOTSPOT_WORD_POOL_REST] >> 32);
	return (__u32)(hash >> 32) | 1;
}

/* The Symbol in a slot of a pool; 0: there is none. */
static __always_inline __u64 hotspot_slot(const struct hotspot_layout *l, __u64 pool, __u32 index)
{
	if (!index || index >= hotspot_u32(pool + l->at[HOTSPOT_POOL_LENGTH]))
		return 0;
	return hotspot_u64(pool + l->pool_bytes + 8 * (__u64)index);
}

/* A Symbol behind the texts that there are; how many bytes. */
static __always_inline __u32 hotspot_append(struct scratch *s, struct wire_name *name, __u64 symbol,
					    __u32 max)
{
	const struct hotspot_layout *l = hotspot_layout(s);

	return name_append(name, symbol + l->at[HOTSPOT_SYMBOL_BODY],
			   hotspot_u16(symbol + l->at[HOTSPOT_SYMBOL_LENGTH]), max);
}

/* What few samples ask for; NULL: it is not known. */
static __always_inline const struct hotspot_more *hotspot_more(const struct scratch *s)
{
	const struct wire_runtime *of = runtime_at(s, s->beside.is_turned);

	return of && of->kind == RUNTIME_HOTSPOT && hotspot_layout(s)->is_supported
		       ? (const void *)of->more
		       : NULL;
}

/* Where a frame is in the bytecodes of its method. */
enum hotspot_at {
	HOTSPOT_AT_BCI, /* so many bytes from their beginning; HOTSPOT_NO_BCI */
	HOTSPOT_AT_BCP, /* at that address: what looks like a frame of the interpreter and is none has another one */
};

/* The function that a Method is. */
__noinline int hotspot_method(__u32 level, __u64 method, __u64 place, __u32 at)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_layout *l;
	struct runtime_known *names;
	__u64 constants, pool, code, hash;
	__u32 n, n_code;

	if (!s || !method || (method & 7))
		return 0;
	l = hotspot_layout(s);
	names = &s->runtime.known[HOTSPOT_KNOWN_NAMES];
	constants = hotspot_u64(method + l->at[HOTSPOT_METHOD_CONST]);
	n = l->const_bytes;
	barrier_var(n);
	if (!constants || (constants & 7) || n > HOTSPOT_CONST_BYTES ||
	    bpf_probe_read_user(s->runtime.bytes, n, (void *)constants))
		return 0;
	code = constants + l->const_bytes;
	n_code = hotspot_read_u16(s, l->at[HOTSPOT_CONST_CODE_BYTES]);
	/* A native method has none, or is at the place where they would begin, once it has called the JVM. */
	if (at == HOTSPOT_AT_BCP) {
		if (n_code ? place - code >= n_code : place && place != code)
			return 0;
		place = n_code ? place - code : HOTSPOT_NO_BCI;
	}
	pool = hotspot_read_u64(s, l->at[HOTSPOT_CONST_POOL]);
	hash = (__u64)hotspot_read_u16(s, l->at[HOTSPOT_CONST_NAME]) << 48 |
	       (__u64)hotspot_read_u16(s, l->at[HOTSPOT_CONST_SIGNATURE]) << 32 | n_code << 16 |
	       hotspot_read_u16(s, l->at[HOTSPOT_CONST_NUMBER]);
	hash = hash_mix(hash, pool);
	hotspot_get_pool(s, pool);
	names->word = hotspot_own_slot(s, hotspot_read_u16(s, l->at[HOTSPOT_CONST_NAME]));
	names->at = s->runtime.words[HOTSPOT_WORD_POOL_NAME];
	/* A page of the class is not in memory: the frame is one all the same. */
	s->runtime.function = names->word && names->at ? method : 0;
	s->runtime.print = hotspot_print_of(s, constants, hash);
	s->runtime.position = place < n_code ? place : HOTSPOT_NO_BCI;
	return 1;
}

#endif
