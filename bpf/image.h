/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A number for a file that holds code, by what the kernel has of its inode: the same in both halves, for files that lie where the inode is the file
 * system's own.
 *
 * It is of the inode and of its last change: a file that was written to, or another one with the same inode number, has another. Pure.
 */
#ifndef XAGENT_BPF_IMAGE_H
#define XAGENT_BPF_IMAGE_H

#include <linux/types.h>

struct image_inode {
	__u64 number;
	__u64 dev; /* major << 20 | minor */
	__u64 generation;
	__u64 n_bytes;
	__u64 changed_ns; /* ctime */
};

/* Each bit of the result depends on all of both: the finalizer of MurmurHash3. */
static inline __attribute__((always_inline)) __u64 hash_mix(__u64 hash, __u64 value)
{
	hash ^= value;
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdULL;
	hash ^= hash >> 33;
	hash *= 0xc4ceb9fe1a85ec53ULL;
	return hash ^ hash >> 33;
}

static inline __attribute__((always_inline)) __u64 image_number(const struct image_inode *i)
{
	__u64 number = hash_mix(i->number, i->dev);

	number = hash_mix(number, i->generation);
	number = hash_mix(number, i->n_bytes);
	return hash_mix(number, i->changed_ns);
}

/* By what a library is looked for in a process: where its dynamic section is linked to be, and where in the file its section table is (e_shoff). */
static inline __attribute__((always_inline)) __u64 library_key(__u64 dynamic, __u64 shoff)
{
	return hash_mix(dynamic, shoff);
}

#endif
