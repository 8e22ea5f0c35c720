/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions on PCRE2. */
#include "agent/target/relabel_regex.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "agent/util/macro.h"

/* PCRE2's code of it, as distributions build it (2 bytes a link), has at most 64 KiB, too. */
#define TEXT_MAX ((size_t)64 * 1024)
/* Of a text that is cited. */
#define CITED_MAX 256
/* KiB that one match may take for the places it may go back to; kept with the expression. */
#define HEAP_KIB 4096

struct relabel_regex {
	bool is_all; /* (.*) needs no engine */
	size_t all[4];
	struct buf text; /* for PCRE2 */
	uint32_t n_groups;
	pcre2_code *code;
	pcre2_code *bytes_code; /* for text that is no UTF-8; NULL until there was one */
	pcre2_match_data *data;
	pcre2_match_context *context;
};

void relabel_regex_free(struct relabel_regex *re)
{
	if (!re)
		return;
	pcre2_match_data_free(re->data);
	pcre2_match_context_free(re->context);
	pcre2_code_free(re->code);
	pcre2_code_free(re->bytes_code);
	buf_fini(&re->text);
	free(re);
}

static pcre2_code *compile(const struct buf *text, uint32_t more, int *ret_error)
{
	const uint32_t options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL |
				 PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_CIRCUMFLEX | PCRE2_DUPNAMES;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_code *code = NULL;
	size_t at;

	*ret_error = PCRE2_ERROR_HEAP_FAILED;
	if (context) {
		(void)pcre2_set_newline(context, PCRE2_NEWLINE_LF);
		code = pcre2_compile((PCRE2_SPTR)buf_str(text), text->len, options | more,
				     ret_error, &at, context);
	}
	pcre2_compile_context_free(context);
	return code;
}

static int refuse(int error, const char *text, struct buf *why)
{
	char problem[256] = "";

	if (error == PCRE2_ERROR_HEAP_FAILED)
		return -ENOMEM;
	(void)pcre2_get_error_message(error, (PCRE2_UCHAR *)problem, sizeof(problem));
	(void)buf_printf(why, "error parsing regexp: %s: `%.*s`", problem, CITED_MAX, text);
	return RELABEL_WRONG;
}

static int init(struct relabel_regex *re, const char *text, struct buf *why)
{
	int r, error;

	if (strlen(text) > TEXT_MAX)
		return refuse(PCRE2_ERROR_PATTERN_TOO_LARGE, text, why);
	buf_init(&re->text, 2 * TEXT_MAX);
	r = relabel_syntax_translate(text, &re->text, why);
	if (r != 0)
		return r;
	re->code = compile(&re->text, PCRE2_UTF, &error);
	if (!re->code)
		return refuse(error, text, why);
	re->data = pcre2_match_data_create_from_pattern(re->code, NULL);
	re->context = pcre2_match_context_create(NULL);
	if (!re->data || !re->context)
		return -ENOMEM;
	(void)pcre2_set_heap_limit(re->context, HEAP_KIB);
	return pcre2_pattern_info(re->code, PCRE2_INFO_CAPTURECOUNT, &re->n_groups);
}

int relabel_regex_new(const char *text, struct buf *why, struct relabel_regex **ret_regex)
{
	_cleanup_(relabel_regex_freep) struct relabel_regex *re = calloc(1, sizeof(*re));
	int r = re ? init(re, text, why) : -ENOMEM;

	if (r != 0)
		return r;
	re->is_all = strcmp(text, "(.*)") == 0;
	*ret_regex = TAKE_PTR(re);
	return 0;
}

size_t relabel_regex_n_groups(const struct relabel_regex *re)
{
	return re->n_groups;
}

/* Of PCRE2's table: entries of one size, a number of two bytes and a name each, in the order of names and numbers. */
size_t relabel_regex_named(const struct relabel_regex *re, struct str name,
			   const struct relabel_spans *spans)
{
	const uint8_t *entry = NULL;
	uint32_t n = 0, size = 0;

	(void)pcre2_pattern_info(re->code, PCRE2_INFO_NAMECOUNT, &n);
	(void)pcre2_pattern_info(re->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
	(void)pcre2_pattern_info(re->code, PCRE2_INFO_NAMETABLE, &entry);
	for (; n > 0; n--, entry += size) {
		size_t group = (size_t)entry[0] << 8 | entry[1];

		if (str_eq(str_from((const char *)entry + 2), name) && group < spans->n &&
		    spans->offsets[2 * group] != RELABEL_NO_OFFSET)
			return group;
	}
	return SIZE_MAX;
}

static int run_limited(struct relabel_regex *re, const pcre2_code *code, struct str text,
		       uint32_t n_steps)
{
	(void)pcre2_set_match_limit(re->context, n_steps);
	return pcre2_match(code, (PCRE2_SPTR)text.p, text.n, 0, 0, re->data, re->context);
}

/* Of the free steps, and of the memory, which only a long way takes. */
static bool is_limit(int r)
{
	return r == PCRE2_ERROR_MATCHLIMIT || r == PCRE2_ERROR_HEAPLIMIT ||
	       r == PCRE2_ERROR_DEPTHLIMIT || r == PCRE2_ERROR_NOMEMORY;
}

/* As pcre2_match, whose result is negative when there is none. */
static int run(struct relabel_regex *re, const pcre2_code *code, struct str text,
	       struct relabel_pass *pass)
{
	int r = run_limited(re, code, text, RELABEL_FREE_STEPS);

	if (r == PCRE2_ERROR_MATCHLIMIT && pass->n_steps >= RELABEL_MATCH_STEPS) {
		pass->n_steps -= RELABEL_MATCH_STEPS;
		r = run_limited(re, code, text, RELABEL_MATCH_STEPS);
	}
	pass->n_given_up += is_limit(r);
	return r;
}

/* Of text that is no UTF-8 each byte is a character. */
static int run_bytes(struct relabel_regex *re, struct str text, struct relabel_pass *pass)
{
	int error;

	if (!re->bytes_code)
		re->bytes_code = compile(&re->text, 0, &error);
	if (re->bytes_code)
		return run(re, re->bytes_code, text, pass);
	/* It names characters that are no byte. */
	pass->n_given_up++;
	return PCRE2_ERROR_NOMATCH;
}

static bool match_engine(struct relabel_regex *re, struct str text, struct relabel_pass *pass,
			 struct relabel_spans *ret_spans)
{
	int r = run(re, re->code, text, pass);

	if (r <= PCRE2_ERROR_UTF8_ERR1 && r >= PCRE2_ERROR_UTF8_ERR21)
		r = run_bytes(re, text, pass);
	if (r <= 0)
		return false;
	*ret_spans = (struct relabel_spans){ pcre2_get_ovector_pointer(re->data), (size_t)r };
	return true;
}

bool relabel_regex_match(struct relabel_regex *re, const char *text, size_t n,
			 struct relabel_pass *pass, struct relabel_spans *ret_spans)
{
	struct relabel_spans spans = { re->all, 2 };

	assert(text || n == 0);
	re->all[1] = re->all[3] = n;
	if (!re->is_all && !match_engine(re, (struct str){ text, n }, pass, &spans))
		return false;
	if (ret_spans)
		*ret_spans = spans;
	return true;
}
