/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the directory of a spool at the start. */
#include "agent/push/spool/spool_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/util/str.h"

#define ID_DIGITS 16
#define WINDOW_BYTES ((size_t)64 << 10)
/* More in one segment is no crash: the rest of it is not looked at. */
#define MAX_DAMAGED 1000
/* So that there is always a next one. */
#define MAX_ID (UINT64_MAX / 2)

void spool_name_print(uint64_t id, char text[static SPOOL_NAME_BYTES])
{
	(void)snprintf(text, SPOOL_NAME_BYTES, "spool-%016" PRIx64 ".seg", id);
}

bool spool_name_parse(const char *text, uint64_t *ret_id)
{
	struct str s = str_from(text);
	char again[SPOOL_NAME_BYTES];

	if (!str_starts_with(s, STR_LIT("spool-")) || s.n < strlen("spool-") + ID_DIGITS ||
	    str_parse_u64((struct str){ s.p + strlen("spool-"), ID_DIGITS }, 16, MAX_ID, ret_id) <
		    0)
		return false;
	spool_name_print(*ret_id, again);
	return strcmp(again, text) == 0;
}

int spool_segment_open(int dir_fd, uint64_t id, int flags, uint64_t *ret_bytes)
{
	char name[SPOOL_NAME_BYTES];
	struct stat st;

	spool_name_print(id, name);
	_cleanup_close_ int fd =
		openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* ELOOP: a symbolic link; ENXIO: a FIFO. */
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO || errno == EISDIR ? -EINVAL : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
		return -EINVAL;
	if (ret_bytes)
		*ret_bytes = (uint64_t)st.st_size;
	return TAKE_FD(fd);
}

ssize_t spool_pread(int fd, uint8_t *bytes, size_t n, uint64_t offset)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(fd, bytes + got, n - got, (off_t)(offset + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

static int add_place(struct spool_found *found, const struct spool_place *place)
{
	if (found->n >= SPOOL_MAX_RECORDS)
		return 0;
	/* Twice as many as there are, whenever that is a power of two. */
	if ((found->n & (found->n - 1)) == 0) {
		struct spool_place *places =
			reallocarray(found->places, found->n ? 2 * found->n : 1, sizeof(*places));

		if (!places)
			return -ENOMEM;
		found->places = places;
	}
	found->places[found->n++] = *place;
	return 0;
}

/* Where the next record begins, at `offset` or behind it; n_bytes: nowhere. 0 or -errno. */
static int find_record(int fd, uint64_t id, uint64_t n_bytes, uint64_t *offset)
{
	_cleanup_free_ uint8_t *window = malloc(WINDOW_BYTES);
	struct spool_record ignored;

	if (!window)
		return -ENOMEM;
	while (*offset < n_bytes) {
		ssize_t got = spool_pread(fd, window, WINDOW_BYTES, *offset);

		if (got < 0)
			return (int)got;
		if (got < SPOOL_HEAD_BYTES)
			break;
		for (size_t i = 0; i + SPOOL_HEAD_BYTES <= (size_t)got; i++)
			if (spool_record_head(window + i, id, &ignored)) {
				*offset += i;
				return 0;
			}
		*offset += (uint64_t)got - SPOOL_HEAD_BYTES + 1;
	}
	*offset = n_bytes;
	return 0;
}

int spool_scan_segment(int fd, uint64_t id, uint64_t n_bytes, struct spool_found *found)
{
	struct spool_place place = { .segment = id, .offset = SPOOL_SEGMENT_HEAD_BYTES };
	uint8_t head[SPOOL_HEAD_BYTES];
	size_t max_damaged = found->n_damaged + MAX_DAMAGED;
	uint32_t last = 0;
	int r = 0;

	while (r == 0 && place.offset < n_bytes && found->n_damaged < max_damaged) {
		ssize_t got = spool_pread(fd, head, sizeof(head), place.offset);

		if (got < 0)
			return (int)got;
		if (got < (ssize_t)sizeof(head) || !spool_record_head(head, id, &place.record) ||
		    place.record.n_frame > n_bytes - place.offset - sizeof(head)) {
			found->n_damaged++;
			place.offset++;
			r = find_record(fd, id, n_bytes, &place.offset);
			continue;
		}
		/* A copy of one that was there. */
		if (place.record.number <= last)
			found->n_damaged++;
		else if (!place.record.done)
			r = add_place(found, &place);
		last = place.record.number > last ? place.record.number : last;
		place.offset += spool_place_bytes(&place);
	}
	return r;
}

/* Nothing in it waits, or ever will. */
static void remove_segment(int dir_fd, uint64_t id)
{
	char name[SPOOL_NAME_BYTES];

	spool_name_print(id, name);
	(void)unlinkat(dir_fd, name, 0);
}

static int scan_file(int dir_fd, uint64_t id, struct spool_found *found)
{
	uint8_t head[SPOOL_SEGMENT_HEAD_BYTES];
	size_t n_before = found->n;
	uint64_t n_bytes;
	_cleanup_close_ int fd = spool_segment_open(dir_fd, id, O_RDONLY, &n_bytes);

	if (fd < 0)
		return fd == -EINVAL || fd == -ENOENT ? 0 : fd;
	ssize_t got = spool_pread(fd, head, sizeof(head), 0);
	if (got < 0)
		return (int)got;
	/* A crash right after it was made. */
	if (got < (ssize_t)sizeof(head)) {
		remove_segment(dir_fd, id);
		return 0;
	}
	switch (spool_segment_head_judge(head, id)) {
	case SPOOL_HEAD_NEWER:
		return 0;
	case SPOOL_HEAD_DAMAGED:
		found->n_damaged++;
		break;
	case SPOOL_HEAD_OURS: {
		int r = spool_scan_segment(fd, id, n_bytes, found);

		if (r < 0)
			return r;
		break;
	}
	}
	if (found->n == n_before && found->n < SPOOL_MAX_RECORDS)
		remove_segment(dir_fd, id);
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

static int in_order(const void *a, const void *b)
{
	const struct spool_place *x = a, *y = b;

	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void close_directory(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

static int list_ids(int dir_fd, uint64_t *ids, size_t *ret_n)
{
	_cleanup_(close_directory) DIR *d = NULL;
	/* Of its own: the place in the directory belongs to it, and closedir(3) closes it. */
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return -ENOMEM;
	}
	*ret_n = 0;
	for (struct dirent *e; *ret_n < SPOOL_MAX_SEGMENTS && (e = readdir(d));)
		*ret_n += spool_name_parse(e->d_name, &ids[*ret_n]);
	qsort(ids, *ret_n, sizeof(*ids), newest_first);
	return 0;
}

int spool_scan(int dir_fd, uint64_t *ret_next_id, struct spool_found *ret_found)
{
	_cleanup_free_ uint64_t *ids = calloc(SPOOL_MAX_SEGMENTS + 1, sizeof(*ids));
	_cleanup_(spool_found_fini) struct spool_found found = { 0 };
	size_t n = 0;
	int r = ids ? list_ids(dir_fd, ids, &n) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = scan_file(dir_fd, ids[i], &found);
	if (r < 0)
		return r;
	if (found.n > 0)
		qsort(found.places, found.n, sizeof(*found.places), in_order);
	*ret_next_id = n > 0 ? ids[0] + 1 : 1;
	*ret_found = found;
	found = (struct spool_found){ 0 };
	return 0;
}

void spool_found_fini(struct spool_found *found)
{
	free(found->places);
	*found = (struct spool_found){ 0 };
}
