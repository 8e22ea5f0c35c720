/* SPDX-License-Identifier: Apache-2.0 */
/* A pprof of /ingest as it goes on. */
#include "agent/receive/pprof_adapt.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/receive/pprof_names.h"
#include "agent/receive/pprof_open.h"
#include "agent/receive/pprof_time.h"
#include "agent/receive/pprof_wire.h"
#include "agent/store/ingest/ingest.h"
#include "agent/store/ingest/ingest_inflate.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* Fields of perftools.profiles.Profile (pprof/profile.proto). */
enum { FIELD_SAMPLE_TYPE = 1, FIELD_STRING = 6, FIELD_TIME = 9 };

/* A time of 1970 is none, or one in microseconds. */
#define FIRST_TIME_NS (366ULL * 86400 * NS_PER_S)
#define GZIP_LEVEL 1

struct scan {
	struct str plain;
	uint64_t types[PPROF_ADAPT_MAX_TYPES]; /* places in the table of texts */
	size_t n_types;
	struct str names[PPROF_ADAPT_MAX_TYPES];
	int64_t time_ns;
};

/* The first field of a ValueType. */
static uint64_t type_of(struct str s)
{
	struct pprof_field f;
	uint64_t type = 0;

	for (size_t at = 0; at < s.n && pprof_next_field(s, &at, &f);)
		if (f.number == 1 && f.wire == PPROF_WIRE_VARINT)
			type = f.value;
	return type;
}

/* Types may stand before or behind the texts. */
static void find_types(struct scan *x)
{
	struct pprof_field f;

	for (size_t at = 0; at < x->plain.n && pprof_next_field(x->plain, &at, &f);) {
		struct str part = { x->plain.p + f.offset, f.n };

		if (f.number == FIELD_SAMPLE_TYPE && f.wire == PPROF_WIRE_LENGTH &&
		    x->n_types < PPROF_ADAPT_MAX_TYPES)
			x->types[x->n_types++] = type_of(part);
		if (f.number == FIELD_TIME && f.wire == PPROF_WIRE_VARINT)
			x->time_ns = (int64_t)f.value;
	}
}

static void find_names(struct scan *x)
{
	struct pprof_field f;
	uint64_t text = 0;

	for (size_t at = 0; at < x->plain.n && pprof_next_field(x->plain, &at, &f);) {
		if (f.number != FIELD_STRING || f.wire != PPROF_WIRE_LENGTH)
			continue;
		for (size_t i = 0; i < x->n_types; i++)
			if (x->types[i] == text)
				x->names[i] = (struct str){ x->plain.p + f.offset, f.n };
		text++;
	}
}

/* In the bytes, which are ours. */
static bool replace_dashes(const struct scan *x)
{
	bool any = false;

	for (size_t i = 0; i < x->n_types; i++)
		for (size_t k = 0; k < x->names[i].n; k++) {
			char *c = (char *)&x->names[i].p[k];

			any |= *c == '-';
			*c = *c == '-' ? '_' : *c;
		}
	return any;
}

static void put_types(const struct scan *x, struct buf *out)
{
	for (size_t i = 0; i < x->n_types; i++) {
		(void)buf_append(out, x->names[i].p ? x->names[i].p : "", x->names[i].n);
		(void)buf_append_char(out, '\n');
	}
}

static int copy_bytes(const void *bytes, size_t n, struct buf *out)
{
	return buf_append(out, bytes, n);
}

/* As it came, or what was changed in it; and the time, if it has none. */
static int put_all(struct str pprof, const struct scan *x, bool changed, uint64_t time_ns,
		   struct buf *out)
{
	bool is_gzip = inflate_is_gzip((const uint8_t *)pprof.p, pprof.n);
	bool has_time = x->time_ns >= (int64_t)FIRST_TIME_NS;
	int r;

	if (!changed)
		r = copy_bytes(pprof.p, pprof.n, out);
	else
		r = is_gzip ? pprof_put_gzip(x->plain.p, x->plain.n, out)
			    : copy_bytes(x->plain.p, x->plain.n, out);
	return r < 0 || has_time ? r : pprof_time_put(time_ns, is_gzip, out);
}

static int look(const struct buf *bytes, struct read_budget *budget, struct buf *why)
{
	int r = ingest_look((const uint8_t *)bytes->data, bytes->len, budget, why);

	if (r == INGEST_OPENED || r < 0)
		return r;
	return r == INGEST_REFUSED_SIZE || r == INGEST_REFUSED_SAMPLES ? -EMSGSIZE : -EBADMSG;
}

static int adapt(struct str pprof, const struct pprof_adapt_options *o, struct buf *why,
		 struct str plain, bool changed, struct pprof_adapted *ret)
{
	struct scan x = { .plain = plain };
	/* A field more, and what gzip puts around it. */
	_cleanup_buf_ struct buf out = BUF_INIT(pprof.n + plain.n + 4096);

	find_types(&x);
	find_names(&x);
	changed |= replace_dashes(&x);
	int r = put_all(pprof, &x, changed, o->time_ns, &out);
	if (r == 0)
		r = look(&out, o->budget, why);
	if (r < 0)
		return r;
	ret->time_ns = x.time_ns >= (int64_t)FIRST_TIME_NS ? (uint64_t)x.time_ns : o->time_ns;
	ret->types = BUF_INIT(PPROF_ADAPT_MAX_TYPES * (size_t)4096);
	put_types(&x, &ret->types);
	ret->n = out.len;
	ret->data = (uint8_t *)buf_take(&out);
	return ret->data ? 0 : -ENOMEM;
}

static int adapt_names(struct str pprof, const struct pprof_adapt_options *o, struct buf *why,
		       struct str plain, struct pprof_adapted *ret)
{
	_cleanup_buf_ struct buf named = BUF_INIT(INGEST_MAX_PLAIN_BYTES);
	int r;

	if (!pprof_names_wanted(o->spy))
		return adapt(pprof, o, why, plain, false, ret);
	r = pprof_names_put_files(plain, o->spy, o->budget, &named);
	if (r == -E2BIG)
		(void)buf_append_str(why, "the profile is larger than 4 MiB with its files in the "
					  "names of functions");
	if (r < 0)
		return r == -E2BIG ? -EMSGSIZE : r;
	return adapt(pprof, o, why, (struct str){ buf_str(&named), named.len }, true, ret);
}

int pprof_adapt(struct str pprof, const struct pprof_adapt_options *o, struct buf *why,
		struct pprof_adapted *ret)
{
	_cleanup_free_ uint8_t *plain = NULL;
	size_t n_plain = 0;
	int r = pprof_open_plain(pprof, o->budget, why, &plain, &n_plain);

	*ret = (struct pprof_adapted){ 0 };
	return r < 0 ? r
		     : adapt_names(pprof, o, why, (struct str){ (const char *)plain, n_plain },
				   ret);
}

void pprof_adapted_fini(struct pprof_adapted *a)
{
	free(a->data);
	buf_fini(&a->types);
}
