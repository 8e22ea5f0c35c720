/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a pprof. */
#include "agent/receive/pprof_time.h"

#include "agent/receive/pprof_open.h"
#include "agent/receive/pprof_wire.h"
#include "agent/store/ingest/ingest_inflate.h"
#include "agent/util/cleanup.h"

/* Of perftools.profiles.Profile (pprof/profile.proto). */
#define FIELD_TIME 9
#define WHY_MAX_BYTES 256

static uint64_t find_time(struct str plain)
{
	struct pprof_field f;
	int64_t time_ns = 0;

	for (size_t at = 0; at < plain.n && pprof_next_field(plain, &at, &f);)
		if (f.number == FIELD_TIME && f.wire == PPROF_WIRE_VARINT)
			time_ns = (int64_t)f.value;
	return time_ns > 0 ? (uint64_t)time_ns : 0;
}

uint64_t pprof_time_of(struct str pprof, struct read_budget *budget)
{
	_cleanup_buf_ struct buf why = BUF_INIT(WHY_MAX_BYTES);
	_cleanup_free_ uint8_t *plain = NULL;
	size_t n = 0;

	if (pprof.n == 0 || pprof_open_plain(pprof, budget, &why, &plain, &n) < 0)
		return 0;
	return find_time((struct str){ (const char *)plain, n });
}

int pprof_time_put(uint64_t time_ns, bool is_gzip, struct buf *out)
{
	uint8_t field[1 + PPROF_VARINT_BYTES] = { FIELD_TIME << 3 | PPROF_WIRE_VARINT };
	size_t n = 1 + pprof_put_varint(time_ns, field + 1);

	return is_gzip ? pprof_put_gzip(field, n, out) : buf_append(out, field, n);
}

int pprof_time_set(struct str pprof, uint64_t time_ns, struct buf *out)
{
	int r = buf_append(out, pprof.p, pprof.n);

	if (r < 0)
		return r;
	return pprof_time_put(time_ns, inflate_is_gzip((const uint8_t *)pprof.p, pprof.n), out);
}
