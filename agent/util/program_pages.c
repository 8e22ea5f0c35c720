/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages are still those of their file is told by /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#include "agent/util/program_pages.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/macro.h"

#define PAGEMAP_PATH "/proc/self/pagemap"
#define PAGEMAP_FILE (1ULL << 61)
#define PAGEMAP_SWAPPED (1ULL << 62)
#define PAGEMAP_PRESENT (1ULL << 63)
/* Looked at in one piece. */
#define PIECE_PAGES 256

struct release {
	int pagemap_fd;
	uintptr_t page_bytes;
};

static bool is_of_file(uint64_t entry)
{
	return !(entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) || entry & PAGEMAP_FILE;
}

/* The pages from `begin` on that one reading tells of. */
static void release_piece(const struct release *r, uintptr_t begin, size_t n_pages)
{
	uint64_t entries[PIECE_PAGES];
	ssize_t n = pread(r->pagemap_fd, entries, n_pages * sizeof(*entries),
			  (off_t)(begin / r->page_bytes * sizeof(*entries)));
	size_t n_told = n > 0 ? (size_t)n / sizeof(*entries) : 0;
	size_t first = 0;

	for (size_t i = 0; i <= n_told; i++) {
		if (i < n_told && is_of_file(entries[i]))
			continue;
		if (i > first)
			(void)madvise((void *)(begin + first * r->page_bytes),
				      (i - first) * r->page_bytes, MADV_DONTNEED);
		first = i + 1;
	}
}

static void release_segment(const struct release *r, uintptr_t begin, uintptr_t end)
{
	for (uintptr_t at = begin & ~(r->page_bytes - 1); at < end;
	     at += PIECE_PAGES * r->page_bytes) {
		size_t n_left = (end - at + r->page_bytes - 1) / r->page_bytes;

		release_piece(r, at, MIN_OF(n_left, (size_t)PIECE_PAGES));
	}
}

/* Of one file that is loaded. What is writable is this process's own. */
static int release_file(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct release *r = data;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
			release_segment(r, begin, begin + p->p_memsz);
	}
	return 0;
}

void program_pages_release(void)
{
	_cleanup_close_ int fd = open(PAGEMAP_PATH, O_RDONLY | O_CLOEXEC);
	struct release r = { fd, (uintptr_t)sysconf(_SC_PAGESIZE) };

	if (fd >= 0)
		(void)dl_iterate_phdr(release_file, &r);
}
