/* SPDX-License-Identifier: Apache-2.0 */
/* Why a kubelet did not answer. Its certificate is its own, its port is the node's, and it asks the API server who may do what. */
#include "agent/discovery/kubelet_refusal.h"

#include "agent/util/str.h"

/* RFC 9110 §15 */
enum { OK = 200, UNAUTHORIZED = 401, FORBIDDEN = 403 };

/* A kubelet says in one line who asked for what. */
#define MESSAGE_MAX_BYTES 256

#define TOKEN_FILE "/var/run/secrets/kubernetes.io/serviceaccount/token"

static void put_unauthorized(const struct http_credentials *c, struct buf *out)
{
	const char *file =
		c->bearer_token_file ? c->bearer_token_file : c->authorization_credentials_file;

	(void)buf_append_str(out, "the kubelet does not accept who we are (401)");
	if (file)
		(void)buf_printf(out,
				 "; it must know the token in %s, and have "
				 "authentication.webhook.enabled",
				 file);
	else if (c->bearer_token || c->authorization_credentials || c->basic_username)
		(void)buf_append_str(out,
				     "; are the credentials those of an account of this cluster?");
	else
		(void)buf_append_str(out, "; in a pod set bearer_token_file = \"" TOKEN_FILE "\"");
}

static void put_status(const struct http_result *result, const struct http_credentials *c,
		       struct buf *out)
{
	switch (result->status) {
	case UNAUTHORIZED:
		put_unauthorized(c, out);
		break;
	case FORBIDDEN:
		(void)buf_append_str(out, "not allowed to list the pods of the node (403); the "
					  "account needs a ClusterRole with: apiGroups: [\"\"], "
					  "resources: [\"nodes/proxy\"], verbs: [\"get\"]");
		break;
	default:
		(void)buf_printf(out, "the kubelet answered with status %u", result->status);
	}
}

static void put_message(const struct http_result *result, struct buf *out)
{
	struct str rest = str_trim((struct str){ result->body, result->n_body });
	char text[MESSAGE_MAX_BYTES];
	struct str line;

	if (!str_split(&rest, '\n', &line))
		return;
	str_copy_utf8(text, sizeof(text), str_trim(line));
	if (*text)
		(void)buf_printf(out, ": %s", text);
}

static const char *advice_of(enum http_outcome outcome)
{
	switch (outcome) {
	case HTTP_TLS_FAILED:
		return "; a kubelet signs its certificate itself, for its node's name: set "
		       "tls_config "
		       "{ ca_file, server_name }, or insecure_skip_verify = true there";
	case HTTP_CONNECT_FAILED:
		return "; localhost is the node in a pod with hostNetwork alone: else set url to "
		       "the "
		       "node's address";
	case HTTP_DONE:
	case HTTP_TIMEOUT:
	case HTTP_RESOLVE_FAILED:
	case HTTP_TOO_LARGE:
	case HTTP_BROKEN:
	case HTTP_STOPPED:
	case HTTP_FAILED:
	case HTTP_OUTCOME_MAX:
		break;
	}
	return "";
}

void kubelet_refusal_describe(const struct http_result *result, const struct http_credentials *c,
			      struct buf *out)
{
	if (result->outcome != HTTP_DONE) {
		(void)buf_printf(out, "%s%s", result->error, advice_of(result->outcome));
	} else if (result->status != OK) {
		put_status(result, c, out);
		put_message(result, out);
	}
}
