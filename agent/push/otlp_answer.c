/* SPDX-License-Identifier: Apache-2.0 */
/* What servers of OTLP say in an answer. */
#include "agent/push/otlp_answer.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "agent/push/otlp_request.pb-c.h"
#include "agent/util/macro.h"

#define TEXT_MAX_BYTES 512

/* Words without a number are a warning: all was taken. */
static enum push_verdict judge(int64_t n_rejected, const char *words, struct push_reason *reason)
{
	char text[TEXT_MAX_BYTES];

	reason->text[0] = '\0';
	if (n_rejected <= 0)
		return PUSH_SENT;
	str_copy_utf8(text, sizeof(text), str_from(words));
	(void)snprintf(reason->text, sizeof(reason->text),
		       "200, but %" PRId64 " profiles were rejected: %s", n_rejected, text);
	return PUSH_DROP;
}

static enum push_verdict no_answer(struct push_reason *reason)
{
	(void)snprintf(reason->text, sizeof(reason->text), "200, but the answer cannot be read");
	return PUSH_RETRY;
}

enum push_verdict otlp_answer_judge(struct str message, struct push_reason *ret_reason)
{
	Otlp__Push__ExportProfilesServiceResponse *r =
		otlp__push__export_profiles_service_response__unpack(NULL, message.n,
								     (const uint8_t *)message.p);

	if (!r)
		return no_answer(ret_reason);
	const Otlp__Push__ExportProfilesPartialSuccess *p = r->partial_success;
	enum push_verdict verdict =
		judge(p ? p->rejected_profiles : 0, p ? p->error_message : "", ret_reason);
	otlp__push__export_profiles_service_response__free_unpacked(r, NULL);
	return verdict;
}

/* Numbers of 64 bits are texts in the JSON of protobuf. */
static int64_t number_of(const json_t *value)
{
	const char *text = json_string_value(value);
	uint64_t n = 0;

	if (!text)
		return json_integer_value(value);
	return str_parse_u64(str_from(text), 10, INT64_MAX, &n) == 0 ? (int64_t)n : 0;
}

enum push_verdict otlp_answer_judge_json(struct str message, struct push_reason *ret_reason)
{
	json_t *root = json_loadb(message.p, message.n, 0, NULL);

	if (!json_is_object(root)) {
		json_decref(root);
		return no_answer(ret_reason);
	}
	const json_t *p = json_object_get(root, "partialSuccess");
	const char *words = json_string_value(json_object_get(p, "errorMessage"));
	enum push_verdict verdict = judge(number_of(json_object_get(p, "rejectedProfiles")),
					  words ? words : "", ret_reason);
	json_decref(root);
	return verdict;
}

bool otlp_status_text(struct str message, char *text, size_t n)
{
	Otlp__Push__Status *s =
		otlp__push__status__unpack(NULL, message.n, (const uint8_t *)message.p);

	*text = '\0';
	if (!s)
		return false;
	str_copy_utf8(text, n, str_from(s->message));
	otlp__push__status__free_unpacked(s, NULL);
	return *text != '\0';
}

/* Codes of Connect that are about what was sent, or about who sends it. */
static const char *const codes_for_good[] = {
	": invalid_argument: ",	 ": not_found: ",	": already_exists: ",
	": out_of_range: ",	 ": unimplemented: ",	": failed_precondition: ",
	": permission_denied: ", ": unauthenticated: ",
};

bool otlp_is_later(const char *text, bool retry_when_exhausted)
{
	static const char wrapper[] = "failed to make a GRPC request: ";

	if (strncmp(text, wrapper, sizeof(wrapper) - 1) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(codes_for_good); i++)
		if (strstr(text, codes_for_good[i]))
			return false;
	return retry_when_exhausted || !strstr(text, ": resource_exhausted: ");
}
