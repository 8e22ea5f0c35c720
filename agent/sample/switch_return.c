/* SPDX-License-Identifier: Apache-2.0 */
/* Where a task is back on its CPU. */
#include "agent/sample/switch_return.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>

#include "agent/util/cleanup.h"
#include "agent/util/log.h"
#include "agent/util/macro.h"

/* A build for tests has names of its own, which no kernel has, and says so before this. */
#ifndef SWITCH_RETURN_TRACEPOINT
#define SWITCH_RETURN_TRACEPOINT "sched_exit_tp"
#define SWITCH_RETURN_FUNCTION "schedule"
#endif

/* Its number among the kernel's types; or below 0. */
static int find_function(const char *function)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int id = kernel ? btf__find_by_name_kind(kernel, function, BTF_KIND_FUNC) : -errno;

	btf__free(kernel);
	return id;
}

/* A program that does nothing: AArch64 takes it, and refuses to attach it (before 6.4). */
static int try_to_attach(const char *function)
{
	/* r0 = 0; exit */
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_FEXIT);
	int id = find_function(function);

	if (id < 0)
		return id;
	o.attach_btf_id = (__u32)id;
	_cleanup_close_ int program =
		bpf_prog_load(BPF_PROG_TYPE_TRACING, "xagent_try", "Dual BSD/GPL", nothing,
			      ARRAY_SIZE(nothing), &o);
	if (program < 0)
		return -errno;
	_cleanup_close_ int link = bpf_raw_tracepoint_open(NULL, program);
	return link < 0 ? -errno : 0;
}

enum switch_return switch_return_choose(struct bpf_program *program, const char *event)
{
	if (bpf_program__set_attach_target(program, 0, SWITCH_RETURN_TRACEPOINT) == 0)
		return SWITCH_RETURN_SEEN;
	int r = try_to_attach(SWITCH_RETURN_FUNCTION);
	if (r == 0)
		r = bpf_program__set_expected_attach_type(program, BPF_TRACE_FEXIT);
	if (r == 0)
		r = bpf_program__set_attach_target(program, 0, SWITCH_RETURN_FUNCTION);
	if (r == 0) {
		log_debug("waits end where schedule() returns: this kernel has no tracepoint "
			  "sched_exit_tp",
			  LOG_STR("event", event));
		return SWITCH_RETURN_SEEN;
	}
	log_debug("samples of waits are taken when these begin: this kernel has no tracepoint "
		  "sched_exit_tp, and no program can be attached to schedule()",
		  LOG_STR("event", event), LOG_ERR(r));
	return SWITCH_RETURN_UNSEEN;
}
