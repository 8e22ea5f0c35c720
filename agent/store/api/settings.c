/* SPDX-License-Identifier: Apache-2.0 */
/* What users of Grafana's app have chosen. */
#include "agent/store/api/settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/cleanup.h"

/* The first whose name is not before this one. */
static size_t find(const struct settings *s, const char *name)
{
	size_t i = 0;

	while (i < s->n && strcmp(s->items[i].name, name) < 0)
		i++;
	return i;
}

static bool is_at(const struct settings *s, size_t i, const char *name)
{
	return i < s->n && strcmp(s->items[i].name, name) == 0;
}

static int insert(struct settings *s, size_t i, char *value, const char *name, int64_t modified_ms)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	memmove(&s->items[i + 1], &s->items[i], (s->n - i) * sizeof(s->items[0]));
	s->items[i] = (struct setting){ copy, value, modified_ms };
	s->n++;
	return SETTINGS_SET;
}

int settings_set(struct settings *s, const char *name, const char *value, int64_t modified_ms)
{
	size_t i = find(s, name);
	bool is_there = is_at(s, i, name);

	if (strlen(name) > SETTINGS_MAX_NAME_BYTES || strlen(value) > SETTINGS_MAX_VALUE_BYTES)
		return SETTINGS_TOO_LONG;
	if (is_there && s->items[i].modified_ms > modified_ms)
		return SETTINGS_NEWER;
	if (!is_there && s->n == SETTINGS_MAX)
		return SETTINGS_FULL;
	_cleanup_free_ char *copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	if (!is_there) {
		int r = insert(s, i, copy, name, modified_ms);

		if (r == SETTINGS_SET)
			copy = NULL;
		return r;
	}
	free(s->items[i].value);
	s->items[i].value = TAKE_PTR(copy);
	s->items[i].modified_ms = modified_ms;
	return SETTINGS_SET;
}

void settings_delete(struct settings *s, const char *name)
{
	size_t i = find(s, name);

	if (!is_at(s, i, name))
		return;
	free(s->items[i].name);
	free(s->items[i].value);
	s->n--;
	memmove(&s->items[i], &s->items[i + 1], (s->n - i) * sizeof(s->items[0]));
}

void settings_fini(struct settings *s)
{
	while (s->n > 0)
		settings_delete(s, s->items[s->n - 1].name);
}
