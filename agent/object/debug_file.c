/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separate debug files, where GDB and the distributions have put them ("Debugging Information in
 * Separate Files", GDB manual).
 *
 * What the object says (a name) and what its root holds (links, traps) is hostile: names with a
 * slash are none, and the kernel resolves paths inside of the root.
 */
#include "agent/object/debug_file.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "agent/object/build_id.h"
#include "agent/object/debug_owner.h"
#include "agent/util/foreign_file.h"
#include "agent/util/macro.h"
#include "agent/util/reader.h"

#define DEBUG_ROOT "/usr/lib/debug"
/* What is read for a sum, in some 150 ms. Only files without a build id come to that: old or hand-made ones, and small. */
#define MAX_FILE_BYTES ((uint64_t)256 << 20)
#define CRC_WINDOW_BYTES ((size_t)256 * 1024)
/* A name, up to 4 bytes of padding, the sum. */
#define MAX_LINK_BYTES (NAME_MAX + 1 + 3 + 4)

struct debug_link {
	char name[NAME_MAX + 1];
	uint32_t crc;
};

/* 0 and *ret_fd, or DEBUG_FILE_NONE: what is not there, is no regular file, or may not tell of `elf`, is not an error. */
static int open_candidate(const struct elf *elf, int root_fd, const char *path, int *ret_fd)
{
	_cleanup_close_ int fd = foreign_open(root_fd, path, 0, 0, NULL);

	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOSYS)
		return fd;
	if (fd < 0 || !debug_owner_may_tell_fd(elf_bytes(elf)->fd, fd))
		return DEBUG_FILE_NONE;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* "" also when there is none. 0, DEBUG_FILE_NONE (no ELF file), -ENOMEM. */
static int read_build_id(int fd, struct build_id *ret_id)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct bytes bytes;

	if (bytes_from_fd(fd, &bytes) < 0)
		return DEBUG_FILE_NONE;
	int r = elf_new(bytes, &elf);
	if (r == 0)
		r = build_id_read(elf, ret_id);
	return r == 0 || r == -ENOMEM ? r : DEBUG_FILE_NONE;
}

static int has_build_id(int fd, const char *wanted)
{
	struct build_id id = { 0 };
	int r = read_build_id(fd, &id);

	if (r != 0)
		return r;
	return strcmp(id.gnu, wanted) == 0 ? 0 : DEBUG_FILE_NONE;
}

static int open_by_build_id(const struct elf *elf, int root_fd, const char *id, int *ret_fd)
{
	char path[sizeof(DEBUG_ROOT "/.build-id/xx/.debug") + BUILD_ID_TEXT_BYTES];
	_cleanup_close_ int fd = -1;

	if (strlen(id) < 4)
		return DEBUG_FILE_NONE;
	(void)snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%.*s.debug", id,
		       BUILD_ID_TEXT_BYTES - 3, id + 2);
	int r = open_candidate(elf, root_fd, path, &fd);
	if (r != 0)
		return r;
	r = has_build_id(fd, id);
	if (r != 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* The section's bytes: a name, NUL, zeros up to a multiple of 4, the CRC32 in the file's byte
 * order. */
static bool parse_link(const char *section, size_t n, struct debug_link *ret_link)
{
	size_t len = strnlen(section, n);
	size_t crc_off = (len + 1 + 3) & ~(size_t)3;

	if (len == 0 || len > NAME_MAX || crc_off + sizeof(ret_link->crc) > n ||
	    memchr(section, '/', len) || strcmp(section, ".") == 0 || strcmp(section, "..") == 0)
		return false;
	memcpy(ret_link->name, section, len + 1);
	memcpy(&ret_link->crc, section + crc_off, sizeof(ret_link->crc));
	return true;
}

static int read_link(struct elf *elf, struct debug_link *ret_link)
{
	char bytes[MAX_LINK_BYTES];
	const struct elf_section *s = NULL;
	int r = elf_load_sections(elf);

	if (r < 0)
		return r;
	s = elf_section_by_name(elf, ".gnu_debuglink");
	if (!s || s->type == SHT_NOBITS || (s->flags & SHF_COMPRESSED))
		return DEBUG_FILE_NONE;
	size_t n = (size_t)MIN_OF(s->size_bytes, (uint64_t)sizeof(bytes));
	r = bytes_read(elf_bytes(elf), s->file_off, bytes, n);
	if (r == -ENODATA || (r == 0 && !parse_link(bytes, n, ret_link)))
		return DEBUG_FILE_NONE;
	return r;
}

/* The sum is over the whole file, which therefore is read: once an object. */
static int check_crc(int fd, uint32_t wanted)
{
	_cleanup_free_ unsigned char *window = NULL;
	uLong crc = crc32(0, NULL, 0);
	struct bytes bytes;
	int r = bytes_from_fd(fd, &bytes);

	if (r < 0 || bytes.size > MAX_FILE_BYTES)
		return DEBUG_FILE_NONE;
	window = malloc(CRC_WINDOW_BYTES);
	if (!window)
		return -ENOMEM;
	for (uint64_t at = 0; at < bytes.size;) {
		ssize_t n = bytes_read_some(&bytes, at, window, CRC_WINDOW_BYTES);

		if (n <= 0)
			return n < 0 ? (int)n : DEBUG_FILE_NONE;
		crc = crc32(crc, window, (uInt)n);
		at += (uint64_t)n;
	}
	return (uint32_t)crc == wanted ? 0 : DEBUG_FILE_NONE;
}

/* A build id in both tells as much as the sum, at once. 0 (*ret_is_sure is set), DEBUG_FILE_NONE, -ENOMEM. */
static int check_link(int fd, const char *build_id, bool *ret_is_sure)
{
	struct build_id id = { 0 };

	*ret_is_sure = false;
	if (!build_id[0])
		return 0;
	int r = read_build_id(fd, &id);
	if (r != 0 || !id.gnu[0])
		return r;
	*ret_is_sure = true;
	return strcmp(id.gnu, build_id) == 0 ? 0 : DEBUG_FILE_NONE;
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return foreign_stat(a, &x) == 0 && foreign_stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Consumes fd. The host's root may be the process's, too. */
static void add_candidate(struct debug_file_candidates *c, int fd, bool is_sure)
{
	bool is_new = c->n < DEBUG_FILE_MAX_CANDIDATES;

	for (uint32_t i = 0; i < c->n && is_new; i++)
		is_new = !is_same_file(c->items[i].fd, fd);
	if (is_new)
		c->items[c->n++] = (struct debug_file_candidate){ fd, is_sure };
	else
		reader_close(fd);
}

static bool has_sure(const struct debug_file_candidates *c)
{
	return c->n > 0 && c->items[c->n - 1].is_sure;
}

static int try_link(const struct elf *elf, int root_fd, const char *path, const char *build_id,
		    struct debug_file_candidates *c)
{
	_cleanup_close_ int fd = -1;
	bool is_sure = false;
	int r = open_candidate(elf, root_fd, path, &fd);

	if (r != 0)
		return MIN_OF(r, 0);
	r = check_link(fd, build_id, &is_sure);
	if (r != 0)
		return MIN_OF(r, 0);
	add_candidate(c, TAKE_FD(fd), is_sure);
	return 0;
}

static int collect_by_link(const struct elf *elf, int root_fd, const char *path,
			   const struct debug_link *link, const char *build_id,
			   struct debug_file_candidates *c)
{
	static const struct {
		const char *prefix;
		const char *sub;
	} places[] = { { "", "" }, { "", "/.debug" }, { DEBUG_ROOT, "" } };
	const char *slash = strrchr(path, '/');
	char place[PATH_MAX];
	int r = 0;

	if (path[0] != '/' || slash - path > PATH_MAX)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(places) && r == 0 && !has_sure(c); i++) {
		int n = snprintf(place, sizeof(place), "%s%.*s%s/%s", places[i].prefix,
				 (int)(slash - path), path, places[i].sub, link->name);

		if (n > 0 && (size_t)n < sizeof(place))
			r = try_link(elf, root_fd, place, build_id, c);
	}
	return r;
}

int debug_file_collect(struct elf *elf, int root_fd, const char *path,
		       struct debug_file_candidates *candidates)
{
	struct debug_link link;
	struct build_id id = { 0 };
	int fd = -1;
	int r = has_sure(candidates) ? 0 : build_id_read(elf, &id);

	if (r < 0 || has_sure(candidates))
		return r;
	r = open_by_build_id(elf, root_fd, id.gnu, &fd);
	if (r == 0)
		add_candidate(candidates, fd, true);
	if (r != DEBUG_FILE_NONE)
		return r;
	r = read_link(elf, &link);
	if (r != 0)
		return r < 0 ? r : 0;
	candidates->crc = link.crc;
	return collect_by_link(elf, root_fd, path, &link, id.gnu, candidates);
}

int debug_file_choose(struct debug_file_candidates *candidates, int *ret_fd)
{
	assert(candidates->n <= DEBUG_FILE_MAX_CANDIDATES);
	for (uint32_t i = 0; i < candidates->n; i++) {
		struct debug_file_candidate *c = &candidates->items[i];
		int r = c->is_sure ? 0 : check_crc(c->fd, candidates->crc);

		if (r == 0)
			*ret_fd = TAKE_FD(c->fd);
		if (r <= 0)
			return r;
	}
	return DEBUG_FILE_NONE;
}

void debug_file_candidates_fini(struct debug_file_candidates *candidates)
{
	for (uint32_t i = 0; i < candidates->n; i++)
		reader_close(candidates->items[i].fd);
	candidates->n = 0;
}

int debug_file_open(struct elf *elf, int root_fd, const char *path, int *ret_fd)
{
	_cleanup_candidates_ struct debug_file_candidates candidates = { 0 };
	int r = debug_file_collect(elf, root_fd, path, &candidates);

	return r < 0 ? r : debug_file_choose(&candidates, ret_fd);
}
