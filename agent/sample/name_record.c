/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer record that tells what a runtime calls a function, checked. */
#include "agent/sample/name_record.h"

#include <errno.h>

int name_record_parse(const void *bytes, size_t n, const struct wire_name **ret_name)
{
	const struct wire_name *name = bytes;

	if (n < offsetof(struct wire_name, texts) || name->record.n_bytes > n ||
	    name->record.type != WIRE_NAME)
		return -EBADMSG;
	if (name->n_scope > WIRE_SCOPE_BYTES || name->n_name > WIRE_NAME_BYTES ||
	    name->n_file > WIRE_FILE_BYTES || name->n_lines > WIRE_LINES_BYTES ||
	    name->signature_at > name->n_name || name->compiled_tier > WIRE_TIER_LAST)
		return -EBADMSG;
	if (name->record.n_bytes < offsetof(struct wire_name, texts) + name->n_scope +
					   name->n_name + name->n_file + name->n_lines)
		return -EBADMSG;
	if (name->scope_encoding >= WIRE_ENCODING_MAX || name->name_encoding >= WIRE_ENCODING_MAX ||
	    name->file_encoding >= WIRE_ENCODING_MAX)
		return -EBADMSG;
	*ret_name = name;
	return 0;
}
