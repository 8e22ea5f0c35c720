/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that reads DWARF can still do, tried by children that were confined as it is. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/dwarf/sandbox.h"
#include "agent/dwarf/sandbox_filter.h"
#include "agent/util/buf.h"
#include "agent/util/file.h"
#include "tests/support/unit.h"

#define NOT_CONFINED 100

static int try_open(void)
{
	return (int)syscall(__NR_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
}

static int try_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static int try_execve(void)
{
	char *const none[] = { NULL };

	return execve("/bin/true", none, none);
}

static int try_ptrace(void)
{
	return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static int try_kill(void)
{
	return (int)syscall(__NR_kill, 1, 0);
}

static int try_clone(void)
{
	return (int)syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0);
}

static int try_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) == MAP_FAILED;
}

static int try_mprotect(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static int try_limits_of_others(void)
{
	return (int)syscall(__NR_prlimit64, 1, RLIMIT_NOFILE, NULL, NULL);
}

static int try_prctl(void)
{
	return (int)syscall(__NR_prctl, 4 /* PR_SET_DUMPABLE */, 1, 0, 0, 0);
}

static int try_bpf(void)
{
	return (int)syscall(__NR_bpf, 0, NULL, 0);
}

#ifdef __x86_64__
/* The same calls by the numbers of x32. */
static int try_x32(void)
{
	return (int)syscall(0x40000000 | __NR_close, 99);
}
#endif

static int try_what_is_allowed(void)
{
	char byte;
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rlimit limit;

	if (memory == MAP_FAILED || pread(0, &byte, 1, 0) == 77)
		return 1;
	memory[0] = 1;
	if (madvise(memory, 8192, MADV_DONTNEED) < 0 || memory[0] != 0 || munmap(memory, 8192) < 0)
		return 2;
	free(malloc((size_t)1 << 20));
	if (getrlimit(RLIMIT_NPROC, &limit) < 0 || limit.rlim_max != 0)
		return 3;
	if (getrlimit(RLIMIT_CORE, &limit) < 0 || limit.rlim_max != 0)
		return 4;
	if (sandbox_limit_file(0) < 0 || sandbox_limit_file(1) == 0)
		return 5;
	/* libdw asks for paths, and does without. */
	return readlink("/proc/self/fd/0", &byte, 1) == -1 && errno == EACCES ? 0 : 6;
}

static int confine(void)
{
	uint64_t mapped_bytes;

	if (sandbox_enter_server(STDERR_FILENO, &mapped_bytes) < 0 ||
	    sandbox_enter_reader(mapped_bytes) < 0)
		return NOT_CONFINED;
	return 0;
}

static int run_confined(int (*try)(void))
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		int r = confine();

		_exit(r ? r : try());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

struct row {
	const char *name;
	int (*try)(void);
};

static struct row rows[] = {
	{ "open", try_open },
	{ "socket", try_socket },
	{ "execve", try_execve },
	{ "ptrace", try_ptrace },
	{ "kill", try_kill },
	{ "clone", try_clone },
	{ "memory that is code", try_code },
	{ "memory that becomes code", try_mprotect },
	{ "limits of others", try_limits_of_others },
	{ "prctl", try_prctl },
	{ "bpf", try_bpf },
#ifdef __x86_64__
	{ "numbers of x32", try_x32 },
#endif
};

static void forbidden_call_is_the_end(void **state)
{
	const struct row *row = *state;
	int status = run_confined(row->try);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static void what_is_needed_works(void **state)
{
	int status;

	(void)state;
	status = run_confined(try_what_is_allowed);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void has_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in\n%s", line, text);
}

/* As the kernel tells it of a child that waits. */
static void it_has_no_rights(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(65536);
	char path[64], byte = 0;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct iovec bytes = { &byte, 1 };
		struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };

		if (dup2(fds[1], STDIN_FILENO) < 0 || confine() != 0)
			_exit(NOT_CONFINED);
		(void)sendmsg(STDIN_FILENO, &m, 0);
		(void)recvmsg(STDIN_FILENO, &m, 0);
		_exit(0);
	}
	assert_int_equal(recv(fds[0], &byte, 1, 0), 1);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	assert_int_equal(file_read(AT_FDCWD, path, &text), 0);
	has_line(buf_str(&text), "\nNoNewPrivs:\t1\n");
	has_line(buf_str(&text), "\nSeccomp:\t2\n");
	has_line(buf_str(&text), "\nCapInh:\t0000000000000000\n");
	has_line(buf_str(&text), "\nCapPrm:\t0000000000000000\n");
	has_line(buf_str(&text), "\nCapEff:\t0000000000000000\n");
	has_line(buf_str(&text), "\nCapAmb:\t0000000000000000\n");
	if (geteuid() == 0) {
		has_line(buf_str(&text), "\nCapBnd:\t0000000000000000\n");
		has_line(buf_str(&text), "\nUid:\t65534\t65534\t65534\t65534\n");
		has_line(buf_str(&text), "\nGid:\t65534\t65534\t65534\t65534\n");
		has_line(buf_str(&text), "\nGroups:\t \n");
	}
	(void)close(fds[0]);
	(void)close(fds[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Descriptors that were not meant for it are closed; memory is what was said. */
static int try_descriptors(void)
{
	for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
		if (close(fd) == 0)
			return 1;
	return 0;
}

static void it_has_no_other_descriptors(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	int status = run_confined(try_descriptors);
	(void)close(fds[0]);
	(void)close(fds[1]);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void programs_fit(void **state)
{
	struct sock_filter items[SANDBOX_FILTER_MAX];

	(void)state;
	for (enum sandbox_kind kind = 0; kind < SANDBOX_KIND_MAX; kind++) {
		size_t n = sandbox_filter_make(kind, items);

		assert_true(n > 20 && n <= SANDBOX_FILTER_MAX);
		/* What no rule is about is the end. */
		assert_int_equal(items[n - 1].code, BPF_RET | BPF_K);
	}
}

static const struct unit_test tests[] = {
	TEST(what_is_needed_works),
	TEST(it_has_no_rights),
	TEST(it_has_no_other_descriptors),
	TEST(programs_fit),
	TEST_ROWS(forbidden_call_is_the_end, rows, name),
};

TEST_MAIN(tests)
