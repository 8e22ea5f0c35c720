/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a process's address space. */
#include "agent/util/user_space.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/util/macro.h"

#if defined(__aarch64__)

/* Where the kernel will not say (RLIMIT_AS): what nearly all are built for. */
#define USUAL_BITS 48

/* ARM64_VA_BITS of arch/arm64/Kconfig, 16 KiB pages' 36 included. */
static const unsigned int sizes[] = { 52, 48, 47, 42, 39, 36 };

/* Whether a page in the upper half of a space of so many bits can be had: nothing beyond the space can (mmap(2): ENOMEM). */
static bool reaches(unsigned int bits)
{
	size_t n = (size_t)sysconf(_SC_PAGESIZE);
	void *wanted = (void *)(1UL << (bits - 1));
	void *page = mmap(wanted, n, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (page == MAP_FAILED)
		return errno == EEXIST;
	(void)munmap(page, n);
	return page == wanted;
}

uint64_t user_space_mask(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (reaches(sizes[i]))
			return (1ULL << sizes[i]) - 1;
	return (1ULL << USUAL_BITS) - 1;
}

#else

/* x86-64: five levels of page tables, where the processor has them (arch/x86/include/asm/page_64_types.h, __VIRTUAL_MASK_SHIFT). */
uint64_t user_space_mask(void)
{
	return (1ULL << 56) - 1;
}

#endif
