/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of /ingest that go on as they came. */
#include "agent/push/relay.h"

#include <errno.h>
#include <string.h>

#include "agent/http/url.h"

#define NAME "__name__"
#define NAME_MAX_BYTES ((size_t)512 << 10)

static const char *find(const struct push_profile *p, const char *name)
{
	for (size_t i = 0; i < p->n_labels; i++)
		if (strcmp(p->labels[i].name, name) == 0)
			return p->labels[i].value;
	return NULL;
}

const char *push_relay_of(const struct push_profile *profile)
{
	return find(profile, PUSH_RELAY_LABEL);
}

int push_relay_type(const char *relay, struct buf *out)
{
	return buf_append(out, relay, strcspn(relay, "\n"));
}

/* A value ends at these, so they cannot be in one. */
static void put_pair(const struct push_label *l, bool first, struct buf *out)
{
	(void)buf_printf(out, "%s%s=", first ? "" : ",", l->name);
	for (const char *c = l->value; *c; c++)
		(void)buf_append_char(out, strchr(",}", *c) ? '_' : *c);
}

/* The server takes the app for the service; another one beside it would be a label more. */
static bool is_app(const struct push_label *l, const char *app)
{
	return app && strcmp(l->name, "service_name") == 0 && strcmp(l->value, app) == 0;
}

/* "app{key=value,…}" */
static void put_name(const struct push_profile *p, struct buf *out)
{
	const char *app = find(p, NAME);
	bool first = true;

	(void)buf_printf(out, "%s{", app ? app : "unknown");
	for (size_t i = 0; i < p->n_labels; i++) {
		if (strncmp(p->labels[i].name, "__", 2) == 0 || is_app(&p->labels[i], app))
			continue;
		put_pair(&p->labels[i], first, out);
		first = false;
	}
	(void)buf_append_char(out, '}');
}

int push_relay_url(const struct push_profile *profile, const char *endpoint, struct buf *out)
{
	const char *query = strchr(push_relay_of(profile), '\n');
	_cleanup_buf_ struct buf name = BUF_INIT(NAME_MAX_BYTES);
	struct url url;

	if (url_parse(str_from(endpoint), &url) != URL_OK)
		return -EINVAL;
	put_name(profile, &name);
	int r = url_join(out, &url, "/ingest");
	if (r < 0)
		return r;
	(void)buf_printf(out, "%c%s&name=", strchr(buf_str(out), '?') ? '&' : '?',
			 query ? query + 1 : "");
	(void)url_put_value(out, (struct str){ buf_str(&name), name.len });
	return out->failed || name.failed ? -ENOMEM : 0;
}
