/* SPDX-License-Identifier: Apache-2.0 */
/* The rights that a process gives up before it reads files of others. */
#include "agent/dwarf/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/dwarf/sandbox_filter.h"
#include "agent/object/lines/scratch.h"
#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

/* Standard ones, the server's socket, and two that come with a request; a reader opens a scratch file besides. */
#define MAX_DESCRIPTORS 16
/* Of a reader as long as it lives: six million answers. The agent waits for seconds only; this is for when it cannot end a reader. */
#define MAX_CPU_S 60
/* An image of a file (source_image.c), and what is mapped beside it. */
#define MAX_ADDRESS_BYTES ((uint64_t)17 << 30)

/* Seven numbers. */
#define STATM_MAX_BYTES 256

static int close_from(unsigned int first)
{
	struct rlimit limit;

#ifdef __NR_close_range
	if (syscall(__NR_close_range, first, ~0U, 0) == 0)
		return 0;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	for (unsigned int fd = first; fd < limit.rlim_cur; fd++)
		(void)close((int)fd);
	return 0;
}

static int set_limit(int resource, rlim_t value)
{
	const struct rlimit limit = { value, value };

	return setrlimit((__rlimit_resource_t)resource, &limit) < 0 ? -errno : 0;
}

static int set_option(int option, unsigned long a)
{
	return prctl(option, a, 0, 0, 0) < 0 ? -errno : 0;
}

/* Who may not change users has no CAP_SETUID, CAP_SETGID or CAP_SETPCAP, a filter that says so, or a user namespace that knows no nobody
 * (-EINVAL). */
static int unless_refused(int result)
{
	return result < 0 && errno != EPERM && errno != EINVAL ? -errno : 0;
}

static int become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	int r = unless_refused(setgroups(0, NULL));
	if (r == 0)
		r = unless_refused(setresgid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID));
	if (r == 0)
		r = unless_refused(setresuid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID));
	return r;
}

static int drop_bounding_set(void)
{
	for (unsigned long capability = 0; capability < 64; capability++) {
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0)
			continue;
		/* Beyond the last that the kernel knows. */
		return errno == EINVAL ? 0 : unless_refused(-1);
	}
	return 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(__NR_capset, &header, none) < 0 ? -errno : 0;
}

/* When memory is out this goes first: in the agent's cgroup too. */
static void offer_to_oom_killer(void)
{
	static const char highest[] = "1000";
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)file_write_fd(fd, highest, sizeof(highest) - 1);
}

static int limit_server(void)
{
	static const struct {
		int resource;
		rlim_t value;
	} limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_NOFILE, MAX_DESCRIPTORS },
		{ RLIMIT_FSIZE, SCRATCH_FILE_MAX_BYTES },
		{ RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_MSGQUEUE, 0 },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(limits); i++)
		r = set_limit(limits[i].resource, limits[i].value);
	return r;
}

/* proc(5), /proc/PID/statm: the first number, in pages. */
static int read_mapped(uint64_t *ret_bytes)
{
	_cleanup_buf_ struct buf text = BUF_INIT(STATM_MAX_BYTES);
	int r = file_read(AT_FDCWD, "/proc/self/statm", &text);

	if (r == 0)
		*ret_bytes = strtoull(buf_str(&text), NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	return r;
}

static int give_up_rights(void)
{
	int r = set_option(PR_SET_NO_NEW_PRIVS, 1);

	if (r == 0)
		r = drop_bounding_set();
	if (r == 0)
		r = become_nobody();
	if (r == 0)
		r = drop_capabilities();
	/* Both are lost when the user changes. */
	if (r == 0)
		r = set_option(PR_SET_DUMPABLE, 0);
	return r == 0 ? set_option(PR_SET_PDEATHSIG, SIGKILL) : r;
}

int sandbox_enter_server(int last_fd, uint64_t *ret_mapped_bytes)
{
	int r = close_from((unsigned int)last_fd + 1);

	/* Others wait for this one with a deadline, and it may make no threads. */
	reader_in_place();
	offer_to_oom_killer();
	if (r == 0)
		r = limit_server();
	if (r == 0)
		r = give_up_rights();
	if (r == 0)
		r = read_mapped(ret_mapped_bytes);
	return r == 0 ? sandbox_filter_apply(SANDBOX_SERVER) : r;
}

int sandbox_limit_memory(uint64_t n_bytes)
{
	return set_limit(RLIMIT_AS, n_bytes);
}

int sandbox_limit_file(uint64_t n_bytes)
{
	return set_limit(RLIMIT_FSIZE, n_bytes);
}

int sandbox_enter_reader(uint64_t mapped_bytes)
{
	int r = set_option(PR_SET_PDEATHSIG, SIGKILL);

	if (r == 0)
		r = set_limit(RLIMIT_NPROC, 0);
	if (r == 0)
		r = set_limit(RLIMIT_CPU, MAX_CPU_S);
	if (r == 0)
		r = sandbox_limit_memory(mapped_bytes + MAX_ADDRESS_BYTES);
	return r == 0 ? sandbox_filter_apply(SANDBOX_READER) : r;
}
