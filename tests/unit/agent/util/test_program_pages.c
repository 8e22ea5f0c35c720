/* SPDX-License-Identifier: Apache-2.0 */
/* What is the file's goes and comes back as it was; what is this process's stays. */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/util/cleanup.h"
#include "agent/util/program_pages.h"
#include "tests/support/unit.h"

/* So many that the middle is not mapped because of a neighbour that is touched (fault_around_bytes: 64 KiB), nor told of in one piece. */
#define N_BYTES ((size_t)4 << 20)
#define MIDDLE (N_BYTES / 2)

/* In .rodata: a page of the file. */
static const unsigned char text[N_BYTES]
	__attribute__((aligned(65536))) = { [0] = 1, [MIDDLE] = 2, [N_BYTES - 1] = 3 };

/* The compiler knows what lies in a constant. */
static const unsigned char *hidden(const unsigned char *p)
{
	__asm__ volatile("" : "+r"(p));
	return p;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Whether this process has the page, see Documentation/admin-guide/mm/pagemap.rst. */
static bool is_present(const unsigned char *p)
{
	_cleanup_close_ int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	if (fd < 0)
		skip();
	assert_int_equal(pread(fd, &entry, sizeof(entry),
			       (off_t)((uintptr_t)p / page_bytes() * sizeof(entry))),
			 sizeof(entry));
	return entry >> 63;
}

static void test_pages_of_a_file_go_and_come_back(void **state)
{
	const unsigned char *middle = hidden(&text[MIDDLE]);

	(void)state;
	assert_int_equal(*middle, 2);
	assert_true(is_present(middle));
	program_pages_release();
	assert_false(is_present(middle));
	assert_int_equal(*middle, 2);
	assert_int_equal(*hidden(&text[0]), 1);
	assert_int_equal(*hidden(&text[N_BYTES - 1]), 3);
}

/* As a debugger's breakpoint does. Its neighbours go all the same. */
static void test_a_page_that_was_written_stays(void **state)
{
	unsigned char *page = (unsigned char *)(uintptr_t)hidden(&text[MIDDLE]);
	const unsigned char *after = hidden(&text[MIDDLE + 131072]);

	(void)state;
	assert_int_equal(mprotect(page, page_bytes(), PROT_READ | PROT_WRITE), 0);
	*page = 77;
	assert_int_equal(mprotect(page, page_bytes(), PROT_READ), 0);
	assert_int_equal(*after, 0);
	program_pages_release();
	assert_true(is_present(page));
	assert_int_equal(*page, 77);
	assert_false(is_present(after));
}

static const struct unit_test tests[] = {
	TEST(test_pages_of_a_file_go_and_come_back),
	TEST(test_a_page_that_was_written_stays),
};

TEST_MAIN(tests)
