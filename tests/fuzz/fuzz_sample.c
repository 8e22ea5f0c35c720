/* SPDX-License-Identifier: Apache-2.0 */
/* Ring buffer records, of samples and of wakers: whatever is accepted lies within the bytes, every frame and copied byte of it. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sample/sample.h"
#include "agent/util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_words(const uint64_t *words, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += words[i];
	return sum;
}

static void touch(const struct sample *s, const uint8_t *end)
{
	volatile uint64_t touched = 0;

	touched += sum_words(s->kernel_frames, s->head->n_kernel) +
		   sum_words(s->user_frames, s->head->n_user);
	assert(!s->user_unwound == !(s->head->flags & WIRE_USER_UNWOUND));
	if (!s->user_unwound)
		return;
	assert(s->user_unwound->n_right <= s->head->n_user);
	assert(s->user_unwound->pieces[0].n_bytes <= sample_stack_bytes(s->head));
	assert(s->user_unwound->pieces[1].n_bytes <=
	       sample_stack_bytes(s->head) - s->user_unwound->pieces[0].n_bytes);
	touched += s->user_unwound->regs.pc + s->user_unwound->regs.reg[WIRE_N_REGS - 1] +
		   (uint64_t)s->user_unwound->comm[WIRE_COMM_BYTES - 1];
	touched += sum_words(s->user_frames, s->user_unwound->n_right);
	for (size_t i = 0; i < sample_stack_bytes(s->head); i++)
		touched += s->stack[i];
	assert(s->stack + sample_stack_bytes(s->head) <= end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Aligned as the ring aligns, and of exactly this size. */
	_cleanup_free_ uint8_t *bytes = malloc(size ? size : 1);
	struct sample s;

	if (!bytes)
		return 0;
	if (size > 0)
		memcpy(bytes, data, size);
	if (sample_parse(bytes, size, &s) == 0)
		touch(&s, bytes + size);
	if (waker_parse(bytes, size, &s) == 0)
		touch(&s, bytes + size);
	return 0;
}
