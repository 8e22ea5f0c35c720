/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer means for a profile. */
#include "agent/push/verdict.h"

#include <string.h>
#include <strings.h>

#include "agent/push/connect_error.h"
#include "agent/util/str.h"

/* Enough of a plain-text answer to recognise it; HTML pages of proxies say less than their status.
 */
#define PUSH_MAX_QUOTE_BYTES 256

bool push_content_type_is(const char *content_type, const char *type)
{
	size_t n = strcspn(content_type, "; \t");

	return n == strlen(type) && strncasecmp(content_type, type, n) == 0;
}

static bool push_is_connect_answer(const char *content_type)
{
	return push_content_type_is(content_type, "application/proto") ||
	       push_content_type_is(content_type, "application/json");
}

static enum push_verdict push_judge_success(const struct http_result *result)
{
	if (push_is_connect_answer(result->content_type))
		return PUSH_SENT;
	return result->content_type[0] == '\0' ? PUSH_RETRY : PUSH_DROP;
}

static enum push_verdict push_judge_status(const struct http_result *result, enum connect_code code,
					   bool retry_on_http_429)
{
	switch (result->status) {
	case 200 ... 299:
		return push_judge_success(result);
	case 408:
		return PUSH_RETRY;
	case 409:
		return code == CONNECT_aborted ? PUSH_RETRY : PUSH_DROP;
	case 429:
		return retry_on_http_429 ? PUSH_RETRY : PUSH_DROP;
	case 501: /* not implemented */
	case 505: /* HTTP version not supported */
		return PUSH_DROP;
	case 500:
	case 502 ... 504:
	case 506 ... 599:
		return PUSH_RETRY;
	default:
		return PUSH_DROP;
	}
}

void push_quote_text(const struct http_result *result, char *quote, size_t n_quote)
{
	struct str line = { NULL, 0 }, rest = { result->body, result->n_body };

	quote[0] = '\0';
	if (result->n_body > 0 && push_content_type_is(result->content_type, "text/plain") &&
	    str_split(&rest, '\n', &line))
		str_copy_utf8(quote, n_quote, str_trim(line));
}

static void push_explain_status(const struct http_result *result, const struct connect_error *error,
				struct push_reason *reason)
{
	char quote[PUSH_MAX_QUOTE_BYTES];
	char type[64];

	push_quote_text(result, quote, sizeof(quote));
	str_copy_utf8(type, sizeof(type), str_from(result->content_type));
	if (error)
		(void)snprintf(reason->text, sizeof(reason->text), "%u %s: %s", result->status,
			       connect_code_name(error->code), error->message);
	else if (quote[0])
		(void)snprintf(reason->text, sizeof(reason->text), "%u: %s", result->status, quote);
	else if (result->status / 100 == 2)
		(void)snprintf(reason->text, sizeof(reason->text),
			       "%u, but the answer is not Pyroscope's (content type \"%s\")",
			       result->status, type);
	else if (result->status / 100 == 3)
		(void)snprintf(reason->text, sizeof(reason->text),
			       "%u: redirected, which was not followed", result->status);
	else
		(void)snprintf(reason->text, sizeof(reason->text), "%u (content type \"%s\")",
			       result->status, type);
}

bool push_has_answer(const struct http_result *result)
{
	return (result->outcome == HTTP_DONE || result->outcome == HTTP_TOO_LARGE) &&
	       result->status != 0;
}

enum push_verdict push_judge(const struct http_result *result, bool retry_on_http_429,
			     struct push_reason *ret_reason)
{
	struct connect_error error = { .code = CONNECT_NONE };

	if (!push_has_answer(result)) {
		str_copy_utf8(ret_reason->text, sizeof(ret_reason->text), str_from(result->error));
		return PUSH_RETRY;
	}
	bool connect = result->status / 100 != 2 &&
		       connect_error_parse((struct str){ result->body, result->n_body }, &error);
	enum push_verdict verdict = push_judge_status(result, error.code, retry_on_http_429);
	ret_reason->text[0] = '\0';
	if (verdict != PUSH_SENT)
		push_explain_status(result, connect ? &error : NULL, ret_reason);
	return verdict;
}
