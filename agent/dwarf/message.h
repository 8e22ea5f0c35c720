/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent and the processes that read DWARF say to each other: one message a packet, in the machine's own byte order, for both are
 * one program.
 *
 * Each byte of an answer may be an attacker's, who has taken a reader over. Pure.
 */
#ifndef XAGENT_AGENT_DWARF_MESSAGE_H
#define XAGENT_AGENT_DWARF_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/object/lines/source_frames.h"
#include "agent/util/arena.h"
#include "agent/util/buf.h"

/* Of an answer: within what a socket takes by default (212,992, net.core.wmem_default) with what the kernel adds. */
#define DWARF_MESSAGE_MAX_BYTES ((size_t)128 << 10)
/* As source_lines makes them at most: names, and paths of a directory and a file. */
#define DWARF_NAME_MAX_BYTES 16384
#define DWARF_PATH_MAX_BYTES 8193

/* Agent to server. DWARF_START comes with two descriptors: the reader's socket, the file. */
enum dwarf_order_kind { DWARF_START = 1, DWARF_END };

struct dwarf_order {
	uint32_t kind;
	int32_t pid; /* DWARF_END: which reader */
};

/* Server to agent. */
struct dwarf_done {
	int32_t pid;	/* of the reader that was started; −errno */
	int32_t status; /* DWARF_END: as wait(2) has it; −1: it has not ended yet */
};

/* Agent to reader. */
enum dwarf_question_kind {
	DWARF_OPEN =
		1,    /* value: memory in bytes; has_scratch: DWARF_WANTS_SCRATCH may be answered */
	DWARF_FRAMES, /* value: an address as linked */
	DWARF_SCRATCH, /* answers DWARF_WANTS_SCRATCH; with a descriptor, or value 0 without */
};

struct dwarf_question {
	uint32_t kind;
	uint32_t has_scratch;
	uint64_t value;
};

/* Reader to agent. */
enum dwarf_answer_kind {
	DWARF_IS_OPEN = 1,   /* value: whether it has unpacked to the scratch file */
	DWARF_NOTHING,	     /* no DWARF that can be used; or nothing is known of the address */
	DWARF_ERROR,	     /* value: an errno */
	DWARF_WANTS_SCRATCH, /* value: bytes */
	DWARF_HAS_FRAMES,
	DWARF_ANSWER_MAX
};

struct dwarf_answer {
	enum dwarf_answer_kind kind;
	uint64_t value;
	struct source_frames
		*frames; /* of DWARF_HAS_FRAMES; the caller's; NULL: none are expected */
};

enum dwarf_message_outcome { DWARF_MESSAGE_MALFORMED = 1, DWARF_MESSAGE_OUTCOME_MAX };

/* Appends `answer` to an empty buffer of DWARF_MESSAGE_MAX_BYTES. What has no room any more is empty text. 0 or -ENOMEM. */
int dwarf_answer_write(const struct dwarf_answer *answer, struct buf *message);
/* Frames go to ret->frames, which was set before, and their texts to `strings`. 0, DWARF_MESSAGE_MALFORMED, -ENOMEM. */
int dwarf_answer_read(const void *message, size_t n, struct arena *strings,
		      struct dwarf_answer *ret);

#endif
