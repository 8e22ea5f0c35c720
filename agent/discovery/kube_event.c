/* SPDX-License-Identifier: Apache-2.0 */
/* What the Kubernetes API says in a list and in a watch. */
#include "agent/discovery/kube_event.h"

#include <limits.h>
#include <string.h>

#include "agent/util/macro.h"

/* RFC 9110 §15.5.11 */
#define STATUS_GONE 410

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

struct kube_status kube_status_read(const json_t *json)
{
	struct kube_status status = { .reason = "", .message = "" };
	json_int_t code = json_integer_value(json_object_get(json, "code"));

	if (strcmp(text_of(json, "kind"), "Status") != 0)
		return status;
	status.code = code > 0 && code <= INT_MAX ? (unsigned int)code : 0;
	status.reason = text_of(json, "reason");
	status.message = text_of(json, "message");
	return status;
}

/* "Gone" is what servers before 1.8 called it. */
bool kube_status_is_gone(const struct kube_status *status)
{
	return status->code == STATUS_GONE || strcmp(status->reason, "Expired") == 0 ||
	       strcmp(status->reason, "Gone") == 0;
}

static enum kube_event_kind kind_of(const char *type)
{
	static const struct {
		const char *type;
		enum kube_event_kind kind;
	} kinds[] = {
		{ "ADDED", KUBE_EVENT_CHANGED },   { "MODIFIED", KUBE_EVENT_CHANGED },
		{ "DELETED", KUBE_EVENT_DELETED }, { "BOOKMARK", KUBE_EVENT_BOOKMARK },
		{ "ERROR", KUBE_EVENT_ERROR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].kind;
	return KUBE_EVENT_UNKNOWN;
}

static const char *version_of(const json_t *object)
{
	return text_of(json_object_get(object, "metadata"), "resourceVersion");
}

/* What has no object is no event, but an error says enough by being one. */
struct kube_event kube_event_read(const json_t *json)
{
	json_t *object = json_object_get(json, "object");
	struct kube_event event = { .kind = kind_of(text_of(json, "type")), .version = "" };

	if (event.kind == KUBE_EVENT_ERROR)
		event.status = kube_status_read(object);
	else if (!json_is_object(object))
		event.kind = KUBE_EVENT_UNKNOWN;
	else
		event.version = version_of(object);
	event.object = json_is_object(object) ? object : NULL;
	return event;
}

struct kube_page kube_page_read(const json_t *rest)
{
	return (struct kube_page){
		.version = version_of(rest),
		.next = text_of(json_object_get(rest, "metadata"), "continue"),
	};
}
