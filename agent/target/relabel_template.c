/* SPDX-License-Identifier: Apache-2.0 */
/* Templates. */
#include "agent/target/relabel_template.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <unictype.h>
#include <unistr.h>

#include "agent/util/str.h"

/* Numbers from here on are names. */
#define GROUP_MAX 100000000

enum part_kind { PART_TEXT, PART_NUMBER, PART_NAME };

/* `text` is of the template's own copy. */
struct relabel_part {
	enum part_kind kind;
	struct str text; /* the text, or the name */
	size_t number;
};

/* Letters and digits of Unicode, and '_'. */
static size_t name_length(const char *s)
{
	size_t at = 0;

	for (;;) {
		ucs4_t c;
		int n = u8_strmbtouc(&c, (const uint8_t *)s + at);

		if (n <= 0 || (c != '_' && !uc_is_general_category_withtable(
						   c, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_Nd)))
			return at;
		at += (size_t)n;
	}
}

/* Without leading zeros, else it is a name. */
static bool parse_number(struct str name, size_t *ret_number)
{
	uint64_t number;

	if (name.n > 1 && name.p[0] == '0')
		return false;
	if (str_parse_u64(name, 10, GROUP_MAX - 1, &number) < 0)
		return false;
	*ret_number = (size_t)number;
	return true;
}

/* From behind a dollar sign: what is consumed, 0 for nothing that can be expanded. */
static size_t parse_reference(const char *s, struct relabel_part *part)
{
	bool braces = *s == '{';
	size_t n = name_length(s + braces);

	if (n == 0 || (braces && s[1 + n] != '}'))
		return 0;
	*part = (struct relabel_part){ .kind = PART_NAME, .text = { s + braces, n } };
	if (parse_number(part->text, &part->number))
		part->kind = PART_NUMBER;
	return n + 2 * braces;
}

static void add_text(struct relabel_template *t, const char *from, const char *to)
{
	if (to > from)
		t->parts[t->n_parts++] = (struct relabel_part){
			.kind = PART_TEXT,
			.text = { from, (size_t)(to - from) },
		};
}

static void parse(struct relabel_template *t)
{
	const char *from = t->text, *dollar = strchr(from, '$');

	while (dollar) {
		struct relabel_part part;
		size_t n = parse_reference(dollar + 1, &part);

		/* One of two dollar signs stays, and one that begins nothing. */
		add_text(t, from, n > 0 ? dollar : dollar + 1);
		if (n > 0)
			t->parts[t->n_parts++] = part;
		else if (dollar[1] == '$')
			n = 1;
		from = dollar + 1 + n;
		dollar = strchr(from, '$');
	}
	add_text(t, from, from + strlen(from));
}

int relabel_template_init(struct relabel_template *t, const char *text)
{
	size_t n_most = 1;

	for (const char *s = text; *s; s++)
		n_most += 2 * (*s == '$');
	*t = (struct relabel_template){
		.parts = calloc(n_most, sizeof(*t->parts)),
		.text = strdup(text),
	};
	if (!t->parts || !t->text)
		return -ENOMEM;
	parse(t);
	return 0;
}

void relabel_template_fini(struct relabel_template *t)
{
	free(t->parts);
	free(t->text);
	*t = (struct relabel_template){ 0 };
}

const char *relabel_template_text(const struct relabel_template *t)
{
	return strchr(t->text, '$') ? NULL : t->text;
}

static int append_group(size_t i, const char *source, const struct relabel_spans *spans,
			struct buf *out)
{
	const size_t *span;

	if (i >= spans->n || spans->offsets[2 * i] == RELABEL_NO_OFFSET)
		return 0;
	span = &spans->offsets[2 * i];
	return buf_append(out, source + span[0], span[1] - span[0]);
}

int relabel_template_append(const struct relabel_template *t, const struct relabel_regex *re,
			    const char *source, const struct relabel_spans *spans, struct buf *out)
{
	int r = 0;

	for (size_t i = 0; i < t->n_parts && r == 0; i++) {
		const struct relabel_part *part = &t->parts[i];

		switch (part->kind) {
		case PART_TEXT:
			r = buf_append(out, part->text.p, part->text.n);
			break;
		case PART_NUMBER:
			r = append_group(part->number, source, spans, out);
			break;
		case PART_NAME:
			r = append_group(relabel_regex_named(re, part->text, spans), source, spans,
					 out);
			break;
		}
	}
	return r;
}
