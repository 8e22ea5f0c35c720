/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dictionary of an OTLP request, filled from the tables of pprof profiles, one after the other, as samples refer to them: what nobody refers to is not
 * in it, and equal rows are one. Row 0 of each table is the zero value. Inside of agent/encode.
 */
#ifndef XAGENT_AGENT_ENCODE_OTLP_DICTIONARY_H
#define XAGENT_AGENT_ENCODE_OTLP_DICTIONARY_H

#include "agent/encode/otlp_rows.h"
#include "agent/encode/otlp_texts.h"
#include "agent/util/arena.h"
#include "agent/util/buf.h"
#include "pprof/pprof.h"

struct Perftools__Profiles__Profile; /* pprof's messages */
struct Perftools__Profiles__Sample;

/* Texts of our own; names of attributes as OpenTelemetry's semantic conventions have them. */
#define OTLP_TEXTS(X)                                      \
	X(SAMPLES, "samples")                              \
	X(COUNT, "count")                                  \
	X(OFF_CPU, "off_cpu")                              \
	X(FRAME_TYPE, "profile.frame.type")                \
	X(KERNEL, "kernel")                                \
	X(NATIVE, "native")                                \
	X(CPYTHON, "cpython")                              \
	X(V8JS, "v8js")                                    \
	X(JVM, "jvm")                                      \
	X(BUILD_ID_GNU, "process.executable.build_id.gnu") \
	X(BUILD_ID_GO, "process.executable.build_id.go")   \
	X(DEBUG_ID, "source_map.debug_id")                 \
	X(SERVICE_NAME, "service.name")                    \
	X(PROCESS_PID, "process.pid")                      \
	X(PROCESS_NAME, "process.executable.name")         \
	X(THREAD_ID, "thread.id")                          \
	X(THREAD_NAME, "thread.name")

enum otlp_text {
#define OTLP_TEXT_ENUM(NAME, text) OTLP_##NAME,
	OTLP_TEXTS(OTLP_TEXT_ENUM)
#undef OTLP_TEXT_ENUM
		OTLP_TEXT_MAX
};

enum otlp_attribute_kind { OTLP_STRING, OTLP_INT };

/* Words of an attribute's row. */
enum otlp_attribute_word {
	OTLP_ATTRIBUTE_KEY, /* a string */
	OTLP_ATTRIBUTE_KIND,
	OTLP_ATTRIBUTE_VALUE, /* one of the values, or the number */
	OTLP_ATTRIBUTE_UNIT,  /* a string */
	OTLP_ATTRIBUTE_WORDS
};

struct otlp_dictionary {
	const struct Perftools__Profiles__Profile *in; /* the present one */
	struct arena arena;			       /* of all */
	struct otlp_rows mappings, locations, functions, links, attributes, stacks;
	struct otlp_texts strings; /* the string table */
	struct otlp_texts values;  /* of attributes */
	/* A text is one of the profile's, one of ours behind these, or the profile's name behind those. */
	uint32_t texts[OTLP_TEXT_MAX];
	const char *name; /* borrowed */
	uint32_t name_text;
	size_t n_texts;
	uint32_t *
		string_of; /* each text's place in the string table; 0: not known yet, or that of "" */
	uint32_t *location_of; /* each of the profile's; 0: none yet */
};

/* Without a profile. 0 or -ENOMEM (then it can be ended all the same). */
int otlp_dictionary_init(struct otlp_dictionary *d);
void otlp_dictionary_fini(struct otlp_dictionary *d);

/* From here on what is said is of this one. `name`: what it is called, borrowed until the end; "" when its tables tell that. 0 or -ENOMEM. */
int otlp_dictionary_turn(struct otlp_dictionary *d, const struct pprof_builder *tables,
			 const char *name);

const char *otlp_text(const struct otlp_dictionary *d, uint32_t text);
/* The text's place in the string table, from now on. */
int32_t otlp_string(struct otlp_dictionary *d, uint32_t text);

/* `value`: a text, or the number. 0 or -ENOMEM. */
int otlp_attribute(struct otlp_dictionary *d, uint32_t key, enum otlp_attribute_kind kind,
		   uint64_t value, uint32_t unit, uint32_t *ret_at);
int otlp_stack(struct otlp_dictionary *d, const struct Perftools__Profiles__Sample *sample,
	       uint32_t *ret_at);

/* Room for the attributes of a sample. */
#define OTLP_MAX_ATTRIBUTES PPROF_MAX_LABELS

struct otlp_labels {
	int32_t attributes[OTLP_MAX_ATTRIBUTES];
	size_t n;
	uint32_t link; /* 0: none */
};

/* What the labels of a sample become: attributes of different names, and a link of span_id and trace_id. 0 or -ENOMEM. */
int otlp_labels(struct otlp_dictionary *d, const struct Perftools__Profiles__Sample *sample,
		struct otlp_labels *ret_labels);

/* Appends the tables as fields of ProfilesDictionary. */
void otlp_dictionary_write(const struct otlp_dictionary *d, struct buf *out);

#endif
