/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer record, checked. Pure. */
#ifndef XAGENT_AGENT_SAMPLE_SAMPLE_H
#define XAGENT_AGENT_SAMPLE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

/* Everything is borrowed from the record. */
struct sample {
	const struct wire_sample *head;
	const uint64_t *kernel_frames; /* n_kernel, leaf first */
	uint16_t n_kernel;
	const struct wire_connection *connection; /* of EVENT_TCP, else NULL */
	const uint64_t *user_frames;		  /* head->n_user words, leaf first */
	const struct wire_user_unwound
		*user_unwound; /* NULL unless head->flags & WIRE_USER_UNWOUND */
	/*
	 * sample_stack_bytes(head), copied from the address sp − WIRE_BELOW_BYTES + user_unwound->n_skipped on, sp being that of user_unwound->regs.
	 * The last user_unwound->pieces[].n_bytes of them are copies of other stacks, from the addresses that these pieces tell.
	 */
	const uint8_t *stack;
};

static inline size_t sample_stack_bytes(const struct wire_sample *head)
{
	return (size_t)head->stack_words * WIRE_WORD_BYTES;
}

/* 0, or -EBADMSG when the bytes do not follow bpf/wire.h. `bytes` is aligned to 8; what lies behind the record's own length is not looked at. */
int sample_parse(const void *bytes, size_t n, struct sample *ret_sample);
/* The same of WIRE_WAKER, which is of off-CPU time. */
int waker_parse(const void *bytes, size_t n, struct sample *ret_waker);

#endif
