/* SPDX-License-Identifier: Apache-2.0 */
/* Segments as files. */
#include "agent/store/disk/disk_file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "agent/util/buf.h"
#include "agent/util/cleanup.h"
#include "agent/util/file.h"
#include "agent/util/str.h"
#include "agent/util/zstd_frame.h"

/* 3 is zstd's own; 1 gives files a tenth larger in half the time, and these are written every minute. */
#define DISK_ZSTD_LEVEL 1
#define DISK_ID_DIGITS 16
#define DISK_TMP ".tmp"
#define DISK_DAMAGED_SUFFIX ".damaged"

void disk_name_print(struct disk_name name, char text[static DISK_NAME_BYTES])
{
	(void)snprintf(text, DISK_NAME_BYTES, "%s-%016" PRIx64 ".zst",
		       name.head ? "head" : "segment", name.id);
}

bool disk_name_parse(const char *text, struct disk_name *ret_name)
{
	struct str s = str_from(text);
	bool head = str_starts_with(s, STR_LIT("head-"));
	size_t n_before = head ? strlen("head-") : strlen("segment-");
	char again[DISK_NAME_BYTES];
	uint64_t id;

	if (s.n < n_before + DISK_ID_DIGITS)
		return false;
	if (str_parse_u64((struct str){ s.p + n_before, DISK_ID_DIGITS }, 16, UINT64_MAX, &id) < 0)
		return false;
	*ret_name = (struct disk_name){ id, head };
	disk_name_print(*ret_name, again);
	return strcmp(again, text) == 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct disk_name *x = a, *y = b;

	if (x->id != y->id)
		return x->id > y->id ? -1 : 1;
	/* The segment before the head that it was. */
	return x->head - y->head;
}

static bool is_half_written(const char *name)
{
	char text[DISK_NAME_BYTES];
	struct str s = str_from(name);
	struct disk_name ignored;

	if (!str_ends_with(s, STR_LIT(DISK_TMP)) || s.n >= sizeof(text))
		return false;
	(void)snprintf(text, sizeof(text), "%.*s", (int)(s.n - strlen(DISK_TMP)), name);
	return disk_name_parse(text, &ignored);
}

static int list_entry(int dir_fd, const char *name, size_t *cap, struct disk_names *names)
{
	struct disk_name parsed;

	if (name[0] == '.')
		return 0;
	if (is_half_written(name))
		return unlinkat(dir_fd, name, 0) < 0 ? -errno : 0;
	if (!disk_name_parse(name, &parsed)) {
		names->n_strange += !str_ends_with(str_from(name), STR_LIT(DISK_DAMAGED_SUFFIX));
		return 0;
	}
	if (names->n == *cap) {
		size_t more = *cap ? *cap * 2 : 64;
		struct disk_name *items = reallocarray(names->items, more, sizeof(*items));

		if (!items)
			return -ENOMEM;
		names->items = items;
		*cap = more;
	}
	names->items[names->n++] = parsed;
	return 0;
}

/* A crash between writing a segment and removing the head that it was leaves both; together they would count twice. */
static int drop_twins(int dir_fd, struct disk_names *names)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		if (n > 0 && names->items[n - 1].id == names->items[i].id) {
			int r = disk_remove_file(dir_fd, names->items[i]);

			if (r < 0)
				return r;
			continue;
		}
		names->items[n++] = names->items[i];
	}
	names->n = n;
	return 0;
}

static void close_directory(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

int disk_list(int dir_fd, struct disk_names *ret_names)
{
	_cleanup_(disk_names_fini) struct disk_names names = { 0 };
	_cleanup_(close_directory) DIR *d = NULL;
	size_t cap = 0;
	int r = 0;
	/* A descriptor of its own: the place in the directory belongs to it, and closedir(3) closes it. */
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return -ENOMEM;
	}
	for (struct dirent *e; r == 0 && names.n < DISK_MAX_FILES && (e = readdir(d));)
		r = list_entry(dir_fd, e->d_name, &cap, &names);
	if (r < 0)
		return r;
	if (names.n > 0)
		qsort(names.items, names.n, sizeof(*names.items), compare_names);
	r = drop_twins(dir_fd, &names);
	if (r < 0)
		return r;
	*ret_names = names;
	names = (struct disk_names){ 0 };
	return 0;
}

void disk_names_fini(struct disk_names *names)
{
	free(names->items);
	*names = (struct disk_names){ 0 };
}

static void free_stream(ZSTD_CStream **stream)
{
	(void)ZSTD_freeCStream(*stream);
}

static bool set_stream(ZSTD_CStream *stream, size_t n)
{
	return !ZSTD_isError(
		       ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, DISK_ZSTD_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1)) &&
	       !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(stream, n));
}

/* In pieces: no second copy of it in memory. */
static int write_frame(int fd, const uint8_t *image, size_t n, size_t *ret_bytes)
{
	_cleanup_(free_stream) ZSTD_CStream *stream = ZSTD_createCStream();
	size_t room = ZSTD_CStreamOutSize(), left = 1;
	_cleanup_free_ uint8_t *piece = malloc(room);
	ZSTD_inBuffer in = { image, n, 0 };

	if (!stream || !piece || !set_stream(stream, n))
		return -ENOMEM;
	for (*ret_bytes = 0; left > 0;) {
		ZSTD_outBuffer out = { piece, room, 0 };

		left = ZSTD_compressStream2(stream, &out, &in, ZSTD_e_end);
		if (ZSTD_isError(left))
			return -ENOMEM;
		int r = file_write_fd(fd, piece, out.pos);
		if (r < 0)
			return r;
		*ret_bytes += out.pos;
	}
	return 0;
}

static int write_half(int dir_fd, const char *tmp, const uint8_t *image, size_t n,
		      size_t *ret_bytes)
{
	_cleanup_close_ int fd =
		openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	int r = write_frame(fd, image, n, ret_bytes);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

int disk_write_file(int dir_fd, struct disk_name name, const uint8_t *image, size_t n,
		    size_t *ret_bytes)
{
	char text[DISK_NAME_BYTES], tmp[DISK_NAME_BYTES + sizeof(DISK_TMP)];
	size_t bytes = 0;

	assert(image && n > 0);
	disk_name_print(name, text);
	(void)snprintf(tmp, sizeof(tmp), "%s" DISK_TMP, text);
	int r = write_half(dir_fd, tmp, image, n, &bytes);
	if (r == 0 && renameat(dir_fd, tmp, dir_fd, text) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(dir_fd, tmp, 0);
		return r;
	}
	/* The name is on disk, too. */
	if (fsync(dir_fd) < 0)
		return -errno;
	*ret_bytes = bytes;
	return 0;
}

static int unpack_frame(const struct buf *file, size_t max_bytes, uint8_t **ret_image,
			size_t *ret_n)
{
	int r = zstd_frame_unpack((const uint8_t *)file->data, file->len, max_bytes, ret_image, ret_n);

	return r == -EBADMSG ? DISK_DAMAGED : r < 0 ? r : DISK_READ;
}

int disk_read_file(int dir_fd, struct disk_name name, size_t max_bytes, uint8_t **ret_image,
		   size_t *ret_n, size_t *ret_bytes)
{
	char text[DISK_NAME_BYTES];
	_cleanup_buf_ struct buf file = BUF_INIT(ZSTD_compressBound(max_bytes));

	disk_name_print(name, text);
	int r = file_read(dir_fd, text, &file);
	/* Larger than anything that we write; or not a file at all. */
	if (r == -ENOBUFS || r == -EINVAL)
		return DISK_DAMAGED;
	if (r < 0)
		return r;
	*ret_bytes = file.len;
	return unpack_frame(&file, max_bytes, ret_image, ret_n);
}

int disk_remove_file(int dir_fd, struct disk_name name)
{
	char text[DISK_NAME_BYTES];

	disk_name_print(name, text);
	return unlinkat(dir_fd, text, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int disk_set_aside(int dir_fd, struct disk_name name)
{
	char text[DISK_NAME_BYTES], aside[DISK_NAME_BYTES + sizeof(DISK_DAMAGED_SUFFIX)];

	disk_name_print(name, text);
	(void)snprintf(aside, sizeof(aside), "%s" DISK_DAMAGED_SUFFIX, text);
	return renameat(dir_fd, text, dir_fd, aside) < 0 ? -errno : 0;
}
