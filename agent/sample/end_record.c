/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer record that tells how long something took whose sample came before, checked. */
#include "agent/sample/end_record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

static bool has_ends(uint8_t event)
{
	return event == EVENT_BLOCK_IO || event == EVENT_OFF_CPU || event == EVENT_RUN_QUEUE;
}

int end_record_parse(const void *bytes, size_t n, const struct wire_end **ret_end)
{
	const struct wire_end *end = bytes;

	if (n < sizeof(*end) || end->record.n_bytes != sizeof(*end) ||
	    end->record.type != WIRE_END || !has_ends(end->record.event))
		return -EBADMSG;
	*ret_end = end;
	return 0;
}
