/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 of RFC 4648, padded; line breaks are skipped when it is read. */
#ifndef XAGENT_RIVER_CONFIG_BASE64_H
#define XAGENT_RIVER_CONFIG_BASE64_H

#include "river-config/text.h"

enum river_base64 {
	RIVER_BASE64_STANDARD, /* + and / */
	RIVER_BASE64_URL,      /* - and _ */
};

void river_base64_encode(struct river_text *t, const char *s, size_t n, enum river_base64 kind);

/* False: *ret_bad is where it goes wrong; what came before has been appended. */
bool river_base64_decode(struct river_text *t, const char *s, size_t n, enum river_base64 kind,
			 size_t *ret_bad);

#endif
