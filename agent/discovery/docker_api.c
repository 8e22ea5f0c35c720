/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to Docker's API, and what its answers mean. */
#include "agent/discovery/docker_api.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "agent/http/url.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

/* The minor of API 1.x that we ask for: the oldest that Docker 29 still speaks, known since Docker 25. */
#define KNOWN_MINOR 44
/* What is shown of a message of the daemon. */
#define QUOTE_MAX_BYTES 300

static int start(struct http_client *http, const struct docker_server *server,
		 struct http_request_options *o, http_done_fn done, void *data, char *error,
		 struct http_request **ret_request)
{
	_cleanup_(http_secrets_fini) struct http_secrets secrets = HTTP_SECRETS_INIT;
	int r = http_secrets_read(&server->credentials, &secrets, o, error);

	if (r < 0)
		return r;
	return http_request_start(http, o, done, data, ret_request);
}

int docker_api_get(struct http_client *http, const struct docker_server *server, const char *path,
		   const struct http_request_options *own, http_done_fn done, void *data,
		   char *error, struct http_request **ret_request)
{
	_cleanup_buf_ struct buf url = BUF_INIT(2 * URL_MAX_BYTES);
	struct http_request_options o = server->request;

	*error = '\0';
	int r = buf_printf(&url, "%s%s", server->request.url, path);
	if (r == -ENOBUFS || url.len > URL_MAX_BYTES) {
		(void)snprintf(
			error, HTTP_MAX_ERROR_BYTES,
			"cannot ask Docker: the URL with its filters is longer than %d bytes",
			URL_MAX_BYTES);
		return -E2BIG;
	}
	o.url = buf_str(&url);
	o.on_data = own->on_data;
	o.on_open = own->on_open;
	o.timeout_ns = own->timeout_ns;
	o.max_response_bytes = DOCKER_MAX_ANSWER_BYTES;
	if (r == 0)
		r = start(http, server, &o, done, data, error, ret_request);
	if (r < 0 && !*error)
		(void)snprintf(error, HTTP_MAX_ERROR_BYTES, "cannot ask Docker: %s",
			       strerrordesc_np(-r));
	return r;
}

int docker_api_escape(struct buf *out, const char *text)
{
	int r = 0;

	for (; r == 0 && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (isalnum(c) || strchr("-._~", c))
			r = buf_append_char(out, (char)c);
		else
			r = buf_printf(out, "%%%02X", c);
	}
	return r;
}

void docker_api_version(const char *api_version, bool newest, char *ret_path)
{
	struct str s = str_from(api_version);
	uint64_t minor = 0;

	*ret_path = '\0';
	if (!str_starts_with(s, STR_LIT("1.")))
		return;
	s = (struct str){ s.p + 2, s.n - 2 };
	if (str_parse_u64(s, 10, 9999, &minor) < 0)
		return;
	if (!newest)
		minor = MIN_OF(minor, (uint64_t)KNOWN_MINOR);
	(void)snprintf(ret_path, DOCKER_VERSION_MAX_BYTES, "/v1.%u", (unsigned int)minor);
}

/* {"message":"client version 1.12 is too old"}, or a text of somebody in between. */
static void quote(const struct http_result *result, char *out)
{
	json_t *object = json_loadb(result->body, result->n_body, JSON_DISABLE_EOF_CHECK, NULL);
	const char *message = json_string_value(json_object_get(object, "message"));
	struct str text = str_trim(message ? str_from(message)
					   : (struct str){ result->body, result->n_body });

	str_copy_utf8(out, QUOTE_MAX_BYTES, text);
	json_decref(object);
}

bool docker_api_succeeded(const struct http_result *result, const char *question, char *why)
{
	char text[QUOTE_MAX_BYTES];

	if (result->outcome == HTTP_DONE && result->status / 100 == 2)
		return true;
	if (result->outcome == HTTP_DONE) {
		quote(result, text);
		(void)snprintf(why, HTTP_MAX_ERROR_BYTES, "%s was answered with %u%s%s", question,
			       result->status, *text ? ": " : "", text);
	} else {
		(void)snprintf(why, HTTP_MAX_ERROR_BYTES, "%s", result->error);
	}
	return false;
}

json_t *docker_api_json(const struct http_result *result, const char *question, char *why)
{
	json_error_t error;

	if (!docker_api_succeeded(result, question, why))
		return NULL;
	json_t *json = json_loadb(result->body, result->n_body, 0, &error);
	if (!json)
		(void)snprintf(why, HTTP_MAX_ERROR_BYTES, "%s was not answered with JSON: %s",
			       question, error.text);
	return json;
}

/* Also Podman's words ("died", "remove"). What else there is (create, exec_start, attach …) changes
 * nothing of what runs. */
static const char *const actions[] = {
	"start",   "restart", "stop",	"die",	  "died",    "destroy",	   "pause",
	"unpause", "rename",  "update", "remove", "connect", "disconnect",
};

bool docker_event_matters(const json_t *event)
{
	const char *type = json_string_value(json_object_get(event, "Type"));
	const char *action = json_string_value(json_object_get(event, "Action"));

	if (!type || !action || (strcmp(type, "container") != 0 && strcmp(type, "network") != 0))
		return false;
	/* "health_status: healthy": a filter may ask for it. */
	if (str_starts_with(str_from(action), STR_LIT("health_status")))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (strcmp(actions[i], action) == 0)
			return true;
	return false;
}
