/* SPDX-License-Identifier: Apache-2.0 */
/* Go programs for tests: hand-made ones of a few functions, and such that the installed compiler makes. */
#ifndef XAGENT_TESTS_UNIT_OBJECT_GO_FIXTURE_H
#define XAGENT_TESTS_UNIT_OBJECT_GO_FIXTURE_H

#include <elf.h>
#include <string.h>

#include "agent/util/macro.h"
#include "tests/unit/agent/object/fixture.h"

#define GO_IMAGE_BYTES 0x4000
#define GO_TEXT_VADDR 0x401000
#define GO_TEXT_OFF 0x1000
#define GO_TABLE_VADDR 0x402000
#define GO_TABLE_OFF 0x2000
#define GO_MODULE_VADDR 0x403010
#define GO_MODULE_OFF 0x3010
#define GO_NAMES_AT 0x80
#define GO_VALUES_AT 0x200
#define GO_FUNCS_AT 0x400
#define GO_RECORDS_AT 0x200 /* from the functab */
#define GO_MAX_FUNCS 4

#define GO_1_16 0xfffffffau
#define GO_1_18 0xfffffff0u
#define GO_1_20 0xfffffff1u

/* A function: its code fills n_bytes of text. */
struct go_func {
	const char *name;
	const char *code; /* hexadecimal, spaces are passed over */
	uint32_t n_bytes;
	uint8_t flags;
	uint8_t values[24]; /* stack depths as in pctab */
	bool no_values;
};

struct go_image {
	unsigned char bytes[GO_IMAGE_BYTES];
};

static inline void go_put(struct go_image *image, uint64_t off, uint64_t value, size_t n)
{
	memcpy(image->bytes + off, &value, n);
}

static inline void go_put_code(struct go_image *image, uint64_t off, const char *hex)
{
	static const char digits[] = "0123456789abcdef";
	int high = -1;

	for (; hex && *hex; hex++) {
		const char *digit = strchr(digits, *hex);

		if (!digit)
			continue;
		if (high < 0) {
			high = (int)(digit - digits);
			continue;
		}
		image->bytes[off++] = (unsigned char)(high << 4 | (digit - digits));
		high = -1;
	}
}

static inline void go_put_segment(struct go_image *image, int i, uint32_t flags, uint64_t off,
				  uint64_t vaddr)
{
	const Elf64_Phdr phdr = { .p_type = PT_LOAD,
				  .p_flags = flags,
				  .p_offset = off,
				  .p_vaddr = vaddr,
				  .p_filesz = 0x1000,
				  .p_memsz = 0x1000,
				  .p_align = 0x1000 };

	memcpy(image->bytes + sizeof(Elf64_Ehdr) + (size_t)i * sizeof(phdr), &phdr, sizeof(phdr));
}

static inline void go_put_headers(struct go_image *image, uint16_t machine)
{
	Elf64_Ehdr ehdr = { .e_type = ET_EXEC,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(ehdr),
			    .e_ehsize = sizeof(ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 3 };

	memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
	ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(image->bytes, &ehdr, sizeof(ehdr));
	go_put_segment(image, 0, PF_R | PF_X, GO_TEXT_OFF, GO_TEXT_VADDR);
	go_put_segment(image, 1, PF_R, GO_TABLE_OFF, GO_TABLE_VADDR);
	go_put_segment(image, 2, PF_R | PF_W, 0x3000, 0x403000);
}

static inline void go_put_table_header(struct go_image *image, uint32_t magic, uint8_t quantum,
				       uint64_t text, size_t n_funcs)
{
	const uint64_t parts[] = { GO_NAMES_AT, 0x180, 0x1c0, GO_VALUES_AT, GO_FUNCS_AT };
	uint64_t at = GO_TABLE_OFF;

	go_put(image, at, magic, 4);
	go_put(image, at + 6, quantum, 1);
	go_put(image, at + 7, 8, 1);
	go_put(image, at + 8, n_funcs, 8);
	at += 24;
	if (magic != GO_1_16) {
		go_put(image, at, text, 8);
		at += 8;
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		go_put(image, at + i * 8, parts[i], 8);
}

static inline void go_put_record(struct go_image *image, uint32_t magic, size_t i, uint64_t entry,
				 const struct go_func *func, uint32_t name_off, uint32_t pcsp)
{
	uint64_t record = GO_RECORDS_AT + i * 48;
	uint64_t at = GO_TABLE_OFF + GO_FUNCS_AT + record;
	size_t n = magic == GO_1_16 ? 8 : 4;
	uint64_t functab = GO_TABLE_OFF + GO_FUNCS_AT + i * 2 * n;

	go_put(image, functab, entry, n);
	go_put(image, functab + n, record, n);
	go_put(image, at, entry, n);
	go_put(image, at + n, name_off, 4);
	go_put(image, at + n + 12, pcsp, 4);
	go_put(image, at + (magic == GO_1_18 ? 37 : 41), func->flags, 1);
}

/* A program of these functions, one behind the other; where `text` is 0 its start stands in the moduledata only. */
static inline void go_image_make(struct go_image *image, uint16_t machine, uint32_t magic,
				 uint64_t text, const struct go_func *funcs, size_t n_funcs)
{
	uint64_t base = magic == GO_1_16 ? GO_TEXT_VADDR : 0;
	uint64_t off = 0;
	uint32_t name = 0;
	uint32_t values = 1;

	memset(image, 0, sizeof(*image));
	go_put_headers(image, machine);
	go_put_table_header(image, magic, machine == EM_AARCH64 ? 4 : 1, text, n_funcs);
	for (size_t i = 0; i < n_funcs; i++) {
		size_t len = strlen(funcs[i].name) + 1;

		memcpy(image->bytes + GO_TABLE_OFF + GO_NAMES_AT + name, funcs[i].name, len);
		memcpy(image->bytes + GO_TABLE_OFF + GO_VALUES_AT + values, funcs[i].values,
		       sizeof(funcs[i].values));
		go_put_code(image, GO_TEXT_OFF + off, funcs[i].code);
		go_put_record(image, magic, i, base + off, &funcs[i], name,
			      funcs[i].no_values ? 0 : values);
		name += (uint32_t)len;
		values += (uint32_t)sizeof(funcs[i].values) + 2;
		off += funcs[i].n_bytes;
	}
	go_put(image, GO_TABLE_OFF + GO_FUNCS_AT + n_funcs * (magic == GO_1_16 ? 16 : 8),
	       base + off, magic == GO_1_16 ? 8 : 4);
	go_put(image, GO_MODULE_OFF, GO_TABLE_VADDR, 8);
	go_put(image, GO_MODULE_OFF + 160, GO_TEXT_VADDR, 8);
	go_put(image, GO_MODULE_OFF + 168, GO_TEXT_VADDR + off, 8);
	go_put(image, GO_MODULE_OFF + 176, GO_TEXT_VADDR, 8);
}

static const char go_program[] =
	"package main\n"
	"import (\"fmt\"; \"os\"; \"sort\"; \"crypto/sha256\"; \"time\")\n"
	"type big struct{ a [600]byte }\n"
	"//go:noinline\nfunc leaf(x int) int { return x*3 + 1 }\n"
	"//go:noinline\nfunc large(b big, n int) int {\n"
	"if n == 0 { return int(b.a[3]) }\nb.a[n]++\nreturn large(b, n-1) + leaf(n)\n}\n"
	"func deferred(n int) (r int) {\n"
	"defer func() { if e := recover(); e != nil { r = 7 } }()\n"
	"if n > 2 { panic(\"x\") }\nreturn n\n}\n"
	"func main() {\n"
	"v := []int{5, 3, 8, 1}\nsort.Slice(v, func(i, j int) bool { return v[i] < v[j] })\n"
	"var b big\nt := large(b, 5) + deferred(3) + deferred(1)\n"
	"ch := make(chan int)\ngo func() { ch <- t }()\nx := <-ch\n"
	"fmt.Fprintln(os.Stdout, v, x, sha256.Sum256([]byte(\"y\")), time.Now().Unix() > 0)\n}\n";

static const char go_cgo_program[] = "package main\n"
				     "/*\nint back(int);\n"
				     "static int work(int n) { volatile int s = 0; for (int i = 0; "
				     "i < 10; i++) s += back(n + i); "
				     "return s; }\n*/\n"
				     "import \"C\"\nimport \"fmt\"\n"
				     "//export back\nfunc back(n C.int) C.int { return n * 2 }\n"
				     "func main() { fmt.Println(C.work(4)) }\n";

/* Builds ./program from one of the texts above; the caller skips when this fails. */
static inline bool go_build(const struct fixture_dir *dir, const char *text, const char *options)
{
	char command[1024];

	(void)snprintf(command, sizeof(command),
		       "PATH=$PATH:/usr/local/go/bin; export GO111MODULE=off GOENV=off GOFLAGS= "
		       "GOTOOLCHAIN=local; go build %s -o program program.go",
		       options);
	return fixture_write(dir, "program.go", text) && fixture_run(dir, command);
}

#endif
