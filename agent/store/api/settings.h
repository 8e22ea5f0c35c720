/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What users of Grafana's app have chosen: names with texts, as the real server keeps them for a tenant. Inside of the read API.
 *
 * They live as long as the store. Whoever reaches the store may write them, so they are bounded. Loop thread.
 */
#ifndef XAGENT_AGENT_STORE_API_SETTINGS_H
#define XAGENT_AGENT_STORE_API_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

/* The app has a dozen of a few bytes each. */
#define SETTINGS_MAX 64
#define SETTINGS_MAX_NAME_BYTES 256
#define SETTINGS_MAX_VALUE_BYTES 4096

struct setting {
	char *name, *value;
	int64_t modified_ms; /* Unix time */
};

/* By name. Zeroed: there are none. */
struct settings {
	struct setting items[SETTINGS_MAX];
	size_t n;
};

enum settings_outcome { SETTINGS_SET, SETTINGS_NEWER, SETTINGS_FULL, SETTINGS_TOO_LONG };

/* Texts are copied. SETTINGS_SET; SETTINGS_NEWER: what is there was modified later; SETTINGS_FULL: of their number; -ENOMEM. */
int settings_set(struct settings *s, const char *name, const char *value, int64_t modified_ms);
/* No such setting: nothing happens. */
void settings_delete(struct settings *s, const char *name);
void settings_fini(struct settings *s);

#endif
