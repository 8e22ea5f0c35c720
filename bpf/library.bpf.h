/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which library with a runtime a process has mapped, and where, before the agent has looked at the process.
 *
 *	auxiliary vector ─► program headers ─► dynamic section ─► struct r_debug ─► list of struct link_map: one a library
 *
 * That list is what the dynamic loader keeps for debuggers (glibc, musl). It tells where a library may be: one whose dynamic section and section table
 * are where a known one has them (library_key). Whether it is, the kernel tells, by the inode of what is mapped there (bpf/image.h). All of the
 * list is the process's memory, which may hold anything: LIBRARY_MAX of it are looked at, and no address is believed.
 */
#ifndef XAGENT_BPF_LIBRARY_BPF_H
#define XAGENT_BPF_LIBRARY_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/image.bpf.h"
#include "bpf/kernel.h"
#include "bpf/walk.bpf.h"

/* Libraries of a process: Python with its extension modules has 60, a JVM 40. */
#define LIBRARY_MAX 256
/* Words that are looked at. The auxiliary vector begins with what the machine tells (ARCH_DLINFO), then comes what is wanted here
 * (create_elf_tables(), fs/binfmt_elf.c). */
#define LIBRARY_AUX_WORDS 40
#define LIBRARY_MAX_HEADERS 16
#define LIBRARY_HEADER_WORDS \
	7 /* Elf64_Phdr: type and flags, offset, vaddr, paddr, filesz, memsz, align */
#define LIBRARY_MAX_DYNAMIC 64
#define LIBRARY_SHOFF 40 /* Elf64_Ehdr.e_shoff */

/* include/uapi/linux/auxvec.h, include/uapi/linux/elf.h */
#define AUX_PHDR 3
#define AUX_PHNUM 5
#define HEADER_DYNAMIC 2
#define HEADER_SELF 6
#define DYNAMIC_DEBUG 21

/* The window of the stack holds nothing before the walk: words are read into it. */
static __always_inline __u64 *library_words(struct scratch *s)
{
	return (__u64 *)s->window.bytes;
}

/* The program headers of the executable, and how many; 0: not known. */
static __always_inline __u64 library_headers(struct scratch *s, struct mm_struct *mm, __u64 *ret_n)
{
	__u64 *words = library_words(s);
	__u64 at = 0;

	*ret_n = 0;
	if (!bpf_core_field_exists(mm->saved_auxv) ||
	    bpf_probe_read_kernel(words, LIBRARY_AUX_WORDS * 8,
				  (void *)mm + bpf_core_field_offset(struct mm_struct, saved_auxv)))
		return 0;
	for (int i = 0; i < LIBRARY_AUX_WORDS; i += 2) {
		if (words[i] == AUX_PHDR)
			at = words[i + 1];
		if (words[i] == AUX_PHNUM)
			*ret_n = words[i + 1];
	}
	return at;
}

/* The dynamic section of the executable; 0: it has none, and no libraries. */
static __always_inline __u64 library_dynamic(struct scratch *s, __u64 headers_at, __u64 n)
{
	__u64 *words = library_words(s);
	__u64 self = 0, dynamic = 0;

	if (!headers_at ||
	    bpf_probe_read_user(words, LIBRARY_MAX_HEADERS * LIBRARY_HEADER_WORDS * 8,
				(void *)headers_at))
		return 0;
	for (__u32 i = 0; i < LIBRARY_MAX_HEADERS; i++) {
		const __u64 *header = &words[i * LIBRARY_HEADER_WORDS];

		if (i < n && (__u32)header[0] == HEADER_SELF)
			self = header[2];
		if (i < n && (__u32)header[0] == HEADER_DYNAMIC)
			dynamic = header[2];
	}
	return self && dynamic ? headers_at - self + dynamic : 0;
}

/* The first library of the list; 0: there is none yet. */
static __always_inline __u64 library_first(struct scratch *s, __u64 dynamic_at)
{
	__u64 *words = library_words(s);
	__u64 debug = 0;

	if (!dynamic_at || bpf_probe_read_user(words, LIBRARY_MAX_DYNAMIC * 16, (void *)dynamic_at))
		return 0;
	for (int i = 0; i < LIBRARY_MAX_DYNAMIC * 2; i += 2)
		if (words[i] == DYNAMIC_DEBUG && !debug)
			debug = words[i + 1];
	/* struct r_debug: a version, the list */
	if (!debug || bpf_probe_read_user(words, 16, (void *)debug))
		return 0;
	return words[1];
}

/* One struct link_map: what addresses are raised by, name, dynamic section, the next one. */
static long library_step(__u32 index, void *data)
{
	struct scratch *s = bpf_map_lookup_elem(&scratch, data);
	const __u64 *text;
	__u64 *words;
	__u64 shoff = 0, key;

	(void)index;
	if (!s || !s->library.next)
		return 1;
	words = library_words(s);
	if (bpf_probe_read_user(words, 32, (void *)s->library.next))
		return 1;
	s->library.next = words[3];
	if (bpf_probe_read_user(&shoff, sizeof(shoff), (void *)words[0] + LIBRARY_SHOFF))
		return 0;
	key = library_key(words[2] - words[0], shoff);
	text = bpf_map_lookup_elem(&runtime_libraries, &key);
	if (!text)
		return 0;
	s->library.base = words[0];
	s->library.text = words[0] + *text;
	return 1;
}

static long library_see(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	__u64 *image = data;

	(void)task;
	*image = image_of_file(KERNEL_READ(vma, vm_file, NULL));
	return 0;
}

/* Fills s->library: text 0 when there is none. */
__noinline int library_find(__u32 level)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = KERNEL_READ(task, mm, NULL);
	struct scratch *s = walk_scratch(level);
	__u64 headers_at, n;

	if (!s || !mm)
		return 0;
	headers_at = library_headers(s, mm, &n);
	s->library.next = library_first(s, library_dynamic(s, headers_at, n));
	bpf_loop(LIBRARY_MAX, library_step, &level, 0);
	return 0;
}

/* The number of what is mapped there; 0: not to be known now, as in the middle of a change of what is mapped. */
__noinline __u64 library_image(__u64 text)
{
	__u64 image = 0;

	(void)bpf_find_vma(bpf_get_current_task_btf(), text, library_see, &image, 0);
	return image;
}

#endif
