/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one process-wide log: logfmt or JSON lines on standard error, a constant message and fields after it.
 *
 *	log_info("profile pushed", LOG_STR("endpoint", url), LOG_UINT("bytes", n));
 *
 * Only agent/ logs; libraries, parsers and pure code report to their caller. Lines written before log_configure() are held back, so
 * that the configuration's level and format hold for all of them; log_flush_held() writes them when the process ends early.
 * Repeated lines of one call site are limited to LOG_BURST in LOG_INTERVAL_NS, and the next line says how many were held
 * (`repeated=`). Thread-safe.
 */
#ifndef XAGENT_AGENT_UTIL_LOG_H
#define XAGENT_AGENT_UTIL_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/util/buf.h"
#include "agent/util/ratelimit.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_MAX };
enum log_format { LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON };

#define LOG_BURST 10
#define LOG_INTERVAL_NS (60ULL * 1000000000ULL)

struct log_field {
	const char *key; /* NULL ends the list */
	enum {
		LOG_FIELD_STR,
		LOG_FIELD_INT,
		LOG_FIELD_UINT,
		LOG_FIELD_FLOAT,
		LOG_FIELD_ERRNO
	} kind;
	union {
		const char *s; /* NULL prints "" */
		int64_t i;
		uint64_t u;
		double f;
	};
};

#define LOG_STR(k, v)                                       \
	{                                                   \
		.key = (k), .kind = LOG_FIELD_STR, .s = (v) \
	}
#define LOG_INT(k, v)                                       \
	{                                                   \
		.key = (k), .kind = LOG_FIELD_INT, .i = (v) \
	}
#define LOG_UINT(k, v)                                       \
	{                                                    \
		.key = (k), .kind = LOG_FIELD_UINT, .u = (v) \
	}
#define LOG_FLOAT(k, v)                                       \
	{                                                     \
		.key = (k), .kind = LOG_FIELD_FLOAT, .f = (v) \
	}
/* v is a -errno or errno; prints err="text". */
#define LOG_ERR(v)                                              \
	{                                                       \
		.key = "err", .kind = LOG_FIELD_ERRNO, .i = (v) \
	}

/* Sets level and format and writes what was held. May be called again (reload). */
void log_configure(enum log_level level, enum log_format format);
void log_flush_held(void);

/* Appends the lines written last, as they were written, held ones included: LOG_RECENT_MAX bytes at most. 0 or -ENOBUFS, -ENOMEM. */
#define LOG_RECENT_MAX ((size_t)64 * 1024)
int log_recent(struct buf *out);

bool log_enabled(enum log_level level);
bool log_level_parse(const char *text, enum log_level *ret_level);

void log_write(enum log_level level, struct ratelimit *limit, const char *msg,
	       const struct log_field *fields);

#define LOG_AT(level, msg, ...)                                                                   \
	do {                                                                                      \
		static struct ratelimit log_limit_ = { .interval_ns = LOG_INTERVAL_NS,            \
						       .burst = LOG_BURST };                      \
		log_write(                                                                        \
			(level), &log_limit_, (msg),                                              \
			(const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ .key = NULL } }); \
	} while (0)

#define log_error(msg, ...) LOG_AT(LOG_LEVEL_ERROR, msg, __VA_ARGS__)
#define log_warn(msg, ...) LOG_AT(LOG_LEVEL_WARN, msg, __VA_ARGS__)
#define log_info(msg, ...) LOG_AT(LOG_LEVEL_INFO, msg, __VA_ARGS__)
/* Not limited by call site: whoever asks for debug wants all of it. */
#define log_debug(msg, ...)                     \
	log_write(LOG_LEVEL_DEBUG, NULL, (msg), \
		  (const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ .key = NULL } })
/* For lines that are wanted each time (one an interval). */
#define log_info_always(msg, ...)              \
	log_write(LOG_LEVEL_INFO, NULL, (msg), \
		  (const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ .key = NULL } })

#endif
