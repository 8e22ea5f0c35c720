/* SPDX-License-Identifier: Apache-2.0 */
/* The size of the address space, against what the kernel says of it otherwise. */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/util/user_space.h"
#include "tests/support/unit.h"

static void test_holds_our_own(void **state)
{
	uint64_t mask = user_space_mask();
	int local = 0;

	(void)state;
	assert_int_equal(mask & (mask + 1), 0);
	assert_int_equal((uintptr_t)&local & ~mask, 0);
	assert_int_equal((uintptr_t)test_holds_our_own & ~mask, 0);
}

static void test_nothing_beyond(void **state)
{
	void *beyond = (void *)(uintptr_t)(user_space_mask() + 1);

	(void)state;
	assert_ptr_equal(mmap(beyond, 4096, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 MAP_FAILED);
	assert_true(errno == ENOMEM || errno == EINVAL);
}

static pid_t start_traced(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)raise(SIGSTOP);
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	return child;
}

/* struct user_pac_mask (arch/arm64/include/uapi/asm/ptrace.h): where codes are in addresses of data and of instructions. */
static void test_as_ptrace_says(void **state)
{
	uint64_t masks[2];
	struct iovec v = { .iov_base = masks, .iov_len = sizeof(masks) };
	pid_t child = start_traced();
	long r = ptrace(PTRACE_GETREGSET, child, (void *)(intptr_t)NT_ARM_PAC_MASK, &v);

	(void)state;
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	if (r < 0) {
		print_message("no pointer authentication here\n");
		skip();
	}
	assert_int_equal(v.iov_len, sizeof(masks));
	assert_int_equal(masks[0], ((1ULL << 55) - 1) & ~user_space_mask());
	assert_int_equal(masks[1], masks[0]);
}

static const struct unit_test tests[] = {
	TEST(test_holds_our_own),
	TEST(test_nothing_beyond),
	TEST(test_as_ptrace_says),
};

TEST_MAIN(tests)
