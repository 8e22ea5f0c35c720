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
};

static const struct format formats[PROFILE_FORMAT_MAX] = {
	[PROFILE_FORMAT_UNSET] = { .name = "" },
	[PROFILE_FOLDED] = { .name = "folded" },
	[PROFILE_PPROF] = { "pprof", { ".pb.gz", ".pprof" }, "xagent.pb.gz", false },
	[PROFILE_TABLE] = { .name = "table" },
	[PROFILE_HTML] = { "html", { ".html", ".htm" }, "xagent.html", true },
	[PROFILE_SVG] = { "svg", { ".svg", NULL }, "xagent.svg", true },
	[PROFILE_SPEEDSCOPE] = { "speedscope",
				 { ".speedscope.json", NULL },
				 "xagent.speedscope.json",
				 true },
	[PROFILE_OTLP] = { "otlp", { ".otlp", NULL }, "xagent.otlp", false },
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

static bool has_suffix(const struct format *f, struct str path)
{
	for (size_t i = 0; i < MAX_SUFFIXES && f->suffixes[i]; i++)
		if (str_ends_with(path, str_from(f->suffixes[i])))
			return true;
	return false;
}

enum profile_format profile_format_of_file(const char *path)
{
	for (unsigned int i = PROFILE_FORMAT_UNSET + 1; i < PROFILE_FORMAT_MAX; i++)
		if (has_suffix(&formats[i], str_from(path)))
			return i;
	return PROFILE_FOLDED;
}

const char *profile_format_own_file(enum profile_format format)
{
	assert(format < PROFILE_FORMAT_MAX);
	return formats[format].own_file;
}

bool profile_format_is_graph(enum profile_format format)
{
	assert(format < PROFILE_FORMAT_MAX);
	return formats[format].is_graph;
}
