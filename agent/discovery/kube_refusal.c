/* SPDX-License-Identifier: Apache-2.0 */
/* Why the Kubernetes API did not answer. */
#include "agent/discovery/kube_refusal.h"

/* RFC 9110 §15.5 */
enum { UNAUTHORIZED = 401, FORBIDDEN = 403, NOT_FOUND = 404 };

static void put_scope(const struct kube_query *q, struct buf *out)
{
	if (q->resource == KUBE_PODS && q->namespace && *q->namespace)
		(void)buf_printf(out, "in namespace %s", q->namespace);
	else
		(void)buf_append_str(out, "of the whole cluster");
}

static void put_message(const struct kube_status *status, struct buf *out)
{
	char text[KUBE_REFUSAL_MAX_MESSAGE];

	str_copy_utf8(text, sizeof(text), str_from(status->message));
	if (*text)
		(void)buf_printf(out, ": %s", text);
}

/* A Role suffices in one namespace; what a ClusterRole allows holds in all of them. */
static void put_rules(const struct kube_query *q, struct buf *out)
{
	bool one = q->resource == KUBE_PODS && q->namespace && *q->namespace;

	(void)buf_printf(out,
			 "; its account needs a %s with: apiGroups: [\"\"], resources: [\"%s\"], "
			 "verbs: [\"get\", \"list\", \"watch\"]",
			 one ? "Role or ClusterRole" : "ClusterRole",
			 kube_resource_name(q->resource));
}

static void put_status(const struct kube_query *q, const char *verb, unsigned int status,
		       const struct kube_status *why, struct buf *out)
{
	const char *name = kube_resource_name(q->resource);

	switch (status) {
	case UNAUTHORIZED:
		(void)buf_append_str(out,
				     "the API server does not accept who we are (401); a token "
				     "file is read again for each request");
		break;
	case FORBIDDEN:
		(void)buf_printf(out, "not allowed to %s %s ", verb, name);
		put_scope(q, out);
		(void)buf_append_str(out, " (403)");
		put_rules(q, out);
		break;
	case NOT_FOUND:
		(void)buf_printf(out,
				 "cannot %s %s (404): this is not the address of an API server",
				 verb, name);
		break;
	default:
		(void)buf_printf(out, "cannot %s %s (%u)", verb, name, status);
	}
	put_message(why, out);
}

void kube_refusal_describe(const struct kube_query *q, const char *verb,
			   const struct http_result *result, struct buf *out)
{
	json_t *body;
	struct kube_status why;

	if (result->outcome != HTTP_DONE) {
		(void)buf_printf(out, "cannot %s %s: %.512s", verb, kube_resource_name(q->resource),
				 result->error);
		return;
	}
	body = json_loadb(result->body, result->n_body, 0, NULL);
	why = kube_status_read(body);
	put_status(q, verb, result->status, &why, out);
	json_decref(body);
}

void kube_refusal_describe_event(const struct kube_query *q, const struct kube_status *status,
				 struct buf *out)
{
	put_status(q, "watch", status->code, status, out);
}

bool kube_refusal_is_gone(const struct http_result *result)
{
	struct kube_status status = { .code = result->status, .reason = "" };

	return result->outcome == HTTP_DONE && kube_status_is_gone(&status);
}
