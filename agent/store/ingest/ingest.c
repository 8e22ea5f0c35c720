/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a received profile: bytes to a message that keeps the rules. */
#include "agent/store/ingest/ingest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/store/ingest/ingest_inflate.h"
#include "agent/store/ingest/ingest_private.h"
#include "agent/store/ingest/wire_scan.h"
#include "agent/util/clock.h"
#include "pprof/profile.pb-c.h"

int ingest_no_memory(const struct ingest *in, struct buf *why)
{
	if (!in->memory.full)
		return -ENOMEM;
	(void)buf_printf(why, "the profile takes more than %zu MiB unpacked",
			 in->memory.max_bytes >> 20);
	return INGEST_REFUSED_SIZE;
}

static void *unpack_alloc(void *data, size_t n)
{
	return ingest_memory_alloc(data, n);
}

static void unpack_free(void *data, void *p)
{
	ingest_memory_free(data, p);
}

static int refuse_format(struct buf *why)
{
	(void)buf_append_str(why, "not a profile in the format of pprof");
	return INGEST_REFUSED_MALFORMED;
}

/* Before anything is allocated for it. */
static int count_message(struct ingest *in, const uint8_t *plain, size_t n, struct buf *why)
{
	struct wire_scan scan;

	if (!wire_scan(&perftools__profiles__profile__descriptor, plain, n, &scan))
		return refuse_format(why);
	if (in->budget && !read_budget_take_elements(in->budget, scan.n_elements))
		return -ECANCELED;
	in->memory.full = scan.n_bytes > in->memory.max_bytes;
	return in->memory.full ? ingest_no_memory(in, why) : INGEST_OPENED;
}

static int open_message(struct ingest *in, const uint8_t *plain, size_t n, struct buf *why)
{
	ProtobufCAllocator allocator = { unpack_alloc, unpack_free, &in->memory };
	int r = count_message(in, plain, n, why);

	if (r != INGEST_OPENED)
		return r;

	in->profile = perftools__profiles__profile__unpack(&allocator, n, plain);
	if (in->profile)
		return INGEST_OPENED;
	if (in->memory.full || in->memory.out)
		return ingest_no_memory(in, why);
	return refuse_format(why);
}

static int refuse_size(struct buf *why)
{
	(void)buf_printf(why, "uncompressed profile payload size exceeds limit of %.1f MB",
			 (double)INGEST_MAX_PLAIN_BYTES / 1e6);
	return INGEST_REFUSED_SIZE;
}

static int open_gzip(struct ingest *in, const uint8_t *pprof, size_t n, struct buf *why)
{
	_cleanup_free_ uint8_t *plain = NULL;
	size_t n_plain, max = INGEST_MAX_PLAIN_BYTES;

	if (in->budget && in->budget->left.inflated_bytes < max)
		max = in->budget->left.inflated_bytes;
	int r = inflate_gzip(pprof, n, max, &plain, &n_plain);
	if (r < 0)
		return r;
	/* What is thrown away was work as well. */
	if (in->budget && !read_budget_take_inflated(in->budget, n_plain))
		return -ECANCELED;
	switch ((enum inflate_outcome)r) {
	case INFLATE_DONE:
		return open_message(in, plain, n_plain, why);
	case INFLATE_TOO_LARGE:
		return refuse_size(why);
	case INFLATE_DAMAGED:
		break;
	}
	(void)buf_append_str(why, "the gzip'd profile is cut or damaged");
	return INGEST_REFUSED_MALFORMED;
}

bool ingest_goes_on(const struct ingest *in)
{
	return !in->budget || read_budget_goes_on(in->budget);
}

static int open_bytes(struct ingest *in, const uint8_t *pprof, size_t n, struct buf *why)
{
	if (inflate_is_gzip(pprof, n))
		return open_gzip(in, pprof, n, why);
	if (n > INGEST_MAX_PLAIN_BYTES)
		return refuse_size(why);
	return open_message(in, pprof, n, why);
}

static void print_time(struct buf *out, int64_t time_ms)
{
	time_t seconds = time_ms / 1000;
	struct tm tm;
	char text[64];

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	(void)buf_printf(out, "%s.%03d +0000 UTC", text, (int)(time_ms % 1000));
}

static int check_window(const struct ingest *in, int64_t now_ms, int64_t oldest_ms, struct buf *why)
{
	if (in->time_ms >= oldest_ms && in->time_ms <= now_ms + INGEST_MAX_FUTURE_MS)
		return INGEST_OPENED;
	(void)buf_append_str(why, "profile with labels '");
	ingest_print_labels(&in->base, why);
	(void)buf_append_str(why, "' is outside of ingestion window (profile timestamp: ");
	print_time(why, in->time_ms);
	(void)buf_append_str(why, ", the ingestion window starts at ");
	print_time(why, oldest_ms);
	(void)buf_append_str(why, " and ends at ");
	print_time(why, now_ms + INGEST_MAX_FUTURE_MS);
	(void)buf_append_str(why, ")");
	return INGEST_REFUSED_WINDOW;
}

static void set_time(struct ingest *in, int64_t now_ms)
{
	const Perftools__Profiles__Profile *p = in->profile;

	in->time_ms = p->time_nanos > 0 ? p->time_nanos / (int64_t)NS_PER_MS : now_ms;
}

static int open_tables(struct ingest *in, const struct pprof_builder *tables, struct buf *why)
{
	if (pprof_builder_packed_bytes(tables) > INGEST_MAX_PLAIN_BYTES)
		return refuse_size(why);
	in->is_own = true;
	in->profile = pprof_builder_message(tables, unpack_alloc, &in->memory);
	return in->profile ? INGEST_OPENED : ingest_no_memory(in, why);
}

static int apply_rules(struct ingest *in, const struct labels *labels, int64_t now_ms,
		       int64_t oldest_ms, struct buf *why)
{
	int r = ingest_take_labels(in, labels, why);

	if (r != INGEST_OPENED)
		return r;
	set_time(in, now_ms);
	r = check_window(in, now_ms, oldest_ms, why);
	r = r == INGEST_OPENED ? ingest_check(in, why) : r;
	return r == INGEST_OPENED ? ingest_make_groups(in, why) : r;
}

static int ingest_new(struct read_budget *budget, struct ingest **ret_ingest)
{
	struct ingest *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	in->budget = budget;
	ingest_memory_init(&in->memory, INGEST_MAX_MEMORY);
	*ret_ingest = in;
	return INGEST_OPENED;
}

int ingest_open_bytes(const uint8_t *pprof, size_t n, struct read_budget *budget, struct buf *why,
		      struct ingest **ret_ingest)
{
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	int r = ingest_new(budget, &in);

	if (r == INGEST_OPENED)
		r = open_bytes(in, pprof, n, why);
	if (r == INGEST_OPENED)
		*ret_ingest = TAKE_PTR(in);
	return r;
}

int ingest_look(const uint8_t *pprof, size_t n, struct read_budget *budget, struct buf *why)
{
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	int r = ingest_open_bytes(pprof, n, budget, why, &in);

	return r == INGEST_OPENED ? ingest_check(in, why) : r;
}

int ingest_open(const struct labels *labels, const uint8_t *pprof, size_t n, int64_t now_ms,
		int64_t oldest_ms, struct read_budget *budget, struct buf *why,
		struct ingest **ret_ingest)
{
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	int r = ingest_open_bytes(pprof, n, budget, why, &in);

	if (r != INGEST_OPENED)
		return r;
	r = apply_rules(in, labels, now_ms, oldest_ms, why);
	if (r != INGEST_OPENED)
		return r;
	*ret_ingest = TAKE_PTR(in);
	return INGEST_OPENED;
}

int ingest_open_profile(const struct profile *profile, int64_t now_ms, int64_t oldest_ms,
			struct buf *why, struct ingest **ret_ingest)
{
	const struct shared_bytes *pprof = profile_form(profile, FORM_PPROF);
	_cleanup_(ingest_freep) struct ingest *in = NULL;
	int r = ingest_new(NULL, &in);

	if (r != INGEST_OPENED)
		return r;
	/* Where there was no room for its tables, there are bytes. */
	r = profile->tables ? open_tables(in, profile->tables, why)
			    : open_bytes(in, pprof->data, pprof->n, why);
	if (r != INGEST_OPENED)
		return r;
	r = apply_rules(in, profile->labels, now_ms, oldest_ms, why);
	if (r != INGEST_OPENED)
		return r;
	*ret_ingest = TAKE_PTR(in);
	return INGEST_OPENED;
}

/* The message lies in the same memory. */
void ingest_free(struct ingest *in)
{
	if (!in)
		return;
	ingest_memory_fini(&in->memory);
	free(in);
}

int64_t ingest_time_ms(const struct ingest *in)
{
	return in->time_ms;
}
