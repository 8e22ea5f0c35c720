/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments as files of one directory: the image as a zstd frame with its checksum. Blocks; any thread. Inside of agent/store.
 *
 *	segment-ID.zst	a closed one
 *	head-ID.zst	as far as one has come; it becomes the former
 *	*.zst.tmp	half written
 *	*.zst.damaged	set aside
 *
 * ID has 16 hex digits and grows with time. What has another name is somebody else's and left alone.
 */
#ifndef XAGENT_AGENT_STORE_DISK_DISK_FILE_H
#define XAGENT_AGENT_STORE_DISK_DISK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_name {
	uint64_t id;
	bool head;
};

#define DISK_NAME_BYTES 64

void disk_name_print(struct disk_name name, char text[static DISK_NAME_BYTES]);
/* False: not one of ours. */
bool disk_name_parse(const char *text, struct disk_name *ret_name);

/* Our files, the newest first; half written ones are removed, and heads that have become segments. At most DISK_MAX_FILES. */
#define DISK_MAX_FILES 65536
struct disk_names {
	struct disk_name *items;
	size_t n;
	size_t n_strange; /* of other names */
};
int disk_list(int dir_fd, struct disk_names *ret_names);
void disk_names_fini(struct disk_names *names);

/* All or nothing, also when the power fails. Its size on disk. 0 or -errno. */
int disk_write_file(int dir_fd, struct disk_name name, const uint8_t *image, size_t n,
		    size_t *ret_bytes);

enum disk_outcome { DISK_READ, DISK_DAMAGED };

/* What was written, at most max_bytes. DISK_READ and what the caller frees; DISK_DAMAGED: cut, changed, too large, or never ours; -errno. */
int disk_read_file(int dir_fd, struct disk_name name, size_t max_bytes, uint8_t **ret_image,
		   size_t *ret_n, size_t *ret_bytes);

/* 0 or -errno; one that is not there is fine. */
int disk_remove_file(int dir_fd, struct disk_name name);
int disk_set_aside(int dir_fd, struct disk_name name);

#endif
