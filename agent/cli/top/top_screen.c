/* SPDX-License-Identifier: Apache-2.0 */
/* A view as lines of text. */
#include "agent/cli/top/top_screen.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "agent/util/clock.h"
#include "agent/util/macro.h"

#define LINE_BYTES 1024
/* Lines beside rows: two of the head, an empty one before each part and its heading, the keys. */
#define HEAD_LINES 2
#define REASON_LINES 1
#define WAKER_LINES 1
#define PART_LINES 2
#define KEY_LINES 1
/* Of the rows, if both parts are shown: services are fewer. */
#define SERVICES_SHARE 3
#define SERVICE_COLUMNS 24

static const char keys[] = "q ends  s services  f functions  b both  p holds";

/* How many bytes the first `columns` characters have. */
static size_t bytes_of(const char *text, size_t columns)
{
	size_t n = 0;

	for (const char *c = text; *c; c++) {
		bool begins = (*c & 0xc0) != 0x80;

		if (begins && n++ == columns)
			return (size_t)(c - text);
	}
	return strlen(text);
}

static size_t columns_of(const char *text)
{
	size_t n = 0;

	for (const char *c = text; *c; c++)
		n += (*c & 0xc0) != 0x80;
	return n;
}

static void put_line(const struct top_screen *s, const struct buf *line, struct buf *out)
{
	const char *text = buf_str(line);
	size_t n = s->columns ? bytes_of(text, s->columns) : strlen(text);

	(void)buf_printf(out, "%.*s\n", (int)n, text);
}

/* Cut, or filled with blanks, but for the last one of a line. */
static void put_padded(struct buf *line, const char *text, size_t columns)
{
	size_t n = bytes_of(text, columns);
	size_t used = columns_of(text);

	(void)buf_printf(line, "%.*s%*s", (int)n, text, (int)(columns - MIN_OF(used, columns)), "");
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0.0;
}

/* Of threads: its sum, by the time that has passed, is how many of them. */
static bool is_time(enum event event)
{
	return event != EVENT_CPU && strcmp(event_type(event)->values[0].unit, "nanoseconds") == 0;
}

/* CPUs, threads that wait, or hits a second. */
static double rate(const struct top_screen *s, uint64_t weight)
{
	const struct top_view *v = s->view;
	double ns = (double)MAX_OF(v->elapsed_ns, (uint64_t)1);

	if (s->event.event == EVENT_CPU)
		return (double)weight * (double)v->period_ns / ns;
	if (is_time(s->event.event))
		return (double)weight / ns;
	return (double)weight * (double)NS_PER_S / ns;
}

static const char *rate_heading(enum event event)
{
	return event == EVENT_CPU ? "CPUS" : is_time(event) ? "THREADS" : "A SECOND";
}

static void put_clock(struct buf *line, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / NS_PER_S);
	char text[16] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%H:%M:%S", &tm);
	(void)buf_append_str(line, text);
}

static void put_first_line(const struct top_screen *s, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);

	if (s->view)
		put_clock(&line, s->view->end_real_ns);
	(void)buf_printf(&line, "%s%s: ", line.len ? "  " : "", s->subject);
	event_text_what(&s->event, &line);
	event_text_rate(&s->event, ", ", s->hz, &line);
	(void)buf_printf(&line, ", every %g s%s", (double)s->interval_ns / NS_PER_S,
			 s->is_held ? "  [held]" : "");
	put_line(s, &line, out);
}

static void put_second_line(const struct top_screen *s, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);
	const struct top_view *v = s->view;

	if (!v)
		(void)buf_append_str(&line, "the first interval is not over");
	else if (s->event.event == EVENT_CPU)
		(void)buf_printf(&line, "%.2f of %zu CPUs busy", rate(s, v->total), s->n_cpus);
	else if (s->event.event == EVENT_OFF_CPU)
		(void)buf_printf(&line, "%.2f threads did not run", rate(s, v->total));
	else if (is_time(s->event.event))
		(void)buf_printf(&line, "%.2f threads at a time", rate(s, v->total));
	else
		(void)buf_printf(&line, "%.1f %s a second", rate(s, v->total),
				 event_text_unit(&s->event, 2));
	if (s->n_lost)
		(void)buf_printf(&line, ", %" PRIu64 " samples lost: a lower -F helps", s->n_lost);
	put_line(s, &line, out);
}

static bool has_reasons(const struct top_screen *s)
{
	uint64_t n = 0;

	for (int i = WAIT_UNKNOWN + 1; s->view && i < WAIT_REASON_MAX; i++)
		n += s->view->reasons[i];
	return n > 0;
}

static int largest(const uint64_t *weights)
{
	int at = 0;

	for (int i = 1; i < WAIT_REASON_MAX; i++)
		if (weights[i] > weights[at])
			at = i;
	return at;
}

/* "for: sleep 60.0%, lock 40.0%", the largest first. Of wall-clock time what is no wait is CPU time. */
static void put_reasons(const struct top_screen *s, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);
	const struct top_view *v = s->view;
	uint64_t weights[WAIT_REASON_MAX];

	memcpy(weights, v->reasons, sizeof(weights));
	for (int i = largest(weights); weights[i]; i = largest(weights)) {
		(void)buf_printf(&line, "%s%s %.1f%%", line.len ? ", " : "for: ",
				 i == WAIT_UNKNOWN ? "running" : wait_reason_label(i),
				 share(weights[i], v->total));
		weights[i] = 0;
	}
	put_line(s, &line, out);
}

/* "by: nginx 60.0%, interrupt 40.0%", of all that was waited for. */
static void put_wakers(const struct top_screen *s, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);
	const struct top_view *v = s->view;

	for (size_t i = 0; i < v->n_wakers; i++)
		(void)buf_printf(&line, "%s%s %.1f%%", i ? ", " : "by: ", v->wakers[i].name,
				 share(v->wakers[i].total, v->total));
	put_line(s, &line, out);
}

static bool has_wakers(const struct top_screen *s)
{
	return s->view && s->view->n_wakers > 0;
}

static void put_more(const struct top_screen *s, size_t n_all, size_t n, const char *what,
		     struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);

	if (s->rows || n_all <= n)
		return;
	(void)buf_printf(&line, "… and %zu more %s%s", n_all - n, what, n_all - n == 1 ? "" : "s");
	put_line(s, &line, out);
}

static void put_service(const struct top_screen *s, const struct top_view_row *row, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);
	const struct top_view *v = s->view;

	(void)buf_printf(&line, "%6.1f%% %8.2f  ", share(row->self, v->total), rate(s, row->self));
	put_padded(&line, row->name, SERVICE_COLUMNS);
	(void)buf_printf(&line, "  %s", row->of);
	put_line(s, &line, out);
}

static void put_services(const struct top_screen *s, size_t n, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);

	(void)buf_printf(&line, "  SHARE %8s  ", rate_heading(s->event.event));
	put_padded(&line, "SERVICE", SERVICE_COLUMNS);
	(void)buf_append_str(&line, s->event.event == EVENT_TCP ? "  ITS MOST FREQUENT CONNECTION"
								: "  ITS HOTTEST FUNCTION");
	(void)buf_append_char(out, '\n');
	put_line(s, &line, out);
	for (size_t i = 0; i < n; i++)
		put_service(s, &s->view->services[i], out);
	put_more(s, s->view->n_all_services, n, "service", out);
}

/* One line each. */
static void put_connection(const struct top_screen *s, const struct top_view_row *row,
			   struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);

	(void)buf_printf(&line, "%7" PRIu64 "  %s", row->self, row->name);
	put_line(s, &line, out);
}

static void put_connections(const struct top_screen *s, size_t n, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);

	(void)buf_append_str(&line, "  TIMES  CONNECTION");
	(void)buf_append_char(out, '\n');
	put_line(s, &line, out);
	for (size_t i = 0; i < n; i++)
		put_connection(s, &s->view->functions[i], out);
	put_more(s, s->view->n_all_functions, n, "connection", out);
}

static void put_function(const struct top_screen *s, const struct top_view_row *row,
			 struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);

	(void)buf_printf(&line, "%6.1f%% %7.1f%%  %s", share(row->self, s->view->total),
			 share(row->total, s->view->total), row->name);
	if (*row->of)
		(void)buf_printf(&line, "  (%s)", row->of);
	put_line(s, &line, out);
}

static void put_functions(const struct top_screen *s, size_t n, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LINE_BYTES);

	(void)buf_append_str(&line, "   SELF    TOTAL  FUNCTION (OBJECT)");
	(void)buf_append_char(out, '\n');
	put_line(s, &line, out);
	for (size_t i = 0; i < n; i++)
		put_function(s, &s->view->functions[i], out);
	put_more(s, s->view->n_all_functions, n, "function", out);
}

/* How many rows there is room for, of both parts together. */
static size_t room(const struct top_screen *s)
{
	size_t parts = s->shows == TOP_BOTH ? 2 : 1;
	size_t beside =
		HEAD_LINES + (has_reasons(s) ? REASON_LINES : 0) +
		(has_wakers(s) ? WAKER_LINES : 0) + parts * PART_LINES + KEY_LINES;

	return s->rows > beside ? s->rows - beside : 0;
}

static void put_parts(const struct top_screen *s, struct buf *out)
{
	size_t n_services = s->n_services, n_functions = s->n_functions;

	if (s->rows) {
		size_t n = room(s);

		n_services = s->shows == TOP_BOTH ? n / SERVICES_SHARE : n;
		n_services = MIN_OF(n_services, s->view->n_services);
		n_functions = s->shows == TOP_BOTH ? n - n_services : n;
	}
	if (s->shows != TOP_FUNCTIONS)
		put_services(s, MIN_OF(n_services, s->view->n_services), out);
	if (s->shows != TOP_SERVICES && s->event.event == EVENT_TCP)
		put_connections(s, MIN_OF(n_functions, s->view->n_functions), out);
	else if (s->shows != TOP_SERVICES)
		put_functions(s, MIN_OF(n_functions, s->view->n_functions), out);
}

/* A terminal of a few lines has what fits of the first ones. */
static void cut_to_rows(const struct top_screen *s, const struct buf *lines, struct buf *out)
{
	const char *from = buf_str(lines), *at = from;

	for (size_t i = 0; i + KEY_LINES < s->rows && *at; i++) {
		const char *end = strchr(at, '\n');

		at = end ? end + 1 : at + strlen(at);
	}
	(void)buf_append(out, from, (size_t)(at - from));
	(void)buf_printf(out, "%.*s", (int)bytes_of(keys, s->columns), keys);
}

void top_screen_put(const struct top_screen *s, struct buf *out)
{
	_cleanup_buf_ struct buf lines = BUF_INIT((size_t)1 << 20);

	put_first_line(s, &lines);
	put_second_line(s, &lines);
	if (has_reasons(s))
		put_reasons(s, &lines);
	if (has_wakers(s))
		put_wakers(s, &lines);
	if (s->view)
		put_parts(s, &lines);
	if (s->rows)
		cut_to_rows(s, &lines, out);
	else
		(void)buf_append(out, lines.data, lines.len);
}
