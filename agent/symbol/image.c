/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside of a file. */
#include "agent/symbol/image_private.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/object/symtab.h"
#include "agent/symbol/debuginfod.h"
#include "agent/util/clock.h"
#include "agent/util/macro.h"

/* What malloc adds to an image, its headers, their segments and the list of its sources. */
#define ALLOCATIONS_BYTES (4 * 16)

int image_new(struct elf *elf, struct elf *debug, struct image **ret_image)
{
	struct image *image = calloc(1, sizeof(*image));
	int r = image ? function_info_new(&image->info) : -ENOMEM;

	if (r < 0) {
		free(image);
		return r;
	}
	list_init(&image->all);
	image->elf = elf;
	image->debug = debug;
	image->fetched_fd = -1;
	*ret_image = image;
	return 0;
}

static void drop_fetched(struct image *image)
{
	elf_free(image->fetched);
	image->fetched = NULL;
	cleanup_close_p(&image->fetched_fd);
	image->fetched_fd = -1;
}

static void drop_reader(struct image *image)
{
	dwarf_file_close(image->reader);
	image->reader = NULL;
}

bool image_has_sources(const struct image *image)
{
	return image->reader || image->fetched || function_info_is_loaded(image->info);
}

void image_free(struct image *image)
{
	if (!image)
		return;
	function_info_free(image->info);
	drop_reader(image);
	line_cache_fini(&image->lines);
	drop_fetched(image);
	elf_free(image->debug);
	elf_free(image->elf);
	pieces_fini(&image->pieces);
	free(image);
}

size_t image_source_bytes(const struct image *image)
{
	if (!image_has_sources(image))
		return 0;
	return function_info_bytes(image->info) +
	       (image->fetched ? elf_memory_bytes(image->fetched) : 0) +
	       (image->reader ? dwarf_file_bytes(image->reader) : 0);
}

size_t image_bytes(const struct image *image)
{
	return sizeof(*image) + ALLOCATIONS_BYTES + elf_memory_bytes(image->elf) +
	       (image->debug ? elf_memory_bytes(image->debug) : 0) + image->pieces.bytes +
	       image->lines.bytes + image_source_bytes(image);
}

void image_drop_sources(struct image *image)
{
	function_info_drop(image->info);
	drop_reader(image);
	drop_fetched(image);
}

void image_drop_names(struct image *image)
{
	pieces_fini(&image->pieces);
	line_cache_fini(&image->lines);
}

uint32_t image_heat(const struct image *image, uint64_t interval)
{
	uint64_t age = interval - image->interval;

	return age < 32 ? image->heat >> age : 0;
}

static void heat_up(struct image *image, uint64_t interval)
{
	uint32_t heat = image_heat(image, interval);

	image->heat = heat < UINT32_MAX ? heat + 1 : heat;
	image->interval = interval;
}

void image_end_interval(struct image *image, uint64_t interval)
{
	pieces_drop_passing(&image->pieces);
	uint64_t keep = image->reader && dwarf_file_has_scratch(image->reader)
				? IMAGE_SCRATCH_INTERVALS
				: 0;
	if (interval - image->reader_interval > keep)
		drop_reader(image);
}

void image_expire(struct image *image, uint64_t now_ns)
{
	if (image->failed_ns && now_ns >= image->failed_ns + IMAGE_NEGATIVE_NS)
		image->failed_ns = 0;
	if (!image->nameless_ns || now_ns < image->nameless_ns + IMAGE_NEGATIVE_NS)
		return;
	image->nameless_ns = 0;
	image->is_unfetchable = false;
	image->is_readerless = false;
	image_drop_sources(image);
	function_info_forget(image->info);
	pieces_drop_nameless(&image->pieces);
}

struct function_files image_files(struct image *image, const struct image_options *options,
				  const struct image_access *access)
{
	if (elf_bytes(image->elf)->memory == NULL)
		elf_set_fd(image->elf, access->fd);
	if (image->debug)
		elf_set_fd(image->debug, access->debug_fd);
	return (struct function_files){
		.elf = image->elf,
		.debug = access->debug_fd >= 0 ? image->debug : NULL,
		.fetched = image->fetched,
		.max_bytes = options->max_bytes,
	};
}

bool image_is_readable(const struct image *image, const struct image_access *access)
{
	return access->fd >= 0 || elf_bytes(image->elf)->memory;
}

int image_fetch(struct image *image, const struct image_options *options,
		const struct image_access *access, bool *ret_is_pending)
{
	struct bytes bytes;
	int fd = -1;

	if (!options->fetch || !access->build_id[0] || image->fetched || image->is_unfetchable)
		return IMAGE_NO_NAME;
	int r = options->fetch(options->fetch_data, access->build_id, &fd);
	if (r == DEBUGINFOD_PENDING)
		*ret_is_pending = true;
	if (r != 0) {
		image->is_unfetchable = r == DEBUGINFOD_NONE;
		return r < 0 ? r : IMAGE_NO_NAME;
	}
	image->fetched_fd = fd;
	if (bytes_from_fd(fd, &bytes) == 0 && elf_new(bytes, &image->fetched) == 0)
		return 0;
	drop_fetched(image);
	image->is_unfetchable = true;
	return IMAGE_NO_NAME;
}

/* All sources, and where they have nothing the server's. */
static int find(struct image *image, const struct image_options *options,
		const struct image_access *access, uint64_t vaddr,
		struct function_answer *ret_answer, bool *ret_is_passing)
{
	struct function_files files = image_files(image, options, access);
	bool is_pending = false;
	int r = function_info_find(image->info, &files, vaddr, ret_answer);

	if (r == FUNCTION_INFO_NONE && image_fetch(image, options, access, &is_pending) == 0) {
		files.fetched = image->fetched;
		r = function_info_find(image->info, &files, vaddr, ret_answer);
	}
	*ret_is_passing = is_pending || (image->debug && !files.debug);
	return r;
}

static int make_name(struct image *image, const struct image_options *options,
		     const struct function_answer *answer, struct buf *name)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(SYMTAB_MAX_NAME_BYTES + 1);
	int r = function_info_name(image->info, answer, &raw);

	if (r == FUNCTION_INFO_NONE)
		return 0;
	/* Go's names are not mangled, and look like much. */
	if (r == 0)
		r = demangle((struct str){ raw.data, raw.len },
			     answer->kind == FUNCTION_KIND_GO ? DEMANGLE_NONE : options->demangle,
			     name);
	return r;
}

/* Without a name its piece is still the function that holds the address, or what lies between two. */
static int find_extent(struct image *image, const struct image_options *options,
		       const struct image_access *access, uint64_t vaddr, struct piece *piece)
{
	struct function_files files = image_files(image, options, access);
	struct function_extent extent;
	int r = function_info_extent(image->info, &files, vaddr, &extent);

	if (r != 0)
		return r < 0 ? r : 0;
	piece->begin = MAX_OF(piece->begin, extent.begin);
	piece->end = MIN_OF(piece->end, extent.end);
	piece->has_function = extent.is_function;
	piece->function_begin = extent.begin;
	return 0;
}

static int add_piece(struct image *image, const struct image_options *options,
		     const struct image_access *access, uint64_t vaddr,
		     const struct piece **ret_piece)
{
	_cleanup_buf_ struct buf name = BUF_INIT(DEMANGLE_MAX_RESULT_BYTES + 1);
	struct function_answer answer;
	struct piece piece = { 0 };

	heat_up(image, access->interval);
	int r = find(image, options, access, vaddr, &answer, &piece.is_passing);
	if (r < 0)
		return r;
	piece.begin = answer.piece.begin;
	piece.end = answer.piece.end;
	piece.has_function = r == 0;
	piece.function_begin = answer.piece.function_begin;
	r = r == 0 ? make_name(image, options, &answer, &name)
		   : find_extent(image, options, access, vaddr, &piece);
	if (r < 0)
		return r;
	if (name.len == 0 && !image->nameless_ns)
		image->nameless_ns = access->now_ns;
	return pieces_add(&image->pieces, vaddr, &piece, (struct str){ name.data, name.len },
			  ret_piece);
}

bool image_knows(const struct image *image, uint64_t vaddr)
{
	return pieces_find(&image->pieces, vaddr);
}

int image_name(struct image *image, const struct image_options *options,
	       const struct image_access *access, uint64_t vaddr, const char **ret_name)
{
	const struct piece *piece = pieces_find(&image->pieces, vaddr);

	if (!piece && image_is_readable(image, access)) {
		int r = add_piece(image, options, access, vaddr, &piece);

		if (r < 0)
			return r;
	}
	if (!piece || piece->name_bytes == 0)
		return IMAGE_NO_NAME;
	*ret_name = piece->name;
	return 0;
}

bool image_function_begin(const struct image *image, uint64_t vaddr, uint64_t *ret_begin)
{
	const struct piece *piece = pieces_find(&image->pieces, vaddr);

	if (!piece || !piece->has_function)
		return false;
	*ret_begin = piece->function_begin;
	return true;
}
