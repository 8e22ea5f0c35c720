/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of /proc/kallsyms.
 *
 *	line = address SP type SP name [TAB "[" module "]"] LF		(kernel/kallsyms.c, s_show)
 */
#include <string.h>

#include "agent/symbol/kallsyms_raw.h"

/* Marks of the linker script behind the last function. */
static bool is_end_mark(struct str name)
{
	return str_eq(name, STR_LIT("_etext")) || str_eq(name, STR_LIT("_einittext"));
}

/* The padding before a function, where ftrace and kCFI keep their data (CONFIG_CALL_PADDING): as
 * many symbols as functions, and no code. */
static bool is_padding(struct str name)
{
	return str_starts_with(name, STR_LIT("__pfx_")) || str_starts_with(name, STR_LIT("__cfi_"));
}

static uint16_t rank_of(char type, struct str name)
{
	uint16_t binding = type == 'T' ? 0 : type == 't' ? 2 : 1;
	uint16_t underscores = 0;

	if (is_end_mark(name))
		return UINT16_MAX;
	while (underscores < name.n && underscores < 255 && name.p[underscores] == '_')
		underscores++;
	return (uint16_t)(binding << 8 | underscores);
}

/* The number comes last, being the dearest to read. */
bool kallsyms_line_parse(struct str line, struct kallsyms_line *ret_line)
{
	struct kallsyms_line l = { .module = { NULL, 0 } };
	struct str address;

	if (!str_split(&line, ' ', &address) || line.n < 3 || line.p[1] != ' ' ||
	    !memchr("tTwW", line.p[0], 4))
		return false;
	char type = line.p[0];
	line = (struct str){ line.p + 2, line.n - 2 };
	if (!str_split(&line, '\t', &l.name) || l.name.n == 0 || is_padding(l.name))
		return false;
	line = str_trim(line);
	/* The format only ever grew at the end. */
	if (line.n > 2 && line.p[0] == '[' && line.p[line.n - 1] == ']')
		l.module = (struct str){ line.p + 1, line.n - 2 };
	if (str_parse_u64(address, 16, UINT64_MAX, &l.address) != 0 || l.address == 0)
		return false;
	l.rank = rank_of(type, l.name);
	*ret_line = l;
	return true;
}
