/* SPDX-License-Identifier: Apache-2.0 */
/* A received profile that is larger than servers take, as several. */
#include "agent/component/receivers/divided.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/push/relay.h"
#include "agent/receive/pprof_open.h"
#include "agent/receive/pprof_wire.h"
#include "agent/store/ingest/ingest_tables.h"
#include "agent/util/macro.h"

#define WHY_MAX_BYTES 512
/* How much smaller gzip makes a profile: four to eight times is usual. */
#define MAX_RATIO 32
#define FIELD_SAMPLE 2

struct dividing {
	const struct profile *profile;
	unsigned int wants;
	struct divided *d;
};

void divided_fini(struct divided *d)
{
	while (d->n > 0)
		profile_unref(d->items[--d->n]);
}

static size_t max_bytes(void)
{
	return PPROF_OPTIONS_DEFAULT.max_bytes;
}

static bool is_too_large(struct str plain)
{
	struct pprof_field field;
	size_t n_samples = 0, at = 0;

	while (pprof_next_field(plain, &at, &field))
		n_samples += field.number == FIELD_SAMPLE;
	return plain.n > max_bytes() || n_samples > PPROF_OPTIONS_DEFAULT.max_samples;
}

bool divided_may_be(size_t n_bytes)
{
	return n_bytes > max_bytes() / MAX_RATIO;
}

/* It is as foreign as what it is a part of: its name is that of the series. */
static int put(void *user, struct pprof_builder **tables, uint64_t time_ns)
{
	const struct dividing *by = user;
	_cleanup_(profile_unrefp) struct profile *part = NULL;

	if (by->d->n == DIVIDED_MAX)
		return -E2BIG;
	pprof_builder_freeze(*tables);
	int r = profile_new(tables, by->profile->labels, by->profile->n_samples, time_ns, &part);
	if (r < 0)
		return r;
	part->is_foreign = true;
	part->spread_ns = by->profile->spread_ns;
	r = profile_make(part, FORM_PPROF);
	for (enum profile_form form = 0; r == 0 && form < FORM_MAX; form++)
		if (by->wants & PROFILE_WANT(form))
			r = profile_make(part, form);
	profile_drop_tables(part);
	if (r == 0)
		by->d->items[by->d->n++] = TAKE_PTR(part);
	return r;
}

void divided_make(const struct profile *p, unsigned int wants, uint64_t now_ns,
		  struct read_budget *budget, struct divided *d)
{
	const struct shared_bytes *pprof = profile_form(p, FORM_PPROF);
	const struct str bytes = { (const char *)pprof->data, pprof->n };
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX_BYTES);
	struct dividing by = { p, wants, d };
	_cleanup_free_ uint8_t *plain = NULL;
	size_t n = 0;

	*d = (struct divided){ 0 };
	/* What is not read here has bytes of another kind. */
	if (labels_get(p->labels, PUSH_RELAY_LABEL) ||
	    pprof_open_plain(bytes, budget, &why, &plain, &n) != 0 ||
	    !is_too_large((struct str){ (const char *)plain, n }))
		return;
	if (ingest_parts(plain, n, now_ns, budget, &why, put, &by) != INGEST_OPENED)
		divided_fini(d);
}
