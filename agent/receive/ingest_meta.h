/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request of /ingest says of its profile, besides the name: times, rate, format. As a Pyroscope server takes it: what it does not
 * understand is as if it were not there. Pure.
 *
 *	from, until	Unix time in s, ms, us or ns, by the number of digits; "now", "now-10s", "-5m"
 */
#ifndef XAGENT_AGENT_RECEIVE_INGEST_META_H
#define XAGENT_AGENT_RECEIVE_INGEST_META_H

#include <stdbool.h>
#include <stdint.h>

#define INGEST_DEFAULT_RATE 100
/* Samples a second: no clock is finer. */
#define INGEST_MAX_RATE 1000000000

/* X(NAME, text of the query's `format`, which is the value of the metrics' label as well) */
#define INGEST_FORMATS(X)           \
	X(GROUPS, "groups")         \
	X(LINES, "lines")           \
	X(TRIE, "trie")             \
	X(TREE, "tree")             \
	X(PPROF, "pprof")           \
	X(SPEEDSCOPE, "speedscope") \
	X(JFR, "jfr")

enum ingest_format {
#define INGEST_FORMAT_ENUM(NAME, text) INGEST_##NAME,
	INGEST_FORMATS(INGEST_FORMAT_ENUM)
#undef INGEST_FORMAT_ENUM
		INGEST_FORMAT_MAX
};

const char *ingest_format_text(enum ingest_format format);

/* Texts of the request; NULL where there is none. */
struct ingest_query {
	const char *name, *from, *until, *sample_rate, *spy_name, *format;
	const char *content_type, *content_encoding;
	bool may_relay; /* somebody hands on what nobody here reads (agent/push/relay.h) */
};

struct ingest_meta {
	uint64_t from_ns, until_ns; /* real time */
	uint64_t sample_rate;	    /* 0: values are what they are */
	const char *spy_name;
	enum ingest_format format;
};

/* now_ns: real time. Texts are those of the query. */
struct ingest_meta ingest_meta_read(const struct ingest_query *query, uint64_t now_ns);

#endif
