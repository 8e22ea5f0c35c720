/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of facts above a flame graph. */
#include "agent/draw/flame_facts.h"

#include <ctype.h>
#include <inttypes.h>
#include <time.h>

#include "agent/util/clock.h"

void flame_facts_title(const struct flame_facts *f, struct buf *out)
{
	size_t at = out->len;

	event_text_what(&f->event, out);
	if (!out->failed)
		out->data[at] = (char)toupper((unsigned char)out->data[at]);
	(void)buf_printf(out, " of %s", f->subject);
}

static void put_time(uint64_t real_ns, struct buf *out)
{
	time_t s = (time_t)(real_ns / NS_PER_S);
	char text[32];
	struct tm tm;

	if (gmtime_r(&s, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) > 0)
		(void)buf_printf(out, ", %s UTC", text);
}

void flame_facts_origin(const struct flame_facts *f, struct buf *out)
{
	(void)buf_printf(out, "%" PRIu64 " %s in %.1f s", f->n_samples,
			 event_text_unit(&f->event, f->n_samples),
			 (double)f->elapsed_ns / (double)NS_PER_S);
	event_text_rate(&f->event, " at ", f->hz, out);
	if (*f->host)
		(void)buf_printf(out, ", on %s", f->host);
	put_time(f->end_real_ns, out);
}

void flame_facts_line(const struct flame_facts *f, struct buf *out)
{
	flame_facts_title(f, out);
	(void)buf_append_str(out, ": ");
	flame_facts_origin(f, out);
}
