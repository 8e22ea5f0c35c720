/* SPDX-License-Identifier: Apache-2.0 */
/* The DWARF sections of a file as an ELF image in memory. */
#include "agent/object/lines/source_image.h"

#include <assert.h>
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/object/cfi/cfi_inflate.h"
#include "agent/object/elf.h"
#include "agent/util/macro.h"

/* Of the image, not of the machine. */
#define PAGE ((size_t)4096)
/* The ELF header, a header a section with the null one and the names' own, the names. */
#define HEAD_BYTES PAGE
/* Debug files of browsers have 4 GiB of sections. */
#define MAX_IMAGE_BYTES ((uint64_t)16 << 30)

static const char *const section_names[SOURCE_SECTION_MAX] = {
	[SOURCE_INFO] = "debug_info",
	[SOURCE_ABBREV] = "debug_abbrev",
	[SOURCE_LINE] = "debug_line",
	[SOURCE_STR] = "debug_str",
	[SOURCE_LINE_STR] = "debug_line_str",
	[SOURCE_RANGES] = "debug_ranges",
	[SOURCE_RNGLISTS] = "debug_rnglists",
	[SOURCE_ADDR] = "debug_addr",
	[SOURCE_STR_OFFSETS] = "debug_str_offsets",
};

static size_t round_up(size_t n)
{
	return (n + PAGE - 1) & ~(PAGE - 1);
}

static bool is_filled(const struct source_image *image, size_t page)
{
	return image->filled[page / 8] & (1U << page % 8);
}

static void set_filled(struct source_image *image, size_t page)
{
	image->filled[page / 8] |= (uint8_t)(1U << page % 8);
}

/* The section called .NAME, or .zNAME as old compilers called compressed ones. */
static const struct elf_section *find_section(struct elf *elf, const char *name)
{
	for (size_t i = 0; i < elf_n_sections(elf); i++) {
		const struct elf_section *s = elf_section(elf, i);
		const char *found = elf_section_name(elf, s);

		if (s->type == SHT_NOBITS || found[0] != '.')
			continue;
		if (strcmp(found + 1, name) == 0 ||
		    (found[1] == 'z' && strcmp(found + 2, name) == 0))
			return s;
	}
	return NULL;
}

static bool lies_in_file(const struct source_image *image, const struct cfi_packed *p)
{
	return p->file_off <= image->file.size && p->n_packed <= image->file.size - p->file_off;
}

/* What is too large for memory goes to disk, all of it. */
static int plan_scratch(struct source_image *image)
{
	uint64_t total = 0;

	for (int i = 0; i < SOURCE_SECTION_MAX; i++) {
		struct source_image_section *s = &image->sections[i];

		if (!s->is_inflated)
			continue;
		s->is_inflated = false;
		s->is_scratch = true;
		s->file_off = total;
		total += s->n_bytes;
	}
	int r = image->scratch ? scratch_open(image->scratch, total, &image->scratch_fd)
			       : SCRATCH_NONE;
	if (r == 0)
		image->n_scratch_bytes = total;
	return r > 0 ? SOURCE_IMAGE_NONE : r;
}

/* Where each section is to lie; what is wrong with one makes it absent. */
static int plan(struct source_image *image, struct elf *elf, size_t max_inflated_bytes,
		struct cfi_packed packed[SOURCE_SECTION_MAX])
{
	uint64_t total = HEAD_BYTES + PAGE, inflated = 0;

	for (int i = 0; i < SOURCE_SECTION_MAX; i++) {
		const struct elf_section *s = find_section(elf, section_names[i]);
		struct source_image_section *to = &image->sections[i];

		if (!s || !cfi_packed_read(elf, s, &packed[i]) || !lies_in_file(image, &packed[i]))
			continue;
		if (packed[i].n_bytes > MAX_IMAGE_BYTES - total - 2 * PAGE)
			return SOURCE_IMAGE_NONE;
		*to = (struct source_image_section){
			.file_off = packed[i].file_off,
			.n_bytes = (size_t)packed[i].n_bytes,
			.image_off = (size_t)total,
			.is_inflated = packed[i].packing != CFI_PACKING_PLAIN,
		};
		inflated += to->is_inflated ? to->n_bytes : 0;
		total += round_up(to->n_bytes) + PAGE;
	}
	image->n_memory = (size_t)total;
	if (image->sections[SOURCE_INFO].n_bytes == 0 ||
	    image->sections[SOURCE_ABBREV].n_bytes == 0)
		return SOURCE_IMAGE_NONE;
	return inflated <= max_inflated_bytes ? 0 : plan_scratch(image);
}

static int reserve(struct source_image *image)
{
	void *memory = mmap(NULL, image->n_memory, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	image->memory = memory;
	/* A huge page would cost 2 MiB where 4 KiB are looked at. */
	(void)madvise(memory, image->n_memory, MADV_NOHUGEPAGE);
	image->filled = calloc(image->n_memory / PAGE / 8 + 1, 1);
	return image->filled ? 0 : -ENOMEM;
}

static void write_section_header(struct source_image *image, Elf64_Shdr *h, enum source_section i,
				 char *names, size_t *n_names)
{
	const struct source_image_section *s = &image->sections[i];

	/* The name's dot, its end. */
	names[*n_names] = '.';
	memcpy(names + *n_names + 1, section_names[i], strlen(section_names[i]) + 1);
	*h = (Elf64_Shdr){ .sh_name = (Elf64_Word)*n_names,
			   .sh_type = SHT_PROGBITS,
			   .sh_offset = s->image_off,
			   .sh_size = s->n_bytes,
			   .sh_addralign = 1 };
	*n_names += strlen(section_names[i]) + 2;
}

/* ELF header, section headers, names: all in the first page. */
static void write_head(struct source_image *image, uint16_t machine)
{
	Elf64_Ehdr *eh = (void *)image->memory;
	Elf64_Shdr *sh = (void *)(image->memory + sizeof(*eh));
	char *names = (char *)(sh + SOURCE_SECTION_MAX + 2);
	size_t n_names = 1;
	unsigned int n = 1;

	_Static_assert(sizeof(*eh) + (SOURCE_SECTION_MAX + 2) * (sizeof(*sh) + 24) < HEAD_BYTES,
		       "the head has room for all sections");
	for (enum source_section i = 0; i < SOURCE_SECTION_MAX; i++)
		if (image->sections[i].n_bytes > 0)
			write_section_header(image, &sh[n++], i, names, &n_names);
	sh[n] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
			      .sh_offset = (Elf64_Off)((unsigned char *)names - image->memory),
			      .sh_size = n_names,
			      .sh_addralign = 1 };
	*eh = (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB
									 : ELFDATA2MSB,
					 EV_CURRENT },
			    .e_type = ET_EXEC,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_shoff = sizeof(*eh),
			    .e_ehsize = sizeof(*eh),
			    .e_shentsize = sizeof(*sh),
			    .e_shnum = (Elf64_Half)(n + 1),
			    .e_shstrndx = (Elf64_Half)n };
}

static int inflate_section(struct source_image *image, const struct source_image_section *s,
			   const struct cfi_packed *packed)
{
	int r = 0;

	if (s->is_scratch)
		r = cfi_inflate_to_file(&image->file, packed, image->scratch_fd, s->file_off);
	else if (s->is_inflated)
		r = cfi_inflate_to(&image->file, packed, image->memory + s->image_off);
	if (s->is_inflated)
		image->n_inflated_bytes += round_up(s->n_bytes);
	/* A disk that is full is no fault of ours, and none that could be helped. */
	return r == -EBADMSG || r == -ENOSPC || r == -EDQUOT ? SOURCE_IMAGE_NONE : r;
}

static int inflate_sections(struct source_image *image,
			    const struct cfi_packed packed[SOURCE_SECTION_MAX])
{
	for (int i = 0; i < SOURCE_SECTION_MAX; i++) {
		int r = inflate_section(image, &image->sections[i], &packed[i]);

		if (r != 0)
			return r;
	}
	image->n_filled_bytes = image->n_inflated_bytes;
	return 0;
}

static int image_init(struct source_image *image, struct elf *elf, size_t max_inflated_bytes)
{
	struct cfi_packed packed[SOURCE_SECTION_MAX] = { 0 };
	int r = elf_load_sections(elf);

	/* A relocatable file (a kernel module) would have to be relocated first. */
	if (r > 0 || elf_object_type(elf) == ET_REL)
		return SOURCE_IMAGE_NONE;
	if (r != 0)
		return r;
	r = plan(image, elf, max_inflated_bytes, packed);
	if (r != 0)
		return r;
	r = reserve(image);
	if (r != 0)
		return r;
	write_head(image, elf_machine(elf));
	return inflate_sections(image, packed);
}

int source_image_exists(const struct bytes *file)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	int r = elf_new(*file, &elf);

	if (r == 0)
		r = elf_load_sections(elf);
	if (r != 0)
		return r < 0 ? r : SOURCE_IMAGE_NONE;
	return elf_object_type(elf) != ET_REL && find_section(elf, section_names[SOURCE_INFO])
		       ? 0
		       : SOURCE_IMAGE_NONE;
}

int source_image_new(const struct bytes *file, size_t max_inflated_bytes, struct scratch *scratch,
		     struct source_image **ret_image)
{
	_cleanup_(source_image_freep) struct source_image *image = calloc(1, sizeof(*image));
	_cleanup_(elf_freep) struct elf *elf = NULL;

	if (!image)
		return -ENOMEM;
	image->scratch = scratch;
	image->scratch_fd = -1;
	image->file = *file;
	int r = elf_new(image->file, &elf);
	if (r == 0)
		r = image_init(image, elf, max_inflated_bytes);
	if (r != 0)
		return r < 0 ? r : SOURCE_IMAGE_NONE;
	*ret_image = TAKE_PTR(image);
	return 0;
}

void source_image_free(struct source_image *image)
{
	if (!image)
		return;
	if (image->memory)
		(void)munmap(image->memory, image->n_memory);
	free(image->filled);
	if (image->scratch_fd >= 0)
		scratch_close(image->scratch, image->scratch_fd, image->n_scratch_bytes);
	free(image);
}

/* Pages first … end − 1 of the image, all of one section. */
static int fill_run(struct source_image *image, const struct source_image_section *s, size_t first,
		    size_t end)
{
	assert(first < end && end <= image->n_memory / PAGE);

	size_t off = first * PAGE - s->image_off;
	size_t n = MIN_OF((end - first) * PAGE, s->n_bytes - off);
	const struct bytes scratch = { .fd = image->scratch_fd };
	ssize_t got = bytes_read_some(s->is_scratch ? &scratch : &image->file, s->file_off + off,
				      image->memory + first * PAGE, n);

	if (got < 0)
		return (int)got;
	for (size_t page = first; page < end; page++)
		set_filled(image, page);
	image->n_filled_bytes += (end - first) * PAGE;
	return 0;
}

int source_image_fill(struct source_image *image, enum source_section section, uint64_t off,
		      uint64_t n)
{
	assert(section < SOURCE_SECTION_MAX);

	const struct source_image_section *s = &image->sections[section];

	if (s->is_inflated || off >= s->n_bytes || n == 0)
		return 0;
	n = MIN_OF(n, s->n_bytes - off);
	size_t page = (size_t)(s->image_off + off) / PAGE;
	size_t end = (size_t)(s->image_off + off + n - 1) / PAGE + 1;
	while (page < end) {
		size_t first = page;

		while (page < end && !is_filled(image, page))
			page++;
		int r = page > first ? fill_run(image, s, first, page) : 0;
		if (r < 0)
			return r;
		page += page == first;
	}
	return 0;
}

int source_image_read(struct source_image *image, enum source_section section, uint64_t off,
		      void *dst, size_t n)
{
	assert(section < SOURCE_SECTION_MAX);

	const struct source_image_section *s = &image->sections[section];

	if (off > s->n_bytes || n > s->n_bytes - off)
		return -ENODATA;
	int r = source_image_fill(image, section, off, n);
	if (r < 0)
		return r;
	memcpy(dst, image->memory + s->image_off + off, n);
	return 0;
}

bool source_image_locate(const struct source_image *image, const void *p,
			 enum source_section *ret_section, uint64_t *ret_off)
{
	size_t image_off = (size_t)((uintptr_t)p - (uintptr_t)image->memory);

	for (enum source_section i = 0; i < SOURCE_SECTION_MAX; i++) {
		const struct source_image_section *s = &image->sections[i];

		if (image_off < s->image_off || image_off - s->image_off >= s->n_bytes)
			continue;
		*ret_section = i;
		*ret_off = image_off - s->image_off;
		return true;
	}
	return false;
}

int source_image_text(struct source_image *image, const char *text, size_t max_bytes, size_t *ret_n)
{
	enum source_section section;
	uint64_t off;
	size_t n = 0;

	if (!source_image_locate(image, text, &section, &off)) {
		*ret_n = strnlen(text, max_bytes);
		return 0;
	}
	/* Page by page: most names end in the first. The zeros behind the section end the last. */
	while (n < max_bytes) {
		size_t step = MIN_OF(PAGE - ((uintptr_t)text + n) % PAGE, max_bytes - n);
		int r = source_image_fill(image, section, off + n, step);
		if (r < 0)
			return r;
		size_t found = strnlen(text + n, step);
		n += found;
		if (found < step)
			break;
	}
	*ret_n = n;
	return 0;
}

void source_image_drop(struct source_image *image)
{
	for (int i = 0; i < SOURCE_SECTION_MAX; i++) {
		const struct source_image_section *s = &image->sections[i];

		if (s->n_bytes > 0 && !s->is_inflated)
			(void)madvise(image->memory + s->image_off, round_up(s->n_bytes),
				      MADV_DONTNEED);
	}
	memset(image->filled, 0, image->n_memory / PAGE / 8 + 1);
	image->n_filled_bytes = image->n_inflated_bytes;
}

size_t source_image_bytes(const struct source_image *image)
{
	return sizeof(*image) + image->n_memory / PAGE / 8 + HEAD_BYTES + image->n_filled_bytes;
}
