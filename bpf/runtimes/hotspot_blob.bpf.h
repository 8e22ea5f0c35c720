/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a CodeBlob is: by its name the interpreter, a method's code, or a stub. */
#ifndef XAGENT_BPF_RUNTIMES_HOTSPOT_BLOB_BPF_H
#define XAGENT_BPF_RUNTIMES_HOTSPOT_BLOB_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/runtimes/hotspot_objects.bpf.h"

/* "nmethod" */
#define HOTSPOT_NMETHOD_TEXT 0x00646f6874656d6eULL

enum hotspot_blob {
	HOTSPOT_BLOB_IS_NONE,
	HOTSPOT_BLOB_IS_INTERPRETER,
	HOTSPOT_BLOB_IS_NMETHOD,
	HOTSPOT_BLOB_IS_ADAPTER,
	HOTSPOT_BLOB_IS_CONTINUATION,
	HOTSPOT_BLOB_IS_STUB,
};

/* Of the innermost method. */
static __always_inline void hotspot_note_tier(struct scratch *s, __u32 tier)
{
	if (want_tiers && s->record.head.tier == WIRE_TIER_NONE)
		s->record.head.tier = tier;
}

/* How the code of a method was compiled, whose CodeBlob is at `at`; its name is "nmethod", or "native nmethod". The tier has one byte or four. */
static __always_inline __u32 hotspot_tier_of(const struct scratch *s, __u64 at, __u64 name)
{
	__u32 offset = hotspot_layout(s)->at[HOTSPOT_NMETHOD_TIER];
	__u8 tier = 0;

	if ((name & 0xffff) == 0x616e)
		return WIRE_TIER_NATIVE;
	if (offset != HOTSPOT_NONE)
		bpf_probe_read_user(&tier, sizeof(tier), (void *)(at + offset));
	return tier && tier <= WIRE_TIER_LAST ? WIRE_TIER_OF(tier) : WIRE_TIER_NONE;
}

/* A stub of which only the name is known. */
static __always_inline void hotspot_stub(struct scratch *s, __u64 blob, __u64 name, __u64 text)
{
	s->runtime.known[HOTSPOT_KNOWN_NAMES].at = 0;
	s->runtime.known[HOTSPOT_KNOWN_NAMES].word = name;
	s->runtime.function = blob;
	s->runtime.print = (__u32)(hash_mix(text, name) >> 32) | 1;
	s->runtime.position = HOTSPOT_NO_BCI;
}

static __always_inline enum hotspot_blob hotspot_kind(const __u64 *text)
{
	/* "Interpre", "I2C/C2I ", "nmethod", "native n", "method", and what lies behind its end; "StubRoutines (continuation" */
	if (text[0] == 0x6572707265746e49ULL)
		return HOTSPOT_BLOB_IS_INTERPRETER;
	if (text[0] == 0x204932432f433249ULL)
		return HOTSPOT_BLOB_IS_ADAPTER;
	if (text[0] == HOTSPOT_NMETHOD_TEXT ||
	    (text[0] == 0x6e2065766974616eULL && text[1] << 8 == 0x00646f6874656d00ULL))
		return HOTSPOT_BLOB_IS_NMETHOD;
	if (text[0] == 0x74756f5262757453ULL && text[1] == 0x6f63282073656e69ULL &&
	    text[2] == 0x697461756e69746eULL)
		return HOTSPOT_BLOB_IS_CONTINUATION;
	return HOTSPOT_BLOB_IS_STUB;
}

/* By the name of a blob, and the first characters of that. */
static __always_inline enum hotspot_blob hotspot_read_kind(__u64 name, __u64 *ret_text)
{
	__u64 text[3] = { 0 };

	bpf_probe_read_user(text, sizeof(text), (void *)name);
	*ret_text = text[0];
	return hotspot_kind(text);
}

/* What was read of a CodeBlob. */
struct hotspot_code_blob {
	__u64 begin; /* of its code */
	__u64 method;
	__u64 name;
	__u64 text; /* the first characters of the name; not read of one that is known */
	enum hotspot_blob kind;
	__u32 number;	/* of the compilation; 0: not known */
	__u32 bytes;	/* of a frame */
	__u32 complete; /* from here on it is whole */
};

static __always_inline void hotspot_get_blob(struct scratch *s, __u64 at,
					     struct hotspot_code_blob *ret_blob)
{
	const struct hotspot_layout *l = hotspot_layout(s);
	__u32 complete = l->at[HOTSPOT_BLOB_COMPLETE];

	ret_blob->begin = l->at[HOTSPOT_BLOB_CODE] != HOTSPOT_NONE
				  ? hotspot_read_u64(s, l->at[HOTSPOT_BLOB_CODE])
				  : at + hotspot_read_u32(s, l->at[HOTSPOT_BLOB_CODE_OFFSET]);
	ret_blob->method = hotspot_read_u64(s, l->at[HOTSPOT_NMETHOD_METHOD]);
	ret_blob->bytes = 8 * hotspot_read_u32(s, l->at[HOTSPOT_BLOB_FRAME_BYTES]);
	ret_blob->complete = l->has_short_complete ? (__u32)(__s16)hotspot_read_u16(s, complete)
						   : hotspot_read_u32(s, complete);
	ret_blob->name = hotspot_read_u64(s, l->at[HOTSPOT_BLOB_NAME]);
	ret_blob->number = hotspot_number_of(s, at);
	ret_blob->text = 0;
	ret_blob->kind = HOTSPOT_BLOB_IS_NMETHOD;
	/* One text is the name of all of these. */
	if (ret_blob->name && ret_blob->name == s->runtime.words[HOTSPOT_WORD_NMETHOD])
		return;
	ret_blob->kind = hotspot_read_kind(ret_blob->name, &ret_blob->text);
	if (ret_blob->kind == HOTSPOT_BLOB_IS_NMETHOD)
		s->runtime.words[HOTSPOT_WORD_NMETHOD] = ret_blob->name;
}

#endif
