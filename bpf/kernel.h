/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The few kernel fields we read, relocated by CO-RE against the running kernel's BTF. Only a handful of types is needed, so there is
 * no generated dump of all of them in the repository.
 *
 * Each is read only where the running kernel has it (KERNEL_READ, KERNEL_FIELD); what stands in for it is at the place where it is read. So a
 * kernel that has lost one loads the program, and tests/unit/agent/sample/test_kernel_fields.c takes away one after the other.
 */
#ifndef XAGENT_BPF_KERNEL_H
#define XAGENT_BPF_KERNEL_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct super_block {
	unsigned int s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	long long i_size;
	unsigned int i_generation;
	unsigned short i_mode;
};

/* The time of the last change has had three forms: until 6.5, 6.6 to 6.10, since 6.11 (include/linux/fs.h). */
struct timespec64 {
	long long tv_sec;
	long tv_nsec;
};

struct inode___time {
	struct timespec64 i_ctime;
};

struct inode___hidden_time {
	struct timespec64 __i_ctime;
};

struct inode___flat_time {
	long long i_ctime_sec;
	unsigned int i_ctime_nsec;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct gendisk {
	int major;
	int first_minor;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
};

struct request {
	unsigned int rq_flags;
	struct bio *bio;
};

/* Bits of request.rq_flags; macros before 6.11 (include/linux/blk-mq.h). */
enum rqf_flags {
	__RQF_FLUSH_SEQ = 1,
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct in6_addr {
	__u8 in6_u[16];
};

struct sock_common {
	__u32 skc_daddr;
	__u32 skc_rcv_saddr;
	__u16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
	struct sock_cgroup_data sk_cgrp_data;
};

struct socket {
	struct sock *sk;
};

struct signal_struct {
	int nr_threads;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct mm_struct {
	unsigned long start_stack;
	unsigned long env_end;
	unsigned long start_code;
	struct file *exe_file;
	unsigned long saved_auxv[2]; /* and more */
};

/* Counters of resident pages, by kind: each of them a sum, and on each CPU what is not in it yet. Before 6.2 they are others. */
struct percpu_counter {
	long long count;
};

struct mm_struct___counters {
	struct percpu_counter rss_stat[4];
};

struct vm_area_struct {
	struct file *vm_file;
};

#if defined(__TARGET_ARCH_x86)
struct thread_info {
	__u32 status;
};

struct thread_struct {
	unsigned long fsbase;
};
#else
struct thread_info {
	__u64 preempt_count;
};

struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};
#endif

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct thread_info thread_info;
	void *stack;
	unsigned int flags;
	unsigned int __state;
	int on_cpu;
	int exit_state;
	int pid;
	int tgid;
	struct css_set *cgroups;
	struct mm_struct *mm;
	struct files_struct *files;
	unsigned int in_execve : 1;
	unsigned int in_iowait : 1;
	int pagefault_disabled;
	__u64 self_exec_id;
	__u64 start_time;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct pid *thread_pid;
	char comm[16];
	unsigned long sas_ss_sp;
	unsigned long sas_ss_size;
	struct thread_struct thread;
};

/* Saved user registers as the kernel names them. The UAPI header names the same fields differently, hence the flavour suffix. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs___kernel {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs___kernel {
	__u64 regs[31];
	__u64 orig_x0;
	__u64 sp;
	__u64 pc;
	__u64 pstate;
	int syscallno;
};
#else
#error "x86-64 and AArch64 only"
#endif

#pragma clang attribute pop

/* A field; `otherwise` where there is none. KERNEL_FIELD of a pointer that the verifier trusts, KERNEL_READ of any, also through others (a.b). */
#define KERNEL_FIELD(from, field, otherwise) \
	(bpf_core_field_exists((from)->field) ? (from)->field : (otherwise))
#define KERNEL_READ(from, field, otherwise) \
	(bpf_core_field_exists((from)->field) ? BPF_CORE_READ(from, field) : (otherwise))

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

/* include/linux/proc_ns.h: inode of the initial pid namespace */
#define PROC_PID_INIT_INO 0xEFFFFFFCU

#endif
