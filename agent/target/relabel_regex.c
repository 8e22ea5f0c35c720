/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions on PCRE2. */
#include "agent/target/relabel_regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "agent/target/relabel_parser.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* What is written is longer than what was read: \d in a class is \x{30}-\x{39} at most, \W a hundred bytes for two. */
#define WRITTEN_MAX (64 * RELABEL_TEXT_MAX)
/* KiB that one match may take for the places it may go back to; kept with the expression. */
#define HEAP_KIB 4096
/* Text longer than this is not matched when it has to be repaired. */
#define REPAIRED_MAX ((size_t)1 << 20)

struct relabel_regex {
	bool is_all; /* (.*) needs no engine */
	size_t all[4];
	struct relabel_groups groups;
	bool is_renumbered; /* PCRE2 has more groups than these */
	uint32_t *numbers;  /* what it calls them */
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	struct buf repaired; /* text with its malformed bytes replaced */
	size_t *offsets;     /* of the groups, in the text itself */
};

void relabel_regex_free(struct relabel_regex *re)
{
	if (!re)
		return;
	relabel_groups_fini(&re->groups);
	pcre2_match_data_free(re->data);
	pcre2_match_context_free(re->context);
	pcre2_code_free(re->code);
	buf_fini(&re->repaired);
	free(re->offsets);
	free(re->numbers);
	free(re);
}

/* The parentheses that capture, in their order; those with a name are not the text's. */
static int number_groups(struct relabel_regex *re, const char *written)
{
	uint32_t n = 0;
	size_t i = 0;

	re->numbers = calloc(re->groups.n + 1, sizeof(*re->numbers));
	if (!re->numbers)
		return -ENOMEM;
	for (const char *s = strchr(written, '('); s; s = strchr(s + 1, '(')) {
		bool named = strncmp(s, "(?<e", 4) == 0 || strncmp(s, "(?<i", 4) == 0;

		n += named || s[1] != '?';
		if (s[1] != '?')
			re->numbers[++i] = n;
	}
	re->is_renumbered = n != i;
	return 0;
}

/* Valid by construction: what PCRE2 may still say is that it is too large. */
static int compile(struct relabel_regex *re, const struct buf *text, const char *whole,
		   struct buf *why)
{
	size_t at;
	int code = 0;

	re->code = pcre2_compile((PCRE2_SPTR)buf_str(text), text->len, PCRE2_UTF | PCRE2_DOTALL,
				 &code, &at, NULL);
	if (!re->code && code == PCRE2_ERROR_HEAP_FAILED)
		return -ENOMEM;
	if (!re->code) {
		(void)buf_printf(why, "error parsing regexp: expression too large: `%s`", whole);
		return RELABEL_WRONG;
	}
	re->data = pcre2_match_data_create_from_pattern(re->code, NULL);
	re->context = pcre2_match_context_create(NULL);
	re->offsets = calloc(2 * (re->groups.n + 1), sizeof(*re->offsets));
	if (!re->data || !re->context || !re->offsets)
		return -ENOMEM;
	(void)pcre2_set_heap_limit(re->context, HEAP_KIB);
	return number_groups(re, buf_str(text));
}

static int translate(struct relabel_regex *re, const char *text, struct buf *why)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(RELABEL_TEXT_MAX + 64);
	_cleanup_buf_ struct buf written = BUF_INIT(WRITTEN_MAX);
	int r;

	if (strlen(text) > RELABEL_TEXT_MAX) {
		(void)buf_printf(why, "error parsing regexp: expression too large: `%.64s`", text);
		return RELABEL_WRONG;
	}
	r = buf_printf(&whole, "^(?s:%s)$", text);
	if (r == 0)
		r = relabel_syntax_translate(buf_str(&whole), &written, why, &re->groups);
	return r == 0 ? compile(re, &written, buf_str(&whole), why) : r;
}

int relabel_regex_new(const char *text, struct buf *why, struct relabel_regex **ret_regex)
{
	_cleanup_(relabel_regex_freep) struct relabel_regex *re = calloc(1, sizeof(*re));
	int r = re ? translate(re, text, why) : -ENOMEM;

	if (r != 0)
		return r;
	re->is_all = strcmp(text, "(.*)") == 0;
	buf_init(&re->repaired, REPAIRED_MAX);
	*ret_regex = TAKE_PTR(re);
	return 0;
}

const struct relabel_groups *relabel_regex_groups(const struct relabel_regex *re)
{
	return &re->groups;
}

static int run_limited(struct relabel_regex *re, const char *text, size_t n, uint32_t n_steps)
{
	(void)pcre2_set_match_limit(re->context, n_steps);
	return pcre2_match(re->code, (PCRE2_SPTR)text, n, 0, 0, re->data, re->context);
}

/* Of the free steps, and of the memory, which only a long way takes. */
static bool is_limit(int r)
{
	return r == PCRE2_ERROR_MATCHLIMIT || r == PCRE2_ERROR_HEAPLIMIT ||
	       r == PCRE2_ERROR_DEPTHLIMIT || r == PCRE2_ERROR_NOMEMORY;
}

/* As pcre2_match, whose result is negative when there is none. */
static int run(struct relabel_regex *re, const char *text, size_t n, struct relabel_pass *pass)
{
	int r = run_limited(re, text, n, RELABEL_FREE_STEPS);

	if (r == PCRE2_ERROR_MATCHLIMIT && pass->n_steps >= RELABEL_MATCH_STEPS) {
		pass->n_steps -= RELABEL_MATCH_STEPS;
		r = run_limited(re, text, n, RELABEL_MATCH_STEPS);
	}
	pass->n_given_up += is_limit(r);
	return r;
}

/* Where `at` in the repaired text is in the text itself. */
static size_t original_offset(struct str text, size_t at)
{
	size_t repaired = 0, i = 0;

	if (at == PCRE2_UNSET)
		return RELABEL_NO_OFFSET;
	while (i < text.n && repaired < at) {
		size_t n = str_utf8_len((struct str){ text.p + i, text.n - i });

		repaired += n ? n : 3;
		i += n ? n : 1;
	}
	return i;
}

static int repair(struct buf *out, struct str text)
{
	int r = 0;

	buf_reset(out);
	for (size_t i = 0; i < text.n && r == 0;) {
		size_t n = str_utf8_len((struct str){ text.p + i, text.n - i });

		r = n ? buf_append(out, text.p + i, n) : buf_append_str(out, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
	return r;
}

/* `original` when what was matched is a repaired copy of it; `n` is of PCRE2's groups. */
static void take_spans(struct relabel_regex *re, size_t n, const struct str *original,
		       struct relabel_spans *ret_spans)
{
	const size_t *found = pcre2_get_ovector_pointer(re->data);

	*ret_spans = (struct relabel_spans){ found, n };
	if (!original && !re->is_renumbered)
		return;
	*ret_spans = (struct relabel_spans){ re->offsets, re->groups.n + 1 };
	for (size_t i = 0; i < 2 * ret_spans->n; i++) {
		size_t number = re->numbers[i / 2];
		size_t offset = number < n ? found[2 * number + i % 2] : RELABEL_NO_OFFSET;

		re->offsets[i] = original ? original_offset(*original, offset) : offset;
	}
}

/* A malformed byte is one character U+FFFD to the expression, and itself in what is taken from the text. */
static int run_repaired(struct relabel_regex *re, struct str text, struct relabel_pass *pass)
{
	if (repair(&re->repaired, text) == 0)
		return run(re, buf_str(&re->repaired), re->repaired.len, pass);
	pass->n_given_up++;
	return PCRE2_ERROR_NOMEMORY;
}

static bool match_engine(struct relabel_regex *re, struct str text, struct relabel_pass *pass,
			 struct relabel_spans *ret_spans)
{
	int r = run(re, text.p, text.n, pass);
	bool malformed = r <= PCRE2_ERROR_UTF8_ERR1 && r >= PCRE2_ERROR_UTF8_ERR21;

	if (malformed)
		r = run_repaired(re, text, pass);
	if (r <= 0)
		return false;
	take_spans(re, (size_t)r, malformed ? &text : NULL, ret_spans);
	return true;
}

bool relabel_regex_match(struct relabel_regex *re, const char *text, size_t n,
			 struct relabel_pass *pass, struct relabel_spans *ret_spans)
{
	struct relabel_spans spans = { re->all, 2 };

	re->all[1] = re->all[3] = n;
	if (!re->is_all && !match_engine(re, (struct str){ text, n }, pass, &spans))
		return false;
	if (ret_spans)
		*ret_spans = spans;
	return true;
}
