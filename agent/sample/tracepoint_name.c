/* SPDX-License-Identifier: Apache-2.0 */
/* Names of tracepoints. */
#include "agent/sample/tracepoint_name.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "agent/util/str.h"

static bool part_copy(struct str part, char ret_part[TRACEPOINT_PART_BYTES])
{
	if (part.n == 0 || part.n >= TRACEPOINT_PART_BYTES)
		return false;
	for (size_t i = 0; i < part.n; i++)
		if (!isalnum((unsigned char)part.p[i]) && part.p[i] != '_')
			return false;
	memcpy(ret_part, part.p, part.n);
	ret_part[part.n] = '\0';
	return true;
}

int tracepoint_name_parse(const char *text, struct tracepoint_name *ret_name, struct buf *why)
{
	struct str rest = str_from(text);
	struct str group;

	if (str_split(&rest, ':', &group) && part_copy(group, ret_name->group) &&
	    part_copy(rest, ret_name->name))
		return 0;
	(void)buf_printf(why,
			 "\"%s\" is no tracepoint: GROUP:NAME is expected, as in "
			 "syscalls:sys_enter_read",
			 text);
	return -EINVAL;
}
