/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions of JSON path filters, by PCRE2.
 *
 * Go's regular expressions take time linear in the text; PCRE2's may take very long, so a match that
 * makes too many attempts is none. Where both differ in meaning, options ask for Go's.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "river-config/json_path_filter.h"

/* A thousand times what usual patterns need for a text of a line. */
#define ATTEMPTS_MAX 100000
#define DEPTH_MAX 1000
#define HEAP_MAX_KIB 1024
#define PATTERN_MAX_BYTES 65536

static pcre2_code *compile(const char *pattern, size_t len, uint32_t more, int *ret_error)
{
	const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | more;
	size_t ignored;

	*ret_error = PCRE2_ERROR_NOMEMORY;
	if (len > PATTERN_MAX_BYTES)
		return NULL;
	return pcre2_compile((PCRE2_SPTR)pattern, len, options, ret_error, &ignored, NULL);
}

const char *river_regex_check(const char *pattern, size_t len, struct river_arena *arena)
{
	struct river_text t = RIVER_TEXT_INIT(arena);
	const char *problem;
	char why[256];
	int error;
	pcre2_code *code = compile(pattern, len, 0, &error);

	if (code) {
		pcre2_code_free(code);
		return NULL;
	}
	if (pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why)) < 0)
		why[0] = '\0';
	river_text_printf(&t, "error parsing regexp: %s: `", why);
	river_text_append(&t, pattern, len);
	river_text_char(&t, '`');
	problem = river_text_take(&t);
	return problem ? problem : "error parsing regexp";
}

static int match(const pcre2_code *code, const struct river_value *text)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	int r = PCRE2_ERROR_NOMEMORY;

	if (data && context) {
		pcre2_set_match_limit(context, ATTEMPTS_MAX);
		pcre2_set_depth_limit(context, DEPTH_MAX);
		pcre2_set_heap_limit(context, HEAP_MAX_KIB);
		r = pcre2_match(code, (PCRE2_SPTR)text->string.text, text->string.len, 0, 0, data,
				context);
	}
	pcre2_match_context_free(context);
	pcre2_match_data_free(data);
	return r;
}

bool river_regex_matches(const struct river_value *pattern, const struct river_value *text,
			 enum river_regex_mode mode)
{
	uint32_t more = mode == RIVER_REGEX_WHOLE ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0;
	int error, r;
	pcre2_code *code = compile(pattern->string.text, pattern->string.len, more, &error);

	if (!code)
		return false;
	r = match(code, text);
	pcre2_code_free(code);
	/* 0: a match, and more groups than there was room for. */
	return r >= 0;
}
