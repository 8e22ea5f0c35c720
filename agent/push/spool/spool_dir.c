/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of a spool as files: opened, written, read, removed. What is found at the start: spool_scan.c. */
#include "agent/push/spool/spool_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/push/spool/spool_scan.h"
#include "agent/util/file.h"
#include "agent/util/locked_dir.h"

/* Others could make our files, or change them. */
static int check_owner(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

int spool_dir_open(struct spool_dir *d, bool make, struct spool_found *ret_found)
{
	_cleanup_close_ int fd = make ? locked_dir_make(d->path) : locked_dir_open(d->path);

	if (fd < 0)
		return TAKE_FD(fd);
	int r = check_owner(fd);
	if (r == 0)
		r = spool_scan(fd, &d->next_id, ret_found);
	if (r < 0)
		return r;
	d->fd = TAKE_FD(fd);
	return 0;
}

static void close_segment(struct spool_dir *d)
{
	if (d->segment_fd >= 0)
		(void)close(d->segment_fd);
	d->segment_fd = -1;
}

void spool_dir_close(struct spool_dir *d)
{
	(void)spool_dir_sync(d);
	close_segment(d);
	if (d->fd >= 0)
		(void)close(d->fd);
	d->fd = -1;
}

int spool_dir_sync(struct spool_dir *d)
{
	if (d->segment_fd >= 0 && fdatasync(d->segment_fd) < 0)
		return -errno;
	return d->fd >= 0 && fsync(d->fd) < 0 ? -errno : 0;
}

static int make_segment(struct spool_dir *d)
{
	char name[SPOOL_NAME_BYTES];
	uint8_t head[SPOOL_SEGMENT_HEAD_BYTES];

	spool_name_print(d->next_id, name);
	_cleanup_close_ int fd =
		openat(d->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	spool_segment_head(d->next_id, head);
	int r = file_write_fd(fd, head, sizeof(head));
	if (r < 0) {
		(void)unlinkat(d->fd, name, 0);
		return r;
	}
	d->segment_fd = TAKE_FD(fd);
	d->segment = d->next_id++;
	d->end = sizeof(head);
	d->number = 0;
	return 0;
}

static bool is_removed(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || st.st_nlink == 0;
}

/* A file that somebody has removed would take what is written, and lose it. */
static int need_segment(struct spool_dir *d)
{
	if (is_removed(d->fd))
		return -ESTALE;
	if (d->segment_fd >= 0 && d->end >= d->max_segment_bytes)
		(void)fdatasync(d->segment_fd);
	if (d->segment_fd >= 0 && (d->end >= d->max_segment_bytes || is_removed(d->segment_fd)))
		close_segment(d);
	return d->segment_fd >= 0 ? 0 : make_segment(d);
}

int spool_dir_append(struct spool_dir *d, const struct push_profile *profile, uint64_t deadline_ns,
		     struct spool_place *ret_place)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct spool_place place;
	size_t n;
	int r = need_segment(d);

	if (r == 0)
		r = spool_record_encode(profile, deadline_ns, d->segment, d->number + 1, &bytes,
					&n);
	if (r < 0)
		return r;
	r = file_write_fd(d->segment_fd, bytes, n);
	/* The place that a part of it took is wanted; a segment that cannot be cut is not written any more. */
	if (r < 0) {
		if (ftruncate(d->segment_fd, (off_t)d->end) < 0 ||
		    lseek(d->segment_fd, (off_t)d->end, SEEK_SET) < 0)
			close_segment(d);
		return r;
	}
	place = (struct spool_place){ .segment = d->segment, .offset = d->end };
	(void)spool_record_head(bytes, d->segment, &place.record);
	d->end += n;
	d->number++;
	*ret_place = place;
	return 0;
}

static int read_bytes(int fd, uint64_t offset, uint8_t *bytes, size_t n)
{
	ssize_t got = spool_pread(fd, bytes, n, offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EBADMSG;
}

int spool_dir_read(struct spool_dir *d, const struct spool_place *place,
		   struct push_profile **ret_profile)
{
	_cleanup_close_ int fd = spool_segment_open(d->fd, place->segment, O_RDONLY, NULL);
	size_t n = spool_place_bytes(place);
	_cleanup_free_ uint8_t *bytes = malloc(n);
	struct spool_record record;

	if (fd < 0)
		return fd == -ENOENT || fd == -EINVAL ? -EBADMSG : fd;
	if (!bytes)
		return -ENOMEM;
	int r = read_bytes(fd, place->offset, bytes, n);
	if (r < 0)
		return r;
	if (!spool_record_head(bytes, place->segment, &record) ||
	    record.n_frame != place->record.n_frame)
		return -EBADMSG;
	return spool_record_decode(&record, bytes + SPOOL_HEAD_BYTES, ret_profile);
}

int spool_dir_mark(struct spool_dir *d, const struct spool_place *place)
{
	_cleanup_close_ int fd = spool_segment_open(d->fd, place->segment, O_WRONLY, NULL);
	const uint8_t state = SPOOL_DONE;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	ssize_t n = pwrite(fd, &state, sizeof(state), (off_t)(place->offset + SPOOL_STATE_AT));
	return n < 0 ? -errno : 0;
}

int spool_dir_remove(struct spool_dir *d, uint64_t segment)
{
	char name[SPOOL_NAME_BYTES];

	if (segment == d->segment)
		close_segment(d);
	spool_name_print(segment, name);
	return unlinkat(d->fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}
