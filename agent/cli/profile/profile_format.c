/* SPDX-License-Identifier: Apache-2.0 */
/* The forms in which `xagent profile` writes its result. */
#include "agent/cli/profile/profile_format.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "agent/util/str.h"

#define MAX_SUFFIXES 2

struct format {
	const char *name;
	const char *suffixes[MAX_SUFFIXES];
	const char *own_file;
	bool is_graph;
	bool is_of_one_event;
};

static const struct format formats[PROFILE_FORMAT_MAX] = {
	[PROFILE_FORMAT_UNSET] = { .name = "" },
	[PROFILE_FOLDED] = { .name = "folded", .is_of_one_event = true },
	[PROFILE_PPROF] = { "pprof", { ".pb.gz", ".pprof" }, "xagent.pb.gz", false, true },
	[PROFILE_TABLE] = { .name = "table" },
	[PROFILE_HTML] = { "html", { ".html", ".htm" }, "xagent.html", true, true },
	[PROFILE_SVG] = { "svg", { ".svg", NULL }, "xagent.svg", true, true },
	[PROFILE_SPEEDSCOPE] = { "speedscope",
				 { ".speedscope.json", NULL },
				 "xagent.speedscope.json",
				 true,
				 false },
	[PROFILE_OTLP] = { "otlp", { ".otlp", NULL }, "xagent.otlp", false, false },
};

bool profile_format_parse(const char *name, enum profile_format *ret_format)
{
	for (unsigned int i = PROFILE_FORMAT_UNSET + 1; i < PROFILE_FORMAT_MAX; i++)
		if (strcmp(name, formats[i].name) == 0) {
			*ret_format = i;
			return true;
		}
	return false;
}

const char *profile_format_name(enum profile_format format)
{
	assert(format < PROFILE_FORMAT_MAX);
	return formats[format].name;
}

/* The end of the path that is the format's; NULL: it has none. */
static const char *suffix_of(const struct format *f, struct str path)
{
	for (size_t i = 0; i < MAX_SUFFIXES && f->suffixes[i]; i++)
		if (str_ends_with(path, str_from(f->suffixes[i])))
			return path.p + path.n - strlen(f->suffixes[i]);
	return NULL;
}

enum profile_format profile_format_of_file(const char *path)
{
	for (unsigned int i = PROFILE_FORMAT_UNSET + 1; i < PROFILE_FORMAT_MAX; i++)
		if (suffix_of(&formats[i], str_from(path)))
			return i;
	return PROFILE_FOLDED;
}

const char *profile_format_own_file(enum profile_format format)
{
	assert(format < PROFILE_FORMAT_MAX);
	return formats[format].own_file;
}

bool profile_format_is_of_one_event(enum profile_format format)
{
	assert(format < PROFILE_FORMAT_MAX);
	return formats[format].is_of_one_event;
}

/* A name that begins with a dot has no end by that. */
static const char *any_suffix(const char *path)
{
	struct str name = str_basename(str_from(path));
	const char *dot = strrchr(name.p, '.');

	return dot && dot > name.p ? dot : name.p + name.n;
}

void profile_format_file_of(enum profile_format format, const char *path, const char *part,
			    struct buf *out)
{
	const char *end = suffix_of(&formats[format], str_from(path));

	if (!end)
		end = any_suffix(path);
	(void)buf_append(out, path, (size_t)(end - path));
	(void)buf_printf(out, ".%s%s", part, end);
}

bool profile_format_is_graph(enum profile_format format)
{
	assert(format < PROFILE_FORMAT_MAX);
	return formats[format].is_graph;
}
