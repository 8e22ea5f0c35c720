/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON error of the Connect protocol. */
#include "agent/push/connect_error.h"

#include <jansson.h>

static const char *const connect_code_names[] = { [CONNECT_NONE] = "none",
#define CONNECT_CODE_NAME(name) [CONNECT_##name] = #name,
						  CONNECT_CODES(CONNECT_CODE_NAME)
#undef CONNECT_CODE_NAME
};

const char *connect_code_name(enum connect_code code)
{
	return code < CONNECT_CODE_MAX ? connect_code_names[code]
				       : connect_code_names[CONNECT_NONE];
}

static enum connect_code connect_code_from(const char *name)
{
	for (int code = CONNECT_NONE + 1; code < CONNECT_CODE_MAX; code++)
		if (strcmp(connect_code_names[code], name) == 0)
			return (enum connect_code)code;
	return CONNECT_NONE;
}

bool connect_error_parse(struct str body, struct connect_error *ret_error)
{
	struct connect_error error = { .code = CONNECT_NONE };

	if (body.n == 0 || body.n > CONNECT_ERROR_MAX_BYTES)
		return false;
	/* Depth is bounded by jansson itself (JSON_PARSER_MAX_DEPTH, 2048). */
	json_t *root = json_loadb(body.p, body.n, JSON_ALLOW_NUL, NULL);
	const char *code = json_string_value(json_object_get(root, "code"));
	json_t *message = json_object_get(root, "message");
	if (code)
		error.code = connect_code_from(code);
	if (code && json_is_string(message))
		str_copy_utf8(
			error.message, sizeof(error.message),
			(struct str){ json_string_value(message), json_string_length(message) });
	bool ok = code != NULL;
	json_decref(root);
	if (ok)
		*ret_error = error;
	return ok;
}
