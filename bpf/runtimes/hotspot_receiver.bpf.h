/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The class of the object that a virtual method is called on, at the stub that looks the method up: the object is the first argument, and stays in its
 * register. The class is told by the object's header, in one of three forms, of which only the JVM's options say which it is. So each is tried, and
 * believed only where it leads to a class whose pool says that it is that class's.
 */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_RECEIVER_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_RECEIVER_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_objects.bpf.h"

/* The name of stubs of virtual methods and of those of interfaces ("vtable c"), and what is shown in its place. */
#define HOTSPOT_VTABLE_TEXT 0x6320656c62617476ULL
#define HOTSPOT_RECEIVER_NAME "vtable chunks of "
/* In known[HOTSPOT_KNOWN_NAMES].at, where no name is: the word is the name of a class. */
#define HOTSPOT_AT_RECEIVER 2

/* The object's register (j_rarg0, assembler_x86.hpp and assembler_aarch64.hpp): rsi or x1, by DWARF. */
#define HOTSPOT_RSI 4
#define HOTSPOT_OBJECT (WIRE_N_REGS == 16 ? HOTSPOT_RSI : 1)

/* Of an object: its class behind its mark word, or in that one's upper bits (-XX:+UseCompactObjectHeaders, JDK 24). */
#define HOTSPOT_MARK_CLASS_SHIFT 42
#define HOTSPOT_MARK_CLASS_MAJOR 24

/* Its name; 0: there is no such class. Classes of arrays have no pool. */
__noinline __u64 hotspot_class_name(__u32 level, __u64 class)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_more *m = s ? hotspot_more(s) : NULL;
	const struct hotspot_layout *l;
	__u64 pool;

	if (!m || !class || (class & 7))
		return 0;
	l = hotspot_layout(s);
	pool = hotspot_u64(class + m->at[HOTSPOT_CLASS_POOL]);
	if (!pool || hotspot_u64(pool + l->at[HOTSPOT_POOL_HOLDER]) != class)
		return 0;
	s->runtime.words[HOTSPOT_WORD_WANTED] = class;
	return hotspot_u64(class + l->at[HOTSPOT_KLASS_NAME]);
}

/* The name of an object's class, which is WORD_WANTED; 0: it is not told. */
static __always_inline __u64 hotspot_class_name_of(struct scratch *s, const struct hotspot_more *m,
						   __u64 object)
{
	__u64 header[2]; /* mark word, and what follows it */
	__u64 base = hotspot_u64(m->class_base_at), name = 0;
	__u32 shift = hotspot_u32(m->class_shift_at) & 31, level = s->level;

	if (bpf_probe_read_user(header, sizeof(header), (void *)object))
		return 0;
	if (hotspot_layout(s)->major >= HOTSPOT_MARK_CLASS_MAJOR)
		name = hotspot_class_name(level,
					  base + (header[0] >> HOTSPOT_MARK_CLASS_SHIFT << shift));
	if (!name)
		name = hotspot_class_name(level, base + ((__u64)(__u32)header[1] << shift));
	return name ? name : hotspot_class_name(level, header[1]);
}

/* The stub's name has its class; where that is not told, it stays as it is. */
__noinline int hotspot_receiver(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	const struct hotspot_more *m = s ? hotspot_more(s) : NULL;
	struct runtime_known *names;
	__u64 name, hash;

	if (!m || !m->class_base_at)
		return 0;
	name = hotspot_class_name_of(s, m, s->walk.reg[HOTSPOT_OBJECT]);
	if (!name)
		return 0;
	names = &s->runtime.known[HOTSPOT_KNOWN_NAMES];
	names->at = HOTSPOT_AT_RECEIVER;
	names->word = name;
	hash = hash_mix(HOTSPOT_VTABLE_TEXT, name);
	hash = hash_mix(hash, hotspot_symbol_hash(hotspot_layout(s), name));
	s->runtime.function = s->runtime.words[HOTSPOT_WORD_WANTED];
	s->runtime.print = (__u32)(hash >> 32) | 1;
	return 1;
}

/* Symbols have slashes between packages; the words before it have none. */
__noinline int hotspot_name_receiver(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	__u32 n;

	if (!s || !name)
		return 0;
	__builtin_memcpy(name->texts, HOTSPOT_RECEIVER_NAME, sizeof(HOTSPOT_RECEIVER_NAME) - 1);
	name->name_encoding = WIRE_JAVA_CLASS;
	name->n_name = sizeof(HOTSPOT_RECEIVER_NAME) - 1;
	n = hotspot_append(s, name, s->runtime.known[HOTSPOT_KNOWN_NAMES].word, WIRE_SCOPE_BYTES);
	name->n_name += n;
	return n > 0;
}

#endif
