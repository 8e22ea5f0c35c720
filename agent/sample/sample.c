/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer record, checked. */
#include "agent/sample/sample.h"

#include <errno.h>
#include <stdbool.h>

static size_t sample_bytes(const struct wire_sample *head)
{
	size_t n = sizeof(*head) + ((size_t)head->n_kernel + head->n_user) * sizeof(uint64_t);

	if (head->flags & WIRE_USER_UNWOUND)
		n += sizeof(struct wire_user_unwound) + sample_stack_bytes(head);
	return n;
}

static bool pieces_are_there(const struct wire_user_unwound *user_unwound, size_t n_bytes)
{
	for (size_t i = 0; i < WIRE_USER_UNWOUND_PIECES; i++) {
		uint64_t n = user_unwound->pieces[i].n_bytes;

		if (n > n_bytes || n % WIRE_WORD_BYTES)
			return false;
		n_bytes -= n;
	}
	return true;
}

/* What it says beside its stack is of its event. */
static bool has_reason(const struct wire_sample *head)
{
	if (head->record.event == EVENT_SYSCALLS)
		return WIRE_CALL_NUMBER(head->reason) <= WIRE_CALL_UNKNOWN &&
		       WIRE_CALL_ERROR(head->reason) <= WIRE_MAX_ERROR;
	if (head->record.event == EVENT_TCP)
		return WIRE_CALL_NUMBER(head->reason) >= WIRE_TCP_CONNECT &&
		       WIRE_CALL_NUMBER(head->reason) <= WIRE_TCP_RETRANSMIT &&
		       WIRE_CALL_ERROR(head->reason) <= WIRE_MAX_ERROR;
	if (head->record.event == EVENT_BLOCK_IO)
		return WIRE_IO_OPERATION(head->reason) > WIRE_IO_NONE &&
		       WIRE_IO_OPERATION(head->reason) < WIRE_IO_MAX;
	return head->reason < WAIT_REASON_MAX;
}

/* In place of kernel frames. */
static void take_connection(struct sample *s)
{
	s->connection = (const struct wire_connection *)s->kernel_frames;
	s->n_kernel = 0;
}

static int parse(const void *bytes, size_t n, uint8_t type, struct sample *ret_sample)
{
	const struct wire_sample *head = bytes;

	if (n < sizeof(*head) || head->record.n_bytes > n || head->record.type != type ||
	    head->record.event >= EVENT_MAX || head->record.source >= EVENT_MAX_SOURCES)
		return -EBADMSG;
	if (head->tier >= WIRE_TIERS || head->n_kernel > WIRE_MAX_KERNEL_FRAMES ||
	    head->n_user > WIRE_MAX_USER_WORDS || sample_stack_bytes(head) > WIRE_MAX_STACK_BYTES ||
	    head->end >= STOP_REASON_MAX || !has_reason(head))
		return -EBADMSG;
	if (head->flags & WIRE_HELD && head->record.event != EVENT_OFF_CPU &&
	    head->record.event != EVENT_RUN_QUEUE)
		return -EBADMSG;
	if (head->record.n_bytes < sample_bytes(head) ||
	    (head->record.event == EVENT_TCP && head->n_kernel != WIRE_CONNECTION_WORDS))
		return -EBADMSG;
	struct sample s = { .head = head,
			    .kernel_frames = (const uint64_t *)(head + 1),
			    .n_kernel = head->n_kernel };
	s.user_frames = s.kernel_frames + head->n_kernel;
	if (head->record.event == EVENT_TCP)
		take_connection(&s);
	if (head->flags & WIRE_USER_UNWOUND) {
		s.user_unwound = (const struct wire_user_unwound *)(s.user_frames + head->n_user);
		s.stack = (const uint8_t *)(s.user_unwound + 1);
		if (s.user_unwound->n_right > head->n_user ||
		    !pieces_are_there(s.user_unwound, sample_stack_bytes(head)))
			return -EBADMSG;
	}
	*ret_sample = s;
	return 0;
}

int sample_parse(const void *bytes, size_t n, struct sample *ret_sample)
{
	return parse(bytes, n, WIRE_SAMPLE, ret_sample);
}

int waker_parse(const void *bytes, size_t n, struct sample *ret_waker)
{
	int r = parse(bytes, n, WIRE_WAKER, ret_waker);

	return r == 0 && ret_waker->head->record.event != EVENT_OFF_CPU ? -EBADMSG : r;
}
