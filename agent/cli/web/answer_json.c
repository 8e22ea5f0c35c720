/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as the body of an answer. */
#include "agent/cli/web/answer_json.h"

static int put_bytes(const char *bytes, size_t n, void *data)
{
	return buf_append(data, bytes, n);
}

void answer_json(struct http_answer *answer, json_t *json)
{
	answer->content_type = "application/json";
	if (!json || json_dump_callback(json, put_bytes, &answer->body, JSON_COMPACT) < 0)
		answer->body.failed = true;
	(void)buf_append_char(&answer->body, '\n');
	json_decref(json);
}
