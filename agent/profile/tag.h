/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sample tells besides its series and its stack, where that was asked for: sample labels `pid` and `comm` of its process, or the name as the
 * outermost frame; `thread_name` of its thread; `tier` of its innermost method of Java; label `reason` of a wait. Of a system call that has failed always the label `error`, of
 * block I/O the labels `device` and `operation`.
 *
 * Off by default: a server makes a series of each. Tags are interned, so that stacks compare them by pointer. They lie in the arena of
 * their interval.
 */
#ifndef XAGENT_AGENT_PROFILE_TAG_H
#define XAGENT_AGENT_PROFILE_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/util/arena.h"
#include "agent/util/hash.h"
#include "bpf/wire.h"

/* Bits: COMM_BOTH is a label and a frame. */
enum comm_use { COMM_NONE = 0, COMM_LABEL = 1, COMM_STACKFRAME = 2, COMM_BOTH = 3 };

/* How it is shown what a thread waited for: not at all, as a sample label, as the innermost frame. */
enum reason_use { REASON_NONE, REASON_LABEL, REASON_FRAME };

/* What is asked for. */
struct tagging {
	enum comm_use comm;
	bool pid;
	enum reason_use reason;
	bool thread; /* its name */
	bool tier;
};

struct sample_tag {
	struct hash_node node;
	uint32_t pid;		 /* 0 where it is not asked for */
	const char *comm;	 /* of the process, its leader's; "" likewise */
	enum wait_reason reason; /* WAIT_UNKNOWN likewise, and where nothing was waited for */
	const char *thread;	 /* its name; "" where it is not asked for, or not known */
	uint32_t tier;		 /* WIRE_TIER_*, likewise */
	uint32_t error;		 /* that a system call ended with, asked for or not; 0: none */
	uint32_t io;		 /* WIRE_IO() of block I/O; 0: it is none */
	const char *device;	 /* what its disk is called; NULL likewise */
};

static inline bool tagging_wants_any(struct tagging t)
{
	return t.pid || t.comm != COMM_NONE || t.reason == REASON_LABEL || t.thread || t.tier;
}

/* One for equal ones. `of` has no node; its name is copied. 0 or -ENOMEM (the arena's ceiling included). */
int tag_get(struct hash_table *tags, struct arena *arena, const struct sample_tag *of,
	    const struct sample_tag **ret_tag);

/* "none", "" (the same), "label", "stackframe", "both". */
bool comm_use_parse(const char *text, enum comm_use *ret_use);
/* "none", "label", "frame". */
bool reason_use_parse(const char *text, enum reason_use *ret_use);
/* The text of the label; "" of WIRE_TIER_NONE. */
const char *tier_label(uint32_t tier);
/* The text of the label; "" of WAIT_UNKNOWN. */
const char *wait_reason_label(enum wait_reason reason);
/* Of WIRE_IO_OPERATION(), not WIRE_IO_NONE. */
const char *io_operation_label(enum wire_io_operation operation);

#endif
