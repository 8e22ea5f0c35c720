/* SPDX-License-Identifier: Apache-2.0 */
/* The one process-wide log. */
#include "agent/util/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/clock.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"

#define LOG_LINE_MAX ((size_t)16 * 1024)
#define LOG_HELD_MAX ((size_t)256 * 1024)

struct log_held_line {
	enum log_level level;
	size_t bytes; /* of the text after this header */
};

/* The process-wide sink: the only global state of the agent. Lines are held as {header, fields in both formats} until configured. */
static struct {
	pthread_mutex_t lock;
	bool configured;
	enum log_level level;
	enum log_format format;
	struct buf held[2]; /* by format */
	struct buf held_level[2];
	struct buf recent; /* whole lines, the oldest first */
} sink = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.level = LOG_LEVEL_INFO,
	.held = { { .max_bytes = LOG_HELD_MAX }, { .max_bytes = LOG_HELD_MAX } },
	.held_level = { { .max_bytes = LOG_HELD_MAX }, { .max_bytes = LOG_HELD_MAX } },
	.recent = { .max_bytes = 2 * LOG_RECENT_MAX },
};

static const char *const level_names[LOG_LEVEL_MAX] = { "error", "warn", "info", "debug" };

bool log_level_parse(const char *text, enum log_level *ret_level)
{
	for (int i = 0; i < LOG_LEVEL_MAX; i++) {
		if (strcmp(text, level_names[i]) == 0) {
			*ret_level = (enum log_level)i;
			return true;
		}
	}
	return false;
}

static void put_escaped(struct buf *b, const char *s)
{
	(void)buf_append_char(b, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			(void)buf_printf(b, "\\%c", c);
		else if (c == '\n')
			(void)buf_append_str(b, "\\n");
		else if (c == '\t')
			(void)buf_append_str(b, "\\t");
		else if (c < 0x20 || c == 0x7f)
			(void)buf_printf(b, "\\u%04x", c);
		else
			(void)buf_append_char(b, (char)c);
	}
	(void)buf_append_char(b, '"');
}

/* logfmt leaves a value bare when it has no blank, quote, equals sign or control character. */
static void put_string(struct buf *b, enum log_format format, const char *s)
{
	bool bare = format == LOG_FORMAT_LOGFMT && *s;

	for (const char *p = s; *p && bare; p++)
		bare = (unsigned char)*p > 0x20 && *p != '"' && *p != '=' && *p != 0x7f;
	if (bare)
		(void)buf_append_str(b, s);
	else
		put_escaped(b, s);
}

static void put_key(struct buf *b, enum log_format format, const char *key)
{
	if (format == LOG_FORMAT_JSON)
		(void)buf_printf(b, "%s\"%s\":", b->len > 1 ? "," : "", key);
	else
		(void)buf_printf(b, "%s%s=", b->len > 0 ? " " : "", key);
}

static void put_field(struct buf *b, enum log_format format, const struct log_field *f)
{
	char text[128];

	put_key(b, format, f->key);
	switch (f->kind) {
	case LOG_FIELD_STR:
		put_string(b, format, f->s ? f->s : "");
		break;
	case LOG_FIELD_INT:
		(void)buf_printf(b, "%" PRId64, f->i);
		break;
	case LOG_FIELD_UINT:
		(void)buf_printf(b, "%" PRIu64, f->u);
		break;
	case LOG_FIELD_FLOAT:
		(void)buf_printf(b, "%.6g", f->f);
		break;
	case LOG_FIELD_ERRNO:
		put_string(b, format,
			   strerror_r((int)(f->i < 0 ? -f->i : f->i), text, sizeof(text)));
		break;
	}
}

static void put_time(struct buf *b, enum log_format format, uint64_t real_ns)
{
	time_t s = (time_t)(real_ns / NS_PER_S);
	struct tm tm;
	char text[64];
	char whole[96];

	(void)gmtime_r(&s, &tm);
	(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(whole, sizeof(whole), "%s.%03uZ", text,
		       (unsigned int)(real_ns % NS_PER_S / NS_PER_MS));
	put_field(b, format, &(struct log_field)LOG_STR("ts", whole));
}

static void put_line(struct buf *b, enum log_format format, enum log_level level, const char *msg,
		     const struct log_field *fields, unsigned int repeated)
{
	if (format == LOG_FORMAT_JSON)
		(void)buf_append_char(b, '{');
	put_time(b, format, clock_real_ns());
	put_field(b, format, &(struct log_field)LOG_STR("level", level_names[level]));
	put_field(b, format, &(struct log_field)LOG_STR("msg", msg));
	for (; fields->key; fields++)
		put_field(b, format, fields);
	if (repeated)
		put_field(b, format, &(struct log_field)LOG_UINT("repeated", repeated));
	(void)buf_append_str(b, format == LOG_FORMAT_JSON ? "}\n" : "\n");
}

static void hold_line(enum log_format format, enum log_level level, const struct buf *line)
{
	struct log_held_line head = { .level = level, .bytes = line->len };
	struct buf *text = &sink.held[format];
	size_t len = text->len;

	/* Both or neither: write_held() finds a line's text by the headers before it. */
	if (buf_append(text, line->data, line->len) == 0 &&
	    buf_append(&sink.held_level[format], &head, sizeof(head)) < 0)
		text->len = len;
}

/* At twice of what is kept the older half goes: a byte is moved once at most. */
static void emit(const char *line, size_t n)
{
	struct buf *b = &sink.recent;

	(void)file_write_fd(STDERR_FILENO, line, n);
	if (b->len + n > b->max_bytes) {
		const char *from =
			b->data + b->len - (b->len > LOG_RECENT_MAX ? LOG_RECENT_MAX : 0);
		const char *next = memchr(from, '\n', (size_t)(b->data + b->len - from));

		next = next ? next + 1 : b->data + b->len;
		b->len -= (size_t)(next - b->data);
		memmove(b->data, next, b->len);
	}
	(void)buf_append(b, line, n);
}

int log_recent(struct buf *out)
{
	pthread_mutex_lock(&sink.lock);
	const struct buf *b = sink.configured ? &sink.recent : &sink.held[sink.format];
	const char *text = buf_str(b);
	size_t n = b->len;

	/* From the beginning of a line. */
	if (n > LOG_RECENT_MAX) {
		const char *from = text + n - LOG_RECENT_MAX;
		const char *next = memchr(from, '\n', LOG_RECENT_MAX);

		n = next ? (size_t)(text + n - next - 1) : 0;
		text = next ? next + 1 : text;
	}
	int r = buf_append(out, text, n);
	pthread_mutex_unlock(&sink.lock);
	return r;
}

static void write_held(enum log_format format)
{
	const char *text = buf_str(&sink.held[format]);
	const struct buf *heads = &sink.held_level[format];

	for (size_t at = 0; at + sizeof(struct log_held_line) <= heads->len;
	     at += sizeof(struct log_held_line)) {
		struct log_held_line head;

		memcpy(&head, heads->data + at, sizeof(head));
		if (head.level <= sink.level)
			emit(text, head.bytes);
		text += head.bytes;
	}
	for (int i = 0; i < 2; i++) {
		buf_fini(&sink.held[i]);
		buf_fini(&sink.held_level[i]);
	}
}

void log_configure(enum log_level level, enum log_format format)
{
	pthread_mutex_lock(&sink.lock);
	sink.level = level;
	sink.format = format;
	if (!sink.configured)
		write_held(format);
	sink.configured = true;
	pthread_mutex_unlock(&sink.lock);
}

void log_flush_held(void)
{
	pthread_mutex_lock(&sink.lock);
	if (!sink.configured)
		write_held(sink.format);
	pthread_mutex_unlock(&sink.lock);
}

bool log_enabled(enum log_level level)
{
	pthread_mutex_lock(&sink.lock);
	bool enabled = !sink.configured || level <= sink.level;
	pthread_mutex_unlock(&sink.lock);
	return enabled;
}

static void write_or_hold(enum log_level level, const char *msg, const struct log_field *fields,
			  unsigned int repeated)
{
	enum log_format first = sink.configured ? sink.format : LOG_FORMAT_LOGFMT;
	enum log_format last = sink.configured ? sink.format : LOG_FORMAT_JSON;

	for (enum log_format format = first; format <= last; format++) {
		_cleanup_buf_ struct buf line = BUF_INIT(LOG_LINE_MAX);

		put_line(&line, format, level, msg, fields, repeated);
		if (line.failed && line.len > 0)
			line.data[line.len - 1] = '\n';
		if (sink.configured)
			emit(buf_str(&line), line.len);
		else
			hold_line(format, level, &line);
	}
}

void log_write(enum log_level level, struct ratelimit *limit, const char *msg,
	       const struct log_field *fields)
{
	unsigned int repeated = 0;

	pthread_mutex_lock(&sink.lock);
	if (!sink.configured || level <= sink.level)
		if (!limit || ratelimit_pass(limit, clock_mono_ns(), &repeated))
			write_or_hold(level, msg, fields, repeated);
	pthread_mutex_unlock(&sink.lock);
}
