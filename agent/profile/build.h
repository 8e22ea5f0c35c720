/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a closed interval to what leaves the agent. One function a form; all run in the worker thread.
 *
 *	build_profiles	one or more profiles a series, for receivers, and of each the forms that these want
 *	build_one_pprof	all series in one profile, for a file
 *	build_folded	"series;root;…;leaf count" lines, for flame graph tools
 *	build_table	the hottest functions of each event, for a terminal
 *
 * Who wants another form brings a function of its own, and finds build->data there.
 */
#ifndef XAGENT_AGENT_PROFILE_BUILD_H
#define XAGENT_AGENT_PROFILE_BUILD_H

#include <stdint.h>

#include "agent/encode/profile.h"
#include "agent/profile/interval.h"
#include "agent/profile/naming.h"

/* One thing to deliver. */
struct built {
	struct profile *profile; /* a reference; NULL: bytes about all series */
	enum event event;
	uint16_t source;
	uint8_t *bytes; /* owned */
	size_t n_bytes;
	uint64_t n_samples;
	uint64_t n_again; /* of them, in another one, too: profile->n_samples is without these */
	uint64_t time_ns; /* as in the profile */
	struct built *next;
};

#define BUILD_NAME_MAX 256

/* What one line an interval tells. */
struct build_summary {
	uint64_t n_samples; /* in what was built, each once */
	uint64_t n_failed;  /* that found no memory or fit nowhere */
	size_t n_series;
	enum event hottest_event; /* of these three */
	char hottest_service[BUILD_NAME_MAX];
	uint64_t hottest_service_samples;
	char hottest_function[BUILD_NAME_MAX]; /* of that service, by self */
	bool kernel_hidden;
	char failed_file[BUILD_NAME_MAX]; /* whose lines cannot be read; "": none */
};

/* Tables of one interval on their way to who takes profiles as they are: as much as that may have waiting (component/receivers/pyroscope_store.c), but a
 * quarter for those that go out as bytes. */
#define BUILD_MAX_KEPT_BYTES ((size_t)6 << 20)

struct build {
	struct built *first;
	struct built **last; /* where the next is put */
	unsigned int wants;  /* PROFILE_WANT bits; the tables at first */
	size_t max_bytes; /* what making one profile may take, its bytes beside; the rest goes into the next. No ceiling at first */
	size_t kept_bytes; /* of tables that were put: half of max_bytes at most, and not more than the next */
	size_t max_kept_bytes; /* BUILD_MAX_KEPT_BYTES at first */
	uint64_t spread_ns;    /* of its profiles; 0 at first */
	void *data; /* of whoever asked for the build; the functions below do not need it */
	struct build_summary summary;
};

typedef void (*build_fn)(const struct interval *interval, struct namer *namer, struct build *build);

void build_init(struct build *b);
void build_fini(struct build *b);
/* Takes the bytes or the reference of `what`. 0 or -ENOMEM (then they are gone). */
int build_put(struct build *b, const struct built *what);

/* The latest of all that was put; 0: nothing was. */
uint64_t build_last_time_ns(const struct build *b);

void build_profiles(const struct interval *interval, struct namer *namer, struct build *build);
void build_one_pprof(const struct interval *interval, struct namer *namer, struct build *build);
void build_folded(const struct interval *interval, struct namer *namer, struct build *build);
void build_otlp(const struct interval *interval, struct namer *namer, struct build *build);
void build_table(const struct interval *interval, struct namer *namer, struct build *build);

/* Fills the summary; each of the above is followed by it. */
void build_summarize(const struct interval *interval, struct namer *namer, struct build *build);

#endif
