/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer record that tells how long something took whose sample came before, checked. */
#include "agent/sample/end_record.h"

#include <errno.h>

int end_record_parse(const void *bytes, size_t n, const struct wire_end **ret_end)
{
	const struct wire_end *end = bytes;

	if (n < sizeof(*end) || end->record.n_bytes != sizeof(*end) ||
	    end->record.type != WIRE_END || end->record.event != EVENT_BLOCK_IO)
		return -EBADMSG;
	*ret_end = end;
	return 0;
}
