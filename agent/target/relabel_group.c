/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and flags. What is in a group is written where it stands; its flags end with it. */
#include "agent/target/relabel_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

void relabel_groups_fini(struct relabel_groups *g)
{
	for (size_t i = 0; g->names && i <= g->n; i++)
		free(g->names[i]);
	free(g->names);
	*g = (struct relabel_groups){ 0 };
}

int parser_open(struct parser *p, const char *text, unsigned int flags)
{
	if (p->depth == RELABEL_DEPTH_MAX)
		return parser_refuse(p, "expression nests too deeply", p->whole,
				     parser_end(p->whole));
	parser_write_fold(p);
	p->levels[p->depth++] = (struct parser_level){
		.flags = p->flags,
		.fold_written = p->fold_written,
		.start = p->out->len,
		.n_repeats = 1,
	};
	p->flags = flags;
	p->has_atom = false;
	parser_write(p, text);
	return 0;
}

void parser_note_repeats(struct parser *p)
{
	if (p->depth > 0 && p->has_atom)
		p->levels[p->depth - 1].n_repeats =
			MAX_OF(p->levels[p->depth - 1].n_repeats, p->atom_repeats);
}

int parser_close(struct parser *p)
{
	struct parser_level level;

	if (p->depth == 0)
		return parser_refuse(p, "unexpected )", p->whole, parser_end(p->whole));
	level = p->levels[--p->depth];
	parser_write(p, ")");
	p->flags = level.flags;
	p->fold_written = level.fold_written;
	p->atom = level.start;
	p->atom_repeats = level.n_repeats;
	p->has_atom = true;
	p->is_repeated = false;
	/* Of what is around it. */
	parser_note_repeats(p);
	p->at++;
	return 0;
}

/* Room for one more name, which the caller sets. */
static int add_group(struct parser *p, const char *name, size_t n)
{
	struct relabel_groups *g = p->groups;
	char **names = realloc(g->names, (g->n + 2) * sizeof(*names));

	if (!names)
		return -ENOMEM;
	g->names = names;
	names[++g->n] = NULL;
	if (!name)
		return 0;
	names[g->n] = strndup(name, n);
	return names[g->n] ? 0 : -ENOMEM;
}

static int open_capture(struct parser *p, const char *name, size_t n)
{
	int r = parser_open(p, "(", p->flags);

	return r == 0 ? add_group(p, name, n) : r;
}

static bool is_name(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != '_' && !parser_is_alnum((uint8_t)s[i]))
			return false;
	return n > 0;
}

/* (?P<name> and (?<name>. */
static int named_group(struct parser *p, size_t n_head)
{
	const char *from = p->at, *name = from + n_head, *end = strchr(from, '>');
	int r = end ? parser_check_utf8(p, name, end)
		    : parser_check_utf8(p, from, parser_end(from));

	if (r != 0)
		return r;
	if (!end)
		return parser_refuse(p, "invalid named capture", from, parser_end(from));
	if (!is_name(name, (size_t)(end - name)))
		return parser_refuse(p, "invalid named capture", from, end + 1);
	p->at = end + 1;
	return open_capture(p, name, (size_t)(end - name));
}

static unsigned int flag_of(uint32_t c)
{
	switch (c) {
	case 'i':
		return PARSER_FOLD;
	case 'm':
		return PARSER_MULTILINE;
	case 's':
		return PARSER_DOT_NL;
	case 'U':
		return PARSER_LAZY;
	}
	return 0;
}

/* (?flags) and (?flags:; a minus wants flags behind it. */
static int flags_group(struct parser *p)
{
	const char *from = p->at;
	unsigned int on = p->flags;
	bool minus = false, any = false;
	uint32_t c = 0;

	p->at += 2;
	while (*p->at) {
		int r = parser_next(p, &c);
		unsigned int flag = flag_of(c);

		if (r != 0)
			return r;
		if (flag) {
			on = minus ? on & ~flag : on | flag;
			any = true;
		} else if (c == '-' && !minus) {
			minus = true;
			any = false;
		} else {
			break;
		}
	}
	if ((c != ':' && c != ')') || (minus && !any))
		return parser_refuse(p, "invalid or unsupported Perl syntax", from, p->at);
	if (c == ':')
		return parser_open(p, "(?:", on);
	p->flags = on;
	return 0;
}

int parser_group(struct parser *p)
{
	if (p->at[1] != '?') {
		p->at++;
		return open_capture(p, NULL, 0);
	}
	if (p->at[2] == 'P' && p->at[3] == '<' && p->at[4])
		return named_group(p, 4);
	if (p->at[2] == '<' && p->at[3])
		return named_group(p, 3);
	return flags_group(p);
}
