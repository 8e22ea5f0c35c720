/* SPDX-License-Identifier: Apache-2.0 */
/* Names of labels. */
#include "agent/util/label_name.h"

#include <string.h>

#include "agent/util/macro.h"
#include "agent/util/str.h"

bool label_name_is_valid(const char *name)
{
	if (!label_name_is_first(*name))
		return false;
	while (label_name_is_next(*name))
		name++;
	return !*name;
}

bool label_name_is_internal(const char *name)
{
	return strncmp(name, "__", 2) == 0 && strcmp(name, "__name__") != 0 &&
	       strcmp(name, "__delta__") != 0;
}

void label_name_repair(char *dst, size_t dst_bytes, const char *text, bool colon)
{
	struct str rest = str_from(text);
	size_t at = 0;

	while (rest.n > 0 && at + 1 < dst_bytes) {
		size_t n = MAX_OF(str_utf8_len(rest), 1);
		char c = rest.p[0];

		dst[at++] = label_name_is_next(c) || (colon && c == ':') ? c : '_';
		rest.p += n;
		rest.n -= n;
	}
	dst[at] = '\0';
}
