/* SPDX-License-Identifier: Apache-2.0 */
/* V8. What is read in a tick is in bpf/runtimes/v8.bpf.h; here is what a file tells, and names that a tick could not read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/runtimes/runtime.h"
#include "agent/runtimes/v8/layout.h"
#include "agent/runtimes/v8/names.h"
#include "agent/runtimes/v8/sources.h"

_Static_assert(offsetof(struct v8_layout, builtins_at) == WIRE_CLAIMED_AT * 8 &&
		       offsetof(struct v8_layout, builtins_bytes) == WIRE_CLAIMED_BYTES * 8,
	       "the builtins are claimed");

/* No script is longer. */
#define MAX_LINE (1U << 30)

static bool v8_detect(const struct elf *elf, struct wire_runtime *ret_runtime)
{
	struct v8_constants constants;
	struct v8_layout layout;

	if (!v8_constants_read(elf, &constants))
		return false;
	v8_layout_from_constants(&constants, &layout);
	memcpy(ret_runtime->words, &layout, sizeof(layout));
	ret_runtime->flags = WIRE_RUNTIME_GENERATES | WIRE_RUNTIME_CLAIMS;
	return true;
}

static void v8_describe(const struct wire_runtime *runtime, char *to, size_t n)
{
	struct v8_layout l;

	memcpy(&l, runtime->words, sizeof(l));
	if (l.is_supported)
		(void)snprintf(to, n, "V8 %u.%u: its functions are shown", l.major, l.minor);
	else if (l.major > V8_LAST_MAJOR || (l.major && l.major < V8_FIRST_MAJOR))
		(void)snprintf(to, n, "V8 %u.%u: this xagent knows %d to %d", l.major, l.minor,
			       V8_FIRST_MAJOR, V8_LAST_MAJOR);
	else if (l.builtins_bytes == 0)
		(void)snprintf(
			to, n,
			"V8 %u.%u: no symbol tells where its builtins are, and they were not found",
			l.major, l.minor);
	else
		(void)snprintf(to, n, "V8: a build whose structures are not known");
}

static bool v8_resolve(const struct wire_runtime *of, const struct runtime_memory *memory,
		       uint64_t function, uint32_t print, char *buf, size_t n_buf,
		       struct code_text *ret_text)
{
	struct v8_layout layout;

	if (!of)
		return false;
	memcpy(&layout, of->words, sizeof(layout));
	return layout.is_supported &&
	       v8_name_read(&layout, memory, function, print, buf, n_buf, ret_text);
}

static int v8_read_source(const struct wire_runtime *of, const struct runtime_memory *memory,
			  const struct source_function *function, struct source_facts *ret_facts)
{
	struct v8_layout layout;

	if (!of)
		return -EAGAIN;
	memcpy(&layout, of->words, sizeof(layout));
	return layout.is_supported ? v8_source_read(&layout, memory, function, ret_facts) : -ENOENT;
}

/* The kernel half tells how many lines further on it is. */
static uint32_t v8_line(const struct runtime_lines *lines, uint32_t position)
{
	uint32_t n = v8_position_lines(position);

	return position != UINT32_MAX && n < MAX_LINE && lines->first_line < MAX_LINE
		       ? lines->first_line + n
		       : 0;
}

const struct runtime runtime_v8 = {
	.kind = RUNTIME_V8,
	.name = "v8",
	.detect = v8_detect,
	.describe = v8_describe,
	.resolve = v8_resolve,
	.read_source = v8_read_source,
	.source_id = v8_source_id,
	.name_in_source = v8_name_in_source,
	.unnamed = v8_name_unnamed,
	.line = v8_line,
	.column = v8_position_column,
};
