/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel's functions that were asked for lately. */
#include "agent/symbol/kallsyms_recent.h"

#include <stdlib.h>
#include <string.h>

#define N_SLOTS ((size_t)1 << KALLSYMS_RECENT_SLOTS_BITS)
#define N_PROBES 4

void kallsyms_recent_init(struct kallsyms_recent *recent, size_t max_bytes)
{
	recent->slots = NULL;
	buf_init(&recent->text,
		 max_bytes >= KALLSYMS_RECENT_BYTES ? KALLSYMS_RECENT_TEXT_BYTES : 0);
}

void kallsyms_recent_fini(struct kallsyms_recent *recent)
{
	free(recent->slots);
	recent->slots = NULL;
	buf_fini(&recent->text);
}

/* Golden ratio: neighbours are asked for together. */
static size_t first_slot(uint32_t number)
{
	return (number * 0x9e3779b9u) >> (32 - KALLSYMS_RECENT_SLOTS_BITS);
}

static struct kallsyms_recent_slot *slot_of(const struct kallsyms_recent *recent, uint32_t number,
					    size_t probe)
{
	return &recent->slots[(first_slot(number) + probe) & (N_SLOTS - 1)];
}

const char *kallsyms_recent_get(const struct kallsyms_recent *recent, uint32_t number)
{
	for (size_t i = 0; recent->slots && i < N_PROBES; i++) {
		const struct kallsyms_recent_slot *slot = slot_of(recent, number, i);

		if (slot->number == number + 1)
			return recent->text.data + slot->at;
	}
	return NULL;
}

static void forget_all(struct kallsyms_recent *recent)
{
	memset(recent->slots, 0, N_SLOTS * sizeof(*recent->slots));
	buf_reset(&recent->text);
}

/* The first that is free, else the first. */
static struct kallsyms_recent_slot *slot_for(const struct kallsyms_recent *recent, uint32_t number)
{
	for (size_t i = 0; i < N_PROBES; i++)
		if (slot_of(recent, number, i)->number == 0)
			return slot_of(recent, number, i);
	return slot_of(recent, number, 0);
}

void kallsyms_recent_put(struct kallsyms_recent *recent, uint32_t number, const char *name)
{
	size_t n_bytes = strlen(name) + 1;

	if (n_bytes > recent->text.max_bytes)
		return;
	if (!recent->slots)
		recent->slots = calloc(N_SLOTS, sizeof(*recent->slots));
	if (!recent->slots)
		return;
	if (recent->text.len + n_bytes > recent->text.max_bytes)
		forget_all(recent);
	size_t at = recent->text.len;
	if (buf_append(&recent->text, name, n_bytes) < 0)
		return forget_all(recent);
	*slot_for(recent, number) = (struct kallsyms_recent_slot){ number + 1, (uint32_t)at };
}

size_t kallsyms_recent_bytes(const struct kallsyms_recent *recent)
{
	return recent->text.cap + (recent->slots ? N_SLOTS * sizeof(*recent->slots) : 0);
}
