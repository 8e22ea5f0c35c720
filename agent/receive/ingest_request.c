/* SPDX-License-Identifier: Apache-2.0 */
/* One request of /ingest. */
#include "agent/receive/ingest_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http/url.h"
#include "agent/push/relay.h"
#include "agent/receive/ingest_labels.h"
#include "agent/receive/multipart.h"
#include "agent/receive/pprof_adapt.h"
#include "agent/receive/speedscope_read.h"
#include "agent/receive/stack_formats.h"
#include "agent/store/connect/connect.h"

/* Of a name, which is a part of a URL. */
#define NAME_MAX_BYTES ((size_t)256 << 10)

struct reading {
	const struct ingest_query *query;
	struct ingest_meta meta;
	struct ingest_name name;
	struct arena arena; /* of the name */
	struct str body;
	struct buf plain; /* the body, if it was compressed */
	struct read_budget *budget;
	struct receive_items *items;
	struct receive_verdict *verdict;
};

/* ---- what is wrong ---- */

static int refuse(struct reading *r, enum receive_refusal refusal, unsigned int status,
		  const char *text)
{
	receive_verdict_set(r->verdict, refusal, status);
	if (r->verdict->why.len == 0)
		(void)buf_append_str(&r->verdict->why, text);
	return -EBADMSG;
}

/* 422 is what the server answers to all that it cannot convert. */
static int refuse_errno(struct reading *r, int error)
{
	switch (error) {
	case -EBADMSG:
		return refuse(r, RECEIVE_REFUSED_MALFORMED, 422, "not of that format");
	case -EMSGSIZE:
	case -ENOBUFS:
	case -EOVERFLOW:
	case -E2BIG:
		return refuse(r, RECEIVE_REFUSED_LIMITS, 422,
			      "the profile has more samples, names, labels or a larger sum than a "
			      "server takes");
	case -ECANCELED:
		return refuse(r, RECEIVE_REFUSED_BUDGET, 422, "the profile takes too much to read");
	default:
		return refuse(r, RECEIVE_REFUSED_MEMORY, 503, "there is no memory for it now");
	}
}

/* ---- pprof ---- */

struct form {
	struct str profile, config;
	bool has_previous;
};

static bool is_form(const struct reading *r)
{
	return r->query->content_type && strstr(r->query->content_type, "multipart/form-data");
}

static int read_form(struct reading *r, struct form *ret)
{
	struct multipart m;
	struct multipart_part part;

	if (!multipart_init(&m, r->query->content_type, r->body))
		return refuse(r, RECEIVE_REFUSED_MALFORMED, 422,
			      "malformed multipart content type header");
	while (multipart_next(&m, &part)) {
		if (str_eq(part.name, STR_LIT("profile")))
			ret->profile = part.body;
		else if (str_eq(part.name, STR_LIT("sample_type_config")))
			ret->config = part.body;
		else if (str_eq(part.name, STR_LIT("prev_profile")))
			ret->has_previous = part.body.n > 0;
	}
	if (m.broken)
		return refuse(r, RECEIVE_REFUSED_MALFORMED, 422, "the form is cut or malformed");
	if (ret->has_previous)
		return refuse(r, RECEIVE_REFUSED_UNSUPPORTED, 422,
			      "a profile with one before it, to be subtracted, is of a client that "
			      "servers do not support any more: update it");
	return 0;
}

static int add_pprof(struct reading *r, const struct form *form, struct pprof_adapted *adapted)
{
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	_cleanup_buf_ struct buf metric = BUF_INIT(LABEL_VALUE_MAX);
	struct ingest_labels_options o = { .name = &r->name,
					   .app = str_from(r->name.app),
					   .spy = r->meta.spy_name };
	int e;

	ingest_labels_metric((struct str){ buf_str(&adapted->types), adapted->types.len },
			     form->config, &metric);
	o.metric = buf_str(&metric);
	e = ingest_labels_make(&o, &labels);
	if (e < 0)
		return e;
	uint8_t *data = adapted->data;
	adapted->data = NULL;
	return receive_items_add(r->items, labels, data, adapted->n, adapted->time_ns);
}

static int read_pprof(struct reading *r)
{
	const struct pprof_adapt_options o = { .time_ns = r->meta.from_ns,
					       .spy = r->meta.spy_name,
					       .budget = r->budget };
	struct form form = { .profile = r->body };
	struct pprof_adapted adapted;
	int e;

	if (is_form(r)) {
		form = (struct form){ 0 };
		e = read_form(r, &form);
		if (e < 0)
			return e;
	}
	if (form.profile.n == 0)
		return 0;
	e = pprof_adapt(form.profile, &o, &r->verdict->why, &adapted);
	if (e == 0)
		e = add_pprof(r, &form, &adapted);
	pprof_adapted_fini(&adapted);
	return e < 0 ? refuse_errno(r, e) : 0;
}

/* ---- stacks ---- */

static int add_stacks(struct reading *r, const struct stack_profile *profile,
		      struct ingest_labels_options *o)
{
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	struct pprof_bytes bytes = { 0 };
	int e;

	if (stack_profile_n(profile) == 0)
		return 0;
	o->name = &r->name;
	o->spy = r->meta.spy_name;
	o->keeps_app = true;
	e = ingest_labels_make(o, &labels);
	if (e == 0)
		e = stack_profile_encode(profile, &bytes);
	return e < 0 ? e
		     : receive_items_add(r->items, labels, bytes.data, bytes.n, r->meta.from_ns);
}

static int choose_type(struct reading *r, struct profile_type *ret, size_t *ret_n)
{
	if (profile_type_of_app(r->name.app, ret, ret_n))
		return 0;
	(void)buf_printf(&r->verdict->why, "unknown profile type: %s",
			 strrchr(r->name.app, '.') + 1);
	return refuse(r, RECEIVE_REFUSED_METADATA, 400, "");
}

static int read_stacks(struct reading *r)
{
	static int (*const readers[INGEST_FORMAT_MAX])(struct str, struct stack_profile *,
						       struct buf *) = {
		[INGEST_GROUPS] = stack_read_groups,
		[INGEST_LINES] = stack_read_lines,
		[INGEST_TRIE] = stack_read_trie,
		[INGEST_TREE] = stack_read_tree,
	};
	const struct ingest_meta *m = &r->meta;
	_cleanup_(stack_profile_freep) struct stack_profile *profile = NULL;
	struct stack_profile_options o = {
		.sample_rate = m->sample_rate,
		.time_ns = m->from_ns,
		.duration_ns = m->until_ns > m->from_ns ? m->until_ns - m->from_ns : 0,
		.budget = r->budget,
	};
	size_t n_app;

	if (choose_type(r, &o.type, &n_app) < 0)
		return -EBADMSG;
	int e = stack_profile_new(&o, &profile);
	if (e == 0)
		e = readers[m->format](r->body, profile, &r->verdict->why);
	if (e == 0)
		e = add_stacks(r, profile,
			       &(struct ingest_labels_options){ .app = { r->name.app, n_app },
								.metric = o.type.metric });
	return e < 0 ? refuse_errno(r, e) : 0;
}

/* ---- speedscope ---- */

static int take_speedscope(void *data, const struct speedscope_profile *p)
{
	struct reading *r = data;
	_cleanup_(stack_profile_freep) struct stack_profile *profile = p->profile;
	struct ingest_labels_options o = { .app = str_from(r->name.app),
					   .metric = p->type.metric,
					   .profile_name = p->name };
	struct profile_type ignored;
	size_t n;

	if (!p->is_of_several && profile_type_of_app(r->name.app, &ignored, &n))
		o.app.n = n;
	return add_stacks(r, profile, &o);
}

static int read_speedscope(struct reading *r)
{
	const struct speedscope_reader reader = { .app = r->name.app,
						  .meta = &r->meta,
						  .budget = r->budget,
						  .take = take_speedscope,
						  .data = r,
						  .why = &r->verdict->why };
	int e = r->body.n > 0 ? speedscope_read(&reader, r->body) : 0;

	return e < 0 ? refuse_errno(r, e) : 0;
}

/* ---- what is not read ---- */

static int put_relay(const struct reading *r, struct buf *out)
{
	const struct ingest_meta *m = &r->meta;

	(void)buf_printf(out,
			 "%s\nformat=%s&from=%" PRIu64 "&until=%" PRIu64 "&sampleRate=%" PRIu64
			 "&spyName=",
			 r->query->content_type ? r->query->content_type : "",
			 ingest_format_text(m->format), m->from_ns, m->until_ns, m->sample_rate);
	(void)url_put_value(out, str_from(m->spy_name));
	return out->failed ? -E2BIG : 0;
}

static int add_relayed(struct reading *r, const char *relay)
{
	const struct ingest_labels_options o = { .name = &r->name,
						 .app = str_from(r->name.app),
						 .metric = r->name.app,
						 .relay = relay };
	_cleanup_(labels_unrefp) struct labels *labels = NULL;
	int e = ingest_labels_make(&o, &labels);
	uint8_t *copy = e == 0 ? malloc(r->body.n) : NULL;

	if (!copy)
		return e < 0 ? e : -ENOMEM;
	memcpy(copy, r->body.p, r->body.n);
	return receive_items_add(r->items, labels, copy, r->body.n, r->meta.from_ns);
}

/* As it came, to whoever sends it to a server that reads it. */
static int relay(struct reading *r)
{
	_cleanup_buf_ struct buf label = BUF_INIT(PUSH_RELAY_MAX_BYTES);
	int e;

	if (!r->query->may_relay)
		return refuse(r, RECEIVE_REFUSED_UNSUPPORTED, 415,
			      "recordings of JFR are not read here, and there is no "
			      "pyroscope.write that would send them to a server");
	if (r->body.n == 0)
		return 0;
	e = put_relay(r, &label);
	e = e < 0 ? e : add_relayed(r, buf_str(&label));
	return e < 0 ? refuse_errno(r, e) : 0;
}

/* ---- the request ---- */

static int read_name(struct reading *r)
{
	int e = ingest_name_parse(r->query->name, &r->arena, &r->name, &r->verdict->why);

	if (e == -EINVAL)
		return refuse(r, RECEIVE_REFUSED_METADATA, 400, "");
	return e < 0 ? refuse_errno(r, e) : 0;
}

static int refuse_inflated(struct reading *r, enum connect_inflate_outcome outcome)
{
	if (outcome == CONNECT_INFLATE_TOO_LARGE)
		return refuse(r, RECEIVE_REFUSED_LIMITS, 413, "request body too large");
	return refuse(r, RECEIVE_REFUSED_MALFORMED, 400, "the body is not gzip");
}

/* A server takes none that is compressed; clients may think so. */
static int open_body(struct reading *r)
{
	enum connect_encoding encoding = connect_parse_encoding(r->query->content_encoding);
	int e;

	if (encoding == CONNECT_IDENTITY || r->body.n == 0)
		return 0;
	if (encoding == CONNECT_ENCODING_UNKNOWN)
		return refuse(r, RECEIVE_REFUSED_UNSUPPORTED, 415,
			      "bodies may be compressed by gzip alone");
	e = connect_inflate(r->body.p, r->body.n, &r->plain);
	if (!read_budget_take_inflated(r->budget, r->plain.len))
		return refuse_errno(r, -ECANCELED);
	if (e < 0)
		return refuse_errno(r, e);
	r->body = (struct str){ buf_str(&r->plain), r->plain.len };
	return e == CONNECT_INFLATED ? 0 : refuse_inflated(r, e);
}

static int read_format(struct reading *r)
{
	switch (r->meta.format) {
	case INGEST_PPROF:
		return read_pprof(r);
	case INGEST_SPEEDSCOPE:
		return read_speedscope(r);
	case INGEST_JFR:
		return relay(r);
	case INGEST_GROUPS:
	case INGEST_LINES:
	case INGEST_TRIE:
	case INGEST_TREE:
	case INGEST_FORMAT_MAX:
		break;
	}
	/* Exemplars of single spans, which servers do not keep. */
	return ingest_name_label(&r->name, "profile_id") ? 0 : read_stacks(r);
}

void ingest_request_read(const struct ingest_query *query, struct str body, uint64_t now_ns,
			 struct read_budget *budget, struct receive_items *items,
			 struct receive_verdict *verdict)
{
	struct reading r = { .query = query,
			     .meta = ingest_meta_read(query, now_ns),
			     .body = body,
			     .plain = BUF_INIT(INGEST_MAX_BODY),
			     .budget = budget,
			     .items = items,
			     .verdict = verdict };

	arena_init(&r.arena, NAME_MAX_BYTES);
	if (read_name(&r) == 0 && open_body(&r) == 0 && read_format(&r) < 0)
		receive_items_fini(items);
	arena_fini(&r.arena);
	buf_fini(&r.plain);
}
