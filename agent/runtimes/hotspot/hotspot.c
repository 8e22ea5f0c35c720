/* SPDX-License-Identifier: Apache-2.0 */
/* HotSpot. What is read in a tick is in bpf/runtimes/hotspot.bpf.h; here is what a file and a process tell of where it is. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "agent/runtimes/hotspot/layout.h"
#include "agent/runtimes/hotspot/lines.h"
#include "agent/runtimes/hotspot/more.h"
#include "agent/runtimes/hotspot/vm_structs.h"
#include "agent/runtimes/runtime.h"

_Static_assert(offsetof(struct hotspot_layout, claimed_at) == WIRE_CLAIMED_AT * 8 &&
		       offsetof(struct hotspot_layout, claimed_bytes) == WIRE_CLAIMED_BYTES * 8,
	       "nothing of the file is claimed");

/* Frames of the interpreter are others on each machine. */
#define FIRST_MAJOR_AARCH64 17

static bool are_frames_known(uint16_t machine, uint8_t major)
{
	return machine == EM_X86_64 || (machine == EM_AARCH64 && major >= FIRST_MAJOR_AARCH64);
}

static bool hotspot_detect(const struct elf *elf, struct wire_runtime *ret_runtime)
{
	struct hotspot_layout layout;
	struct hotspot_more more;

	if (!hotspot_file_read(elf, &layout, &more))
		return false;
	/* JDK 8 calls itself HotSpot 25, in a variable that its file has no value of. */
	if (layout.at[HOTSPOT_HEAP] != HOTSPOT_NONE)
		layout.major = 8;
	if (!are_frames_known(elf_machine(elf), layout.major))
		layout.table_at = 0;
	memcpy(ret_runtime->words, &layout, sizeof(layout));
	memcpy(ret_runtime->more, &more, sizeof(more));
	/* Code is claimed only in so far as it may lie where no mapping is known yet. */
	ret_runtime->flags = WIRE_RUNTIME_GENERATES | WIRE_RUNTIME_CLAIMS | WIRE_RUNTIME_RESUMES;
	return true;
}

static void hotspot_describe(const struct wire_runtime *runtime, char *to, size_t n)
{
	struct hotspot_layout l;

	memcpy(&l, runtime->words, sizeof(l));
	if (l.major > HOTSPOT_LAST_MAJOR || (l.major && l.major < HOTSPOT_FIRST_MAJOR))
		(void)snprintf(to, n, "OpenJDK %u: this xagent knows %d to %d", l.major,
			       HOTSPOT_FIRST_MAJOR, HOTSPOT_LAST_MAJOR);
	else if (!l.is_supported && !hotspot_layout_is_known(&l))
		(void)snprintf(to, n, "OpenJDK: a build whose structures are not known");
	else if (l.security)
		(void)snprintf(to, n, "OpenJDK %u.0.%u: its methods are shown", l.major,
			       l.security);
	else
		(void)snprintf(to, n, "OpenJDK %u: its methods are shown", l.major);
}

/* A build that is not known counts as such: the kernel half is told. */
static bool hotspot_publish(struct wire_runtime *runtime, uint32_t pid,
			    const struct runtime_memory *memory)
{
	struct hotspot_layout of_file, layout;
	struct hotspot_more more_of_file, more;

	(void)pid;
	memcpy(&of_file, runtime->words, sizeof(of_file));
	memcpy(&more_of_file, runtime->more, sizeof(more_of_file));
	if (!hotspot_layout_is_known(&of_file))
		return true;
	if (!hotspot_layout_read(&of_file, runtime->base, memory, &layout))
		return false;
	hotspot_more_read(&more_of_file, of_file.table_at + runtime->base, memory, &more);
	memcpy(runtime->words, &layout, sizeof(layout));
	memcpy(runtime->more, &more, sizeof(more));
	return true;
}

const struct runtime runtime_hotspot = {
	.kind = RUNTIME_HOTSPOT,
	.name = "hotspot",
	.detect = hotspot_detect,
	.describe = hotspot_describe,
	.publish = hotspot_publish,
	.line = hotspot_line,
};
