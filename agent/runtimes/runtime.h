/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime: an interpreter whose functions have frames of their own (bpf/runtime.bpf.h). Each has a folder here, a header in bpf/runtimes/ and one
 * line in bpf/runtimes.h; `runtime_NAME` is its half in the agent.
 *
 *	detect (a file's bytes) → publish (a process that has mapped it) → the kernel half sends frames, and names as it meets them
 *	                                                                  └ resolve (a name that it could not read)
 *
 * Nothing is kept by a runtime itself: what is known of files and processes is in runtime_tables.h, names are in code_names.h, and both are retracted
 * there.
 */
#ifndef XAGENT_AGENT_RUNTIMES_RUNTIME_H
#define XAGENT_AGENT_RUNTIMES_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/object/elf.h"
#include "bpf/wire.h"

/* What a function is called. Bytes as the process has them, not checked: valid until the call returns. */
struct code_text {
	const char *name;
	size_t n_name;
	const char *file;
	size_t n_file;
	uint32_t line; /* where it begins; 0: not known */
	/* The runtime's own table of lines; 0 bytes: there is none. */
	const uint8_t *lines;
	size_t n_lines;
	uint8_t lines_format; /* a number of the runtime's own */
	/* What its source is known by elsewhere, as by those who keep source maps; NULL: by nothing, or not known. */
	const char *source_id;
};

/* Of one process, whose page may never come (agent/process/thread_memory.h): 0, or -errno. */
struct runtime_memory {
	int (*read)(void *data, uint64_t addr, void *dst, size_t n);
	void *data;
	size_t max_bytes; /* that what is read, and what is made of it, may take; 0: what any source may */
};

/* What tells the lines of a function: where it begins (not 0), and its runtime's own table of n bytes. */
struct runtime_lines {
	uint32_t first_line;
	const uint8_t *table;
	size_t n;
	uint8_t format;
};

/* Characters that are read of a source of which its end is all that is wanted. */
#define RUNTIME_SOURCE_END (16U * 1024)

/* A function whose place in its source was sent with its name (struct wire_name). `end` 0: its name is whole, and only what the source is known by is wanted. */
struct source_function {
	uint64_t address; /* as resolve() has it */
	uint32_t print;
	uint32_t source, n_source, begin, end;
};

/* What a runtime keeps of one source: bytes of its own. */
struct source_facts {
	void *bytes;
	size_t n;
};

struct runtime {
	enum runtime_kind kind;
	const char *name; /* in the text of frames without a name */
	/* Worker. Whether the file holds the runtime, by its bytes, which may be anything; its sections are loaded. Fills flags and words, in
	 * addresses as linked. With WIRE_RUNTIME_PART it holds none by itself. */
	bool (*detect)(const struct elf *elf, struct wire_runtime *ret_runtime);
	/* What another file of the process adds (WIRE_RUNTIME_PART). Its words may be anything that detect() has accepted. NULL: there are no such files. Pure. */
	void (*join)(struct wire_runtime *runtime, const struct wire_runtime *part);
	/* What a file holds, for a person: its version, and why its functions are not shown if they are not. NULL: the name says it. Pure. */
	void (*describe)(const struct wire_runtime *runtime, char *to, size_t n);
	/* Loop. What the kernel half is to know of one process that gets its table, beside what was detected; `base` is set, words may be changed. Called
	 * again whenever its mappings have changed. Memory that does not come is waited for, a tenth of a second for all reads together at most. False: the
	 * process is not to be walked with it, for now. NULL: what was detected is all, as it is for a process without a table. */
	bool (*publish)(struct wire_runtime *runtime, uint32_t pid,
			const struct runtime_memory *memory);
	/* Loop. What publish() has kept of the process is not needed any more: it has ended, runs another image, was forgotten, or has another runtime now.
	 * Once for any number of publish() that were true. NULL: nothing is kept. */
	void (*retract)(uint32_t pid);
	/* A name that the kernel half could not read. False: not this way either, or it is another function by now. `of` is what was published of the
	 * process, NULL: nothing; `buf` is for the texts. NULL: no names but those that are sent. */
	bool (*resolve)(const struct wire_runtime *of, const struct runtime_memory *memory,
			uint64_t function, uint32_t print, char *buf, size_t n_buf,
			struct code_text *ret_text);
	/* What the source of that function tells of all functions in it, from the process's memory; to be freed. 0; -EAGAIN: it was moved meanwhile, or a page did not
	 * come; or another error, at which the source tells nothing. 1: of functions nothing is told, as there is no room for it. NULL: what was sent is the whole name. */
	int (*read_source)(const struct wire_runtime *of, const struct runtime_memory *memory,
			   const struct source_function *function, struct source_facts *ret_facts);
	/* What the source is known by, as long as the facts are there; NULL: nothing. NULL where no source has such. Pure. */
	const char *(*source_id)(const struct source_facts *facts);
	/* The whole name of a function, by that and by what was sent: fills `to`, and returns how many bytes. 0: what was sent is the whole. Pure. */
	size_t (*name_in_source)(const struct source_facts *facts,
				 const struct source_function *function,
				 const struct code_text *text, char *to, size_t n_to);
	/* What is shown for a function whose name is empty (text->n_name 0), by its file and line: fills `to`, and returns how many bytes. NULL: it has no name. Pure. */
	size_t (*unnamed)(const struct code_text *text, char *to, size_t n_to);
	/* The line of a position in a function; 0: not known. NULL: never known. `lines` may hold anything. Pure. */
	uint32_t (*line)(const struct runtime_lines *lines, uint32_t position);
	/* The column, from 1 on; 0: not told. NULL: never. Pure. */
	uint32_t (*column)(uint32_t position);
};

/* All of bpf/runtimes.h, by enum runtime_kind; NULL for RUNTIME_NONE. */
extern const struct runtime *const runtime_list[RUNTIME_MAX];

/* What a file tells of the runtime that it holds. */
struct runtime_file {
	/* Kind, flags and words, in addresses as linked; `base` is where its first executable segment is linked to be. */
	struct wire_runtime wire;
	uint64_t image;	  /* the number of its inode (bpf/image.h); 0: not known */
	uint64_t library; /* library_key(); 0: nobody maps it as a library */
};

/* Which of them a file holds: true. Worker; its sections are loaded. */
bool runtime_detect(const struct elf *elf, struct runtime_file *ret_file);
/* Whether there is any runtime: without one nothing is to be looked for. */
bool runtime_is_any(void);

/* NULL: there is no such one, also for a number that nobody has. */
const struct runtime *runtime_of(uint32_t kind);

#endif
