/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which executable a process runs, by what the kernel has of its file. A process of a few milliseconds ends before the agent has looked at it;
 * what the agent has found in its executable, when it was first seen mapped, is found again by this number (bpf/image.h).
 */
#ifndef XAGENT_BPF_IMAGE_BPF_H
#define XAGENT_BPF_IMAGE_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/image.h"
#include "bpf/kernel.h"

/* Above nanoseconds the kernel notes whether the time was asked for (I_CTIME_QUERIED, include/linux/fs.h, since 6.13). */
#define IMAGE_NSEC_MASK ((1U << 30) - 1)

static __always_inline __u64 image_changed_ns(struct inode *inode)
{
	struct inode___time *time = (void *)inode;
	struct inode___hidden_time *hidden = (void *)inode;
	struct inode___flat_time *flat = (void *)inode;

	if (bpf_core_field_exists(flat->i_ctime_sec) && bpf_core_field_exists(flat->i_ctime_nsec))
		return BPF_CORE_READ(flat, i_ctime_sec) * 1000000000ULL +
		       (BPF_CORE_READ(flat, i_ctime_nsec) & IMAGE_NSEC_MASK);
	if (bpf_core_field_exists(hidden->__i_ctime))
		return BPF_CORE_READ(hidden, __i_ctime.tv_sec) * 1000000000ULL +
		       BPF_CORE_READ(hidden, __i_ctime.tv_nsec);
	if (bpf_core_field_exists(time->i_ctime))
		return BPF_CORE_READ(time, i_ctime.tv_sec) * 1000000000ULL +
		       BPF_CORE_READ(time, i_ctime.tv_nsec);
	return 0;
}

/* 0: not known. */
static __always_inline __u64 image_of_file(struct file *file)
{
	struct inode *inode = file ? KERNEL_READ(file, f_inode, NULL) : NULL;
	struct super_block *sb = inode ? KERNEL_READ(inode, i_sb, NULL) : NULL;
	struct image_inode i = { 0 };

	if (!sb)
		return 0;
	i.changed_ns = image_changed_ns(inode);
	i.number = KERNEL_READ(inode, i_ino, 0);
	if (!i.changed_ns || !i.number)
		return 0;
	i.dev = KERNEL_READ(sb, s_dev, 0);
	i.generation = KERNEL_READ(inode, i_generation, 0);
	i.n_bytes = KERNEL_READ(inode, i_size, 0);
	return image_number(&i);
}

static __always_inline __u64 image_of(struct mm_struct *mm)
{
	return image_of_file(KERNEL_READ(mm, exe_file, NULL));
}

#endif
