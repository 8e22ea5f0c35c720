/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One profile of one series, as it leaves the stages before: immutable, held by references, and turned into bytes by encoders, each of which
 * is run once, and only if a receiver wants its form.
 *
 *	worker:  tables ──► profile ──► the forms that receivers have asked for
 *	loop:    profile ──► receivers, a reference each
 *
 * A profile belongs to the worker until it is delivered: that makes its forms, nobody else. Afterwards it never changes, so any thread that has
 * a reference may read it. References are taken and dropped on any thread. A form has references of its own: who only sends bytes keeps no tables.
 */
#ifndef XAGENT_AGENT_ENCODE_PROFILE_H
#define XAGENT_AGENT_ENCODE_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/target/label.h"
#include "agent/util/cleanup.h"
#include "agent/util/shared_bytes.h"
#include "pprof/pprof.h"

/* X(NAME, name): a form, made by the encoder encode_name(). */
#define PROFILE_FORMS(X)                                                                  \
	X(PPROF, pprof)	  /* gzip'd, for a server or a file */                            \
	X(FOLDED, folded) /* "series;root;…;leaf count" lines, for flame graph tools */ \
	X(OTLP, otlp)	  /* for a server of OpenTelemetry: see otlp_form.h */            \
	X(OTLP_GZIP, otlp_gzip)                                                           \
	X(OTLP_FILE, otlp_file)

enum profile_form {
#define PROFILE_FORM(NAME, name) FORM_##NAME,
	PROFILE_FORMS(PROFILE_FORM)
#undef PROFILE_FORM
		FORM_MAX
};

/* What receivers want of profiles: bits. */
#define PROFILE_WANT(form) (1U << (form))
#define PROFILE_WANT_TABLES (1U << FORM_MAX) /* the profile itself */
/* No two of one source have the same millisecond: whose labels become equal on the way are one series, and to a server two of one series and
 * time are one that was sent again. */
#define PROFILE_WANT_APART (1U << (FORM_MAX + 1))

struct profile {
	atomic_uint n_refs;
	struct labels *labels; /* a reference; NULL: it is about all series */
	uint64_t n_samples;
	uint64_t time_ns;
	uint64_t spread_ns; /* its sending may be put off by less than this; 0: by nothing */
	/* Types, period, samples, locations, functions, mappings, texts: frozen. NULL: a form of it is all that is left. */
	struct pprof_builder *tables;
	struct shared_bytes *forms[FORM_MAX]; /* a reference each; NULL: not made */
	struct profile *of; /* a reference to whom the tables belong; NULL: they are its own */
	bool is_foreign; /* its bytes came from outside of the agent, and nobody has looked into them */
};

/* With one reference; takes the builder (which becomes NULL) in any case, and a reference to the labels. 0 or -ENOMEM. */
int profile_new(struct pprof_builder **tables, struct labels *labels, uint64_t n_samples,
		uint64_t time_ns, struct profile **ret_profile);
/*
 * One that came from outside as pprof, gzip'd or plain: the bytes are its FORM_PPROF and go out as they came; there are no tables. Takes
 * references. 0 or -ENOMEM.
 *
 *	bytes, labels ──► profile_of_pprof() ──► forms that receivers want besides (ingest_tables(), profile_lend_tables()) ──► receivers
 *
 * component/receivers/received.h does all of it. It is foreign: who reads it (the store, an encoder) checks it, and may refuse it.
 */
int profile_of_pprof(struct shared_bytes *pprof, struct labels *labels, uint64_t time_ns,
		     struct profile **ret_profile);
struct profile *profile_ref(struct profile *p);
void profile_unref(struct profile *p); /* NULL-safe */
DEFINE_CLEANUP(struct profile *, profile_unref);

/* Other labels; before anybody else has a reference. */
void profile_set_labels(struct profile *p, struct labels *labels);

/* The same samples of another series: tables and forms are those of `p`, of which it has a reference. For forms without labels in them
 * (FORM_PPROF, FORM_OTLP, FORM_OTLP_GZIP). 0 or -ENOMEM. */
int profile_relabelled(struct profile *p, struct labels *labels, struct profile **ret_profile);

/* Tables made of its bytes, for profile_make(); taken, and *tables becomes NULL. Before anybody else has a reference; profile_drop_tables() ends it. */
void profile_lend_tables(struct profile *p, struct pprof_builder **tables);

/* Makes the form, if it was not made; before anybody else has a reference. 0; -ENODATA: there are no tables to make it of; -ENOMEM, -EFBIG. */
int profile_make(struct profile *p, enum profile_form form);
/* The form, borrowed from the profile; NULL: it was not made. */
struct shared_bytes *profile_form(const struct profile *p, enum profile_form form);
/* How long it is; 0: it was not made. */
size_t profile_form_bytes(const struct profile *p, enum profile_form form);
/* Runs the encoder for who takes the bytes and is the only one. The same results. */
int profile_encode(const struct profile *p, enum profile_form form, struct pprof_bytes *ret_bytes);
/* FORM_OTLP_FILE of several, all of which have tables. 0 or -errno. */
int profiles_encode_otlp(struct profile *const *profiles, size_t n, struct pprof_bytes *ret_bytes);
/* Its forms are all that anybody wants. */
void profile_drop_tables(struct profile *p);

/* What it takes of memory. */
size_t profile_memory_bytes(const struct profile *p);

/* The encoders; any thread that has a reference. 0 or -errno. */
#define PROFILE_FORM(NAME, name) \
	int encode_##name(const struct profile *p, struct pprof_bytes *ret_bytes);
PROFILE_FORMS(PROFILE_FORM)
#undef PROFILE_FORM

#endif
