/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a store has, and how large they are. Inside of agent/store. */
#ifndef XAGENT_AGENT_STORE_DISK_DISK_ACCOUNT_H
#define XAGENT_AGENT_STORE_DISK_DISK_ACCOUNT_H

#include "agent/store/disk/disk_file.h"

struct disk_entry {
	struct disk_name name;
	size_t bytes;
};

struct disk_account {
	struct disk_entry *items;
	size_t n, cap;
};

void disk_account_fini(struct disk_account *a);
/* A file is there, or has another size. Without memory it is not counted; it is there all the same. */
void disk_account_set(struct disk_account *a, struct disk_name name, size_t bytes);
void disk_account_forget(struct disk_account *a, struct disk_name name);
size_t disk_account_bytes(const struct disk_account *a);

#endif
