/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of OTLP's dictionary, equal ones once, in the order in which they came. Text 0 is there from the start: "". Borrowed. Pure. */
#ifndef XAGENT_AGENT_ENCODE_OTLP_TEXTS_H
#define XAGENT_AGENT_ENCODE_OTLP_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/util/id_slots.h"

struct otlp_texts {
	const char **items;
	size_t n, max_n;
	struct id_slots slots;
};

/* Of zeroes. Room for so many more. 0 or -ENOMEM (then it can be ended all the same). */
int otlp_texts_reserve(struct otlp_texts *t, size_t n_more);
void otlp_texts_fini(struct otlp_texts *t);

/* The text's place, a new one, for which there has to be room, or that of its equal. */
uint32_t otlp_texts_add(struct otlp_texts *t, const char *text);

#endif
