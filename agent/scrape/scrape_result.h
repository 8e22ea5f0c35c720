/* SPDX-License-Identifier: Apache-2.0 */
/* How a scrape can end. */
#ifndef XAGENT_AGENT_SCRAPE_SCRAPE_RESULT_H
#define XAGENT_AGENT_SCRAPE_SCRAPE_RESULT_H

/* Of an answer, compressed or not. The largest heap profiles of Go services have some 2 MiB. */
#define SCRAPE_MAX_BODY_BYTES ((size_t)8 << 20)
/* What it may unpack to: four times what a Pyroscope server takes by default. */
#define SCRAPE_MAX_PLAIN_BYTES ((size_t)16 << 20)

/* X(name, value of the label `result`) */
#define SCRAPE_RESULTS(X)                                                              \
	X(OK, "ok")                                                                    \
	X(UNREACHABLE, "unreachable") /* no such name, or nobody answers there */      \
	X(TLS, "tls")                                                                  \
	X(TIMEOUT, "timeout")                                                          \
	X(BROKEN, "broken") /* the connection ended, or it is not HTTP */              \
	X(STATUS, "status") /* not 2xx */                                              \
	X(NO_PROFILE, "no_profile")                                                    \
	X(TOO_LARGE, "too_large")                                                      \
	X(HELD, "held_bytes") /* the answers under way take too much together */       \
	X(REQUEST, "request") /* it could not be sent: a secret that cannot be read */ \
	X(MEMORY, "memory")

enum scrape_result {
#define SCRAPE_RESULT_ENUM(name, text) SCRAPE_##name,
	SCRAPE_RESULTS(SCRAPE_RESULT_ENUM)
#undef SCRAPE_RESULT_ENUM
		SCRAPE_RESULT_MAX
};

const char *scrape_result_text(enum scrape_result result);

#endif
