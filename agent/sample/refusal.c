/* SPDX-License-Identifier: Apache-2.0 */
/* Why this machine will not let us sample. */
#include "agent/sample/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/util/file.h"
#include "agent/util/macro.h"
#include "agent/util/str.h"

#define REFUSAL_FILE_MAX ((size_t)64 * 1024)
/* The kernel's own, include/linux/errno.h: of a trampoline that the architecture cannot make. */
#define REFUSAL_ENOTSUPP 524

static uint64_t read_capabilities(void)
{
	_cleanup_buf_ struct buf b = BUF_INIT(REFUSAL_FILE_MAX);
	struct str line;
	/* Where they cannot be read (no /proc, no descriptors left) nobody is told to grant some. */
	uint64_t caps = UINT64_MAX;

	if (file_read(AT_FDCWD, "/proc/self/status", &b) < 0)
		return caps;
	for (struct str rest = { buf_str(&b), b.len }; str_split(&rest, '\n', &line);) {
		if (!str_starts_with(line, STR_LIT("CapEff:")))
			continue;
		line = str_trim((struct str){ line.p + 7, line.n - 7 });
		(void)str_parse_u64(line, 16, UINT64_MAX, &caps);
	}
	return caps;
}

/* "none [integrity] confidentiality": the one in brackets is in force. */
static bool read_lockdown_confidentiality(void)
{
	_cleanup_buf_ struct buf b = BUF_INIT(256);

	if (file_read(AT_FDCWD, "/sys/kernel/security/lockdown", &b) < 0)
		return false;
	return strstr(buf_str(&b), "[confidentiality]") != NULL;
}

void refusal_facts_read(struct refusal_facts *ret_facts)
{
	struct utsname u = { 0 };
	uint64_t paranoid = 0;

	(void)uname(&u);
	(void)file_read_u64("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	*ret_facts = (struct refusal_facts){
		.capabilities = read_capabilities(),
		.have_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0,
		.lockdown_confidentiality = read_lockdown_confidentiality(),
		.perf_event_paranoid = (int)paranoid,
	};
	str_copy_utf8(ret_facts->kernel_release, sizeof(ret_facts->kernel_release),
		      str_from(u.release));
}

static bool has_cap(const struct refusal_facts *f, unsigned int cap)
{
	return f->capabilities >> cap & 1;
}

bool refusal_expected(const struct refusal_facts *f, struct buf *out)
{
	bool admin = has_cap(f, CAP_SYS_ADMIN);
	bool bpf = admin || has_cap(f, CAP_BPF);
	bool perfmon = admin || has_cap(f, CAP_PERFMON);

	if (!bpf || !perfmon) {
		(void)buf_printf(
			out,
			"missing %s%s%s: profiling the host needs it; run as root, or grant "
			"CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_SYSLOG",
			bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "",
			perfmon ? "" : "CAP_PERFMON");
		return true;
	}
	if (!f->have_btf) {
		(void)buf_printf(
			out,
			"this kernel (%s) has no BTF (/sys/kernel/btf/vmlinux is not readable): "
			"use a "
			"kernel built with CONFIG_DEBUG_INFO_BTF=y; in a container, mount /sys",
			f->kernel_release);
		return true;
	}
	if (f->lockdown_confidentiality) {
		(void)buf_append_str(
			out,
			"kernel lockdown is in confidentiality mode, which forbids BPF to read "
			"kernel memory: boot with lockdown=integrity or none");
		return true;
	}
	return false;
}

static const struct {
	unsigned int cap;
	const char *name;
	const char *without;
} wished[] = {
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
	  "processes of other users cannot be looked into, their functions stay unnamed" },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH",
	  "files that only their owners may read have no function names" },
};

bool refusal_shortcomings(const struct refusal_facts *f, struct buf *out)
{
	size_t before = out->len;

	for (size_t i = 0; i < ARRAY_SIZE(wished); i++)
		if (!has_cap(f, wished[i].cap))
			(void)buf_printf(out, "%smissing %s: %s", out->len > before ? "; " : "",
					 wished[i].name, wished[i].without);
	return out->len > before;
}

bool refusal_of_function(const char *event, const char *function, const char *tracepoint, int error,
			 struct buf *out)
{
	if (error != -REFUSAL_ENOTSUPP && error != -ENODEV && error != -EOPNOTSUPP)
		return false;
	(void)buf_printf(
		out,
		"this kernel lets no BPF program be attached to its functions (AArch64 "
		"does from 6.4 on, with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS): %s needs "
		"that for %s(), or the tracepoint %s",
		event, function, tracepoint);
	return true;
}

void refusal_explain(const struct refusal_facts *f, const char *step, int error, struct buf *out)
{
	if (refusal_expected(f, out))
		return;
	(void)buf_printf(out, "the kernel (%s) refused to %s the sampler: %s", f->kernel_release,
			 step, strerror(error < 0 ? -error : error));
	if (error == -EPERM || error == -EACCES)
		(void)buf_printf(out,
				 "; a seccomp profile, an LSM or kernel.perf_event_paranoid=%d may "
				 "forbid bpf(2) or "
				 "perf_event_open(2): in a container, run privileged or allow both",
				 f->perf_event_paranoid);
	if (error == -EINVAL || error == -E2BIG || error == -ENOTSUP)
		(void)buf_append_str(
			out, "; kernels from 5.17 on are supported, log level debug shows the "
			     "verifier's words");
	if (error == -EMFILE)
		(void)buf_append_str(out, "; raise the limit of open files (ulimit -n)");
}
