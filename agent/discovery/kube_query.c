/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the Kubernetes API. */
#include "agent/discovery/kube_query.h"

#include <string.h>

const char *kube_resource_name(enum kube_resource resource)
{
	switch (resource) {
	case KUBE_PODS:
		return "pods";
	case KUBE_NODES:
		return "nodes";
	case KUBE_NAMESPACES:
		return "namespaces";
	}
	return "";
}

static bool given(const char *text)
{
	return text && *text;
}

/* RFC 3986 §2.3: all that never needs to be escaped. */
static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-._~", c));
}

static int escape(struct buf *out, const char *text)
{
	int r = 0;

	for (const char *c = text; r == 0 && *c; c++)
		r = is_unreserved(*c) ? buf_append_char(out, *c)
				      : buf_printf(out, "%%%02X", (unsigned char)*c);
	return r;
}

static int put_parameter(struct buf *out, const char *name, const char *value)
{
	int r = given(value) ? buf_printf(out, "&%s=", name) : 0;

	return r == 0 && given(value) ? escape(out, value) : r;
}

static int put_namespace(const char *namespace, struct buf *out)
{
	int r = buf_append_str(out, "namespaces/");

	if (r < 0)
		return r;
	r = escape(out, namespace);
	return r < 0 ? r : buf_append_char(out, '/');
}

static int put_path(const struct kube_query *q, struct buf *out)
{
	int r = buf_append_str(out, "/api/v1/");

	if (r < 0)
		return r;
	if (q->resource == KUBE_PODS && given(q->namespace)) {
		r = put_namespace(q->namespace, out);
		if (r < 0)
			return r;
	}
	return buf_append_str(out, kube_resource_name(q->resource));
}

static int put_selectors(const struct kube_query *q, struct buf *out)
{
	int r = put_parameter(out, "fieldSelector", q->field_selector);

	return r < 0 ? r : put_parameter(out, "labelSelector", q->label_selector);
}

/* A page's token stands for the version of its first page, so only one of them may be said. */
int kube_query_list(const struct kube_query *q, const char *version, const char *next,
		    struct buf *out)
{
	int r = put_path(q, out);

	if (r < 0)
		return r;
	r = buf_printf(out, "?limit=%d", KUBE_PAGE_OBJECTS);
	if (r < 0)
		return r;
	r = put_selectors(q, out);
	if (r < 0)
		return r;
	return given(next) ? put_parameter(out, "continue", next)
			   : put_parameter(out, "resourceVersion", version);
}

int kube_query_watch(const struct kube_query *q, const char *version, unsigned int seconds,
		     struct buf *out)
{
	int r = put_path(q, out);

	if (r < 0)
		return r;
	r = buf_printf(out, "?watch=1&allowWatchBookmarks=true&timeoutSeconds=%u", seconds);
	if (r < 0)
		return r;
	r = put_selectors(q, out);
	return r < 0 ? r : put_parameter(out, "resourceVersion", version);
}

/* field-selector = term { "," term }   term = path ( "=" | "==" | "!=" ) value   In a value, '\' escapes: then it is none we know. */
bool kube_selector_node(const char *field_selector, struct str *ret_node)
{
	struct str rest = str_from(field_selector);
	struct str term;

	if (!field_selector || strchr(field_selector, '\\'))
		return false;
	while (str_split(&rest, ',', &term)) {
		struct str value = str_trim(term), path;

		if (!str_split(&value, '=', &path) || !value.p ||
		    !str_eq(str_trim(path), STR_LIT("spec.nodeName")))
			continue;
		if (str_starts_with(value, STR_LIT("=")))
			value = (struct str){ value.p + 1, value.n - 1 };
		*ret_node = str_trim(value);
		return true;
	}
	return false;
}
