/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a method is called, where it lies in its file, and what types its arguments have. */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_NAMES_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_NAMES_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/runtimes/hotspot_anchor.bpf.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"
#include "bpf/runtimes/hotspot_receiver.bpf.h"
#include "bpf/runtimes/hotspot_scopes.bpf.h"

/* Names of stubs have up to 50 characters. */
#define HOTSPOT_STUB_NAME_BYTES 96

/* The file that a class was compiled from, as its class file says. */
static __always_inline __u64 hotspot_source(const struct hotspot_layout *l, __u64 pool)
{
	__u64 klass = hotspot_u64(pool + l->at[HOTSPOT_POOL_HOLDER]);
	__u32 index = 0;

	if (l->at[HOTSPOT_POOL_SOURCE] != HOTSPOT_NONE)
		index = hotspot_u16(pool + l->at[HOTSPOT_POOL_SOURCE]);
	else if (l->at[HOTSPOT_KLASS_SOURCE] != HOTSPOT_NONE)
		index = hotspot_u16(klass + l->at[HOTSPOT_KLASS_SOURCE]);
	return hotspot_slot(l, pool, index);
}

/* The first line of a table of lines; 0: it is not told. Bytecodes before it may have none: Kotlin's look at arguments first. */
static __always_inline __u32 hotspot_first_line(struct scratch *s, __u64 table)
{
	__u32 at = 1, first, line;

	if (bpf_probe_read_user(s->runtime.bytes, HOTSPOT_SCOPE_BYTES, (void *)table))
		return 0;
	first = (__u8)s->runtime.bytes[0];
	if (first != HOTSPOT_LINES_LONG)
		return first & 7;
	hotspot_number(s, &at);
	line = hotspot_number(s, &at);
	/* Signed: the lowest bit is the sign's. */
	return line & 1 ? 0 : line >> 1;
}

/* The types of a method's arguments, behind its name. */
__noinline int hotspot_name_arguments(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	const struct hotspot_layout *l;
	__u64 constants, pool, signature;

	if (!s || !name || name->n_name > WIRE_NAME_BYTES - WIRE_SIGNATURE_BYTES)
		return 0;
	l = hotspot_layout(s);
	constants = hotspot_u64(s->runtime.function + l->at[HOTSPOT_METHOD_CONST]);
	pool = hotspot_u64(constants + l->at[HOTSPOT_CONST_POOL]);
	signature = hotspot_slot(l, pool, hotspot_u16(constants + l->at[HOTSPOT_CONST_SIGNATURE]));
	if (!signature)
		return 0;
	name->signature_at = name->n_name;
	name->n_name += hotspot_append(s, name, signature, WIRE_SIGNATURE_BYTES);
	return 0;
}

/* Where a method lies in its file. */
__noinline int hotspot_name_lines(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	struct wire_name *name = bpf_map_lookup_elem(&names, &level);
	const struct hotspot_layout *l;
	__u64 constants, pool, source, table, n;

	if (!s || !name)
		return 0;
	l = hotspot_layout(s);
	constants = hotspot_u64(s->runtime.function + l->at[HOTSPOT_METHOD_CONST]);
	pool = hotspot_u64(constants + l->at[HOTSPOT_CONST_POOL]);
	source = hotspot_source(l, pool);
	if (!source)
		return 0;
	name->file_encoding = WIRE_JAVA;
	name->n_file = hotspot_append(s, name, source, WIRE_FILE_BYTES);
	if (!l->has_lines ||
	    !(hotspot_u16(constants + l->at[HOTSPOT_CONST_FLAGS]) & HOTSPOT_CONST_HAS_LINES))
		return 0;
	table = l->const_bytes + hotspot_u16(constants + l->at[HOTSPOT_CONST_CODE_BYTES]);
	n = 8 * (__u64)hotspot_u32(constants + l->at[HOTSPOT_CONST_SIZE]) - table;
	table += constants;
	name->line = hotspot_first_line(s, table);
	/* What lies behind the table comes along: its end is told in it. */
	if (!want_lines || n > 8ULL << 32)
		return 0;
	name->n_lines = name_append(name, table, n, WIRE_LINES_BYTES);
	if (name->n_lines)
		name->lines_format = l->major >= 20 ? HOTSPOT_LINES_20 : HOTSPOT_LINES;
	return 0;
}

/* Of a function that was remembered. */
__noinline int hotspot_read_names(__u32 level)
{
	struct scratch *s = walk_scratch(level);
	__u32 print, position;
	__u64 function;
	int is_read;

	if (!s)
		return 0;
	function = s->runtime.function;
	print = s->runtime.print;
	position = s->runtime.position;
	is_read = hotspot_method(level, function, HOTSPOT_NO_BCI, HOTSPOT_AT_BCI);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	is_read = is_read && s->runtime.function == function && s->runtime.print == print;
	s->runtime.function = function;
	s->runtime.print = print;
	s->runtime.position = position;
	return is_read;
}

static __always_inline int hotspot_name(struct scratch *s, struct wire_name *name)
{
	const struct runtime_known *names = &s->runtime.known[HOTSPOT_KNOWN_NAMES];
	int is_read = 1;
	long n;

	if (s->runtime.function == HOTSPOT_GAP)
		return hotspot_name_gap(name);
	if (names->at == HOTSPOT_AT_RECEIVER)
		return hotspot_name_receiver(s->level);
	if (names->at == HOTSPOT_NAMES_UNREAD)
		is_read = hotspot_read_names(s->level);
	/* To the verifier it may have returned anything. */
	asm volatile("" : "+r"(is_read));
	if (!is_read)
		return 0;
	if (!names->at) {
		n = bpf_probe_read_user_str(name->texts, HOTSPOT_STUB_NAME_BYTES,
					    (void *)names->word);
		name->n_name = n > 1 ? n - 1 : 0;
		return n > 1;
	}
	/* Behind the walk: the method is being compiled. */
	name->compiled_tier = s->record.head.compiled_tier;
	name->scope_encoding = WIRE_JAVA_CLASS;
	name->name_encoding = WIRE_JAVA;
	name->n_scope = hotspot_append(s, name, names->at, WIRE_SCOPE_BYTES);
	name->n_name = hotspot_append(s, name, names->word, WIRE_NAME_BYTES);
	if (!name->n_scope || !name->n_name)
		return 0;
	if (want_arguments)
		hotspot_name_arguments(s->level);
	hotspot_name_lines(s->level);
	return 1;
}

#endif
