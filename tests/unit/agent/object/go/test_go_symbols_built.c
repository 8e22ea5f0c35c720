/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's symbols against what Go says: a program that prints the frames of its own stacks, and of every few bytes of its text
 * (runtime.CallersFrames). Built by each version of Go that is installed; the files that are read have no symbols.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/object/go/go_symbols.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/go/go_fixture.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define LINE_BYTES 8192

/*
 * M start offset: where the text is mapped. K: what follows are stacks, outermost last, physical frames each with what was inlined into
 * them. S pc: the frames of an address, up to Go 1.20 only the innermost of them. Frames: pc, whether it is a function's own, name, file,
 * line.
 */
static const char program[] =
	"package main\n"
	"import (\"bufio\"; \"fmt\"; \"os\"; \"runtime\"; \"sort\"; \"strings\")\n"
	"var out = bufio.NewWriter(os.Stdout)\n"
	"var sink int\n"
	"type T struct{ a, b int }\n"
	"type I interface{ Method(int); Value(int) }\n"
	"func (t *T) Method(n int) { t.inner(n + 1) }\n"
	"func (t *T) inner(n int) { innermost(n + t.a) }\n"
	"func (t T) Value(n int) { small(func() { innermost(n) }) }\n"
	"func small(f func()) { f() }\n"
	"func innermost(n int) { sink += n; stack() }\n"
	"func third(n int) { sink++; innermost(n) }\n"
	"func second(n int) { third(n * 2) }\n"
	"func first(n int) {\n\tsecond(n)\n\tsink--\n\tsecond(n + 1)\n}\n"
	"func viaAsm()\n"
	"func back() { first(7) }\n"
	"//go:noinline\nfunc stack() {\n"
	"\tvar pcs [64]uintptr\n"
	"\tfmt.Fprintln(out, \"K\")\n"
	"\tprint(runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])]))\n}\n"
	"func print(frames *runtime.Frames) {\n"
	"\tfor {\n\t\tf, more := frames.Next()\n"
	"\t\tfmt.Fprintf(out, \"%x\\t%v\\t%s\\t%s\\t%d\\n\", f.PC, f.Func != nil, f.Function, "
	"f.File, f.Line)\n"
	"\t\tif !more { return }\n\t}\n}\n"
	"func sweep(start, end uintptr) {\n"
	"\tfor pc := start; pc < end; pc += 7 {\n"
	"\t\tif runtime.FuncForPC(pc + 1) == nil { continue }\n"
	"\t\tfmt.Fprintf(out, \"S\\t%x\\n\", pc)\n"
	"\t\tprint(runtime.CallersFrames([]uintptr{pc + 1, 1}))\n\t}\n}\n"
	"func main() {\n"
	"\tdefer out.Flush()\n"
	"\tmaps, _ := os.ReadFile(\"/proc/self/maps\")\n"
	"\tvar start, end, offset uintptr\n"
	"\tfor _, line := range strings.Split(string(maps), \"\\n\") {\n"
	"\t\tif strings.Contains(line, \" r-xp \") && strings.HasSuffix(line, \"/program\") {\n"
	"\t\t\tfmt.Sscanf(line, \"%x-%x r-xp %x\", &start, &end, &offset)\n"
	"\t\t\tbreak\n\t\t}\n\t}\n"
	"\tfmt.Fprintf(out, \"M\\t%x\\t%x\\n\", start, offset)\n"
	"\tfirst(1)\n"
	"\tvar i I = &T{1, 2}\n\ti.Method(3)\n\ti.Value(4)\n"
	"\tfunc() { defer func() { recover(); second(5) }(); panic(1) }()\n"
	"\tv := []int{2, 1}\n\tsort.Slice(v, func(i, j int) bool { third(i); return v[i] < v[j] "
	"})\n"
	"\tc := make(chan int)\n\tgo func() { first(6); c <- 1 }()\n\t<-c\n"
	"\tviaAsm()\n\tgeneric()\n"
	"\tsweep(start, end)\n}\n";

static const char assembly[] = "TEXT \xc2\xb7viaAsm(SB), 0, $8-0\n"
			       "\tCALL \xc2\xb7"
			       "back(SB)\n"
			       "\tRET\n";

static const char without_generics[] = "package main\nfunc generic() {}\n";

static const char with_generics[] =
	"package main\n"
	"type List[E any] struct{ items []E }\n"
	"func (l *List[E]) Each(f func(E)) { for _, e := range l.items { f(e) } }\n"
	"func Map[A, B any](in []A, f func(A) B) (r []B) {\n"
	"\tfor _, a := range in { r = append(r, f(a)) }\n\tfirst(len(r))\n\treturn r\n}\n"
	"//go:noinline\nfunc Pair[K comparable, V interface{ Len() int }](k K, v V) int {\n"
	"\tfirst(v.Len())\n\treturn small2(v)\n}\n"
	"func small2[V interface{ Len() int }](v V) int { innermost(v.Len()); return 1 }\n"
	"type S []string\nfunc (s S) Len() int { return len(s) }\n"
	"func generic() {\n"
	"\tl := &List[string]{[]string{\"a\"}}\n"
	"\tl.Each(func(s string) { second(len(s)) })\n"
	"\t(&List[map[string][2]int]{make([]map[string][2]int, 1)}).Each(func(m map[string][2]int) "
	"{ first(len(m)) })\n"
	"\tMap([]int{1}, func(i int) string { third(i); return \"\" })\n"
	"\tPair(\"k\", S{\"x\"})\n\tPair([2]int{}, S{})\n}\n";

struct row {
	const char *name;
	unsigned int minor; /* Go 1.minor; 0: the one that is found first */
	const char *options;
	const char *change; /* shell, of the program */
	bool is_long;	    /* builds the standard library anew */
};

#define NO_SECTIONS                                                                       \
	"printf '\\0\\0\\0\\0\\0\\0\\0\\0' | dd of=program bs=1 seek=40 conv=notrunc && " \
	"printf '\\0\\0\\0\\0' | dd of=program bs=1 seek=60 conv=notrunc"
#define STRIPPED "-ldflags='-s -w'"
#define PIE "-buildmode=pie " STRIPPED
#define EXTERNAL "-buildmode=pie -ldflags='-linkmode=external -s -w'"
#define VERSION(name, minor)                                                                       \
	{ name, minor, STRIPPED, "true", false },                                                  \
		{ name " position independent, no sections", minor, PIE, NO_SECTIONS, true },      \
	{                                                                                          \
		name " position independent by the system's linker", minor, EXTERNAL, "true", true \
	}

static struct row rows[] = {
	{ "as built", 0, "", "true", false },
	{ "no sections", 0, STRIPPED, NO_SECTIONS, false },
	{ "no optimization", 0, "-gcflags='all=-N -l'", "true", true },
	{ "trimmed", 0, "-trimpath " STRIPPED, "true", false },
	{ "position independent", 0, PIE, "true", false },
	{ "position independent by the system's linker", 0,
	  "-buildmode=pie -ldflags='-linkmode=external'", "strip program", false },
	VERSION("1.16", 16),
	VERSION("1.17", 17),
	VERSION("1.18", 18),
	VERSION("1.19", 19),
	VERSION("1.20", 20),
	VERSION("1.21", 21),
	VERSION("1.22", 22),
	VERSION("1.23", 23),
	VERSION("1.24", 24),
	VERSION("1.25", 25),
	VERSION("1.26", 26),
};

/* Where distributions, https://go.dev/dl and the go command put their versions. */
#define FIND_GO                                                                      \
	"PATH=$PATH:/usr/local/go/bin; export GO111MODULE=off GOENV=off GOFLAGS= "   \
	"GOTOOLCHAIN=local; for go in \"$(command -v go)\" /usr/lib/go-1.*/bin/go "  \
	"$HOME/sdk/go1.*/bin/go $HOME/go/pkg/mod/golang.org/toolchain@*/bin/go; do " \
	"$go version | grep -q ' go1[.]%s[. ]' && break; done && "

static bool go(const struct fixture_dir *dir, unsigned int minor, const char *rest)
{
	char number[16] = "[0-9]*", command[1024];

	if (minor > 0)
		(void)snprintf(number, sizeof(number), "%u", minor);
	(void)snprintf(command, sizeof(command), FIND_GO "%s", number, rest);
	return fixture_run(dir, command);
}

static bool build(const struct fixture_dir *dir, const struct row *row)
{
	bool has_generics = row->minor == 0 || row->minor >= 18;
	char command[256];

	(void)snprintf(command, sizeof(command), "$go build -o program %s .", row->options);
	return fixture_write(dir, "main.go", program) && fixture_write(dir, "asm.s", assembly) &&
	       fixture_write(dir, "generic.go", has_generics ? with_generics : without_generics) &&
	       go(dir, row->minor, command) && fixture_run(dir, "./program > said") &&
	       fixture_run(dir, row->change);
}

/* A frame as Go says it. */
struct said {
	uint64_t pc;
	bool is_function;
	char *name;
	char *file;
	uint32_t line;
};

struct judge {
	struct go_symbols *symbols;
	const struct elf *elf;
	uint64_t start;
	uint64_t offset;
	FILE *f;
	char line[LINE_BYTES];
	struct said said;
	bool is_frame; /* what was read last */
	struct arena strings;
	struct source_frames frames;
	size_t n_addresses;
	size_t n_stacks;
	size_t n_inlined; /* frames */
	size_t n_only_innermost;
	size_t n_more;
	uint32_t deepest;
	char nameless[256];
};

static bool read_line(struct judge *judge)
{
	char *rest = judge->line;

	if (!fgets(judge->line, sizeof(judge->line), judge->f))
		return false;
	judge->line[strcspn(judge->line, "\n")] = '\0';
	judge->is_frame = strchr("MKS", judge->line[0]) == NULL;
	if (judge->is_frame) {
		judge->said.pc = strtoull(strsep(&rest, "\t"), NULL, 16);
		judge->said.is_function = strcmp(strsep(&rest, "\t"), "true") == 0;
		judge->said.name = strsep(&rest, "\t");
		judge->said.file = strsep(&rest, "\t");
		judge->said.line = (uint32_t)strtoul(rest, NULL, 10);
		if (strcmp(judge->said.file, "?") == 0)
			judge->said.file[0] = '\0';
	}
	return true;
}

/* Go takes the place 0 to be no name, though one is there. */
static bool is_nameless(struct judge *judge, const struct source_frame *frame)
{
	if (judge->said.name[0] != '\0' || frame->function[0] == '\0')
		return false;
	if (judge->nameless[0] == '\0')
		(void)snprintf(judge->nameless, sizeof(judge->nameless), "%s", frame->function);
	return strcmp(judge->nameless, frame->function) == 0;
}

static bool is_said(struct judge *judge, const struct source_frame *frame)
{
	return (strcmp(frame->function, judge->said.name) == 0 || is_nameless(judge, frame)) &&
	       strcmp(frame->file, judge->said.file) == 0 && frame->line == judge->said.line;
}

static void fail_frame(const struct judge *judge, const struct source_frame *frame)
{
	fail_msg("pc %" PRIx64 ": %s %s:%u, Go says %s %s:%u", judge->said.pc, frame->function,
		 frame->file, frame->line, judge->said.name, judge->said.file, judge->said.line);
}

static int look_up(struct judge *judge, uint64_t pc)
{
	uint64_t vaddr;

	if (!elf_vaddr(judge->elf, pc - judge->start + judge->offset, &vaddr))
		fail_msg("pc %" PRIx64 " of what is mapped at %" PRIx64, pc, judge->start);
	arena_fini(&judge->strings);
	int r = go_symbols_frames(judge->symbols, vaddr, &judge->strings, &judge->frames);
	judge->n_addresses++;
	if (r == 0 && judge->frames.n > judge->deepest)
		judge->deepest = judge->frames.n;
	return r;
}

/* What Go leaves out unless the address is in it: wrappers that the compiler made, and some of the library's
 * (cmd/internal/objabi/funcid.go). */
static bool is_wrapper(const struct source_frame *frame)
{
	return strcmp(frame->file, "<autogenerated>") == 0 ||
	       strstr(frame->function, ".deferwrap") || strstr(frame->function, ".gowrap") ||
	       strcmp(frame->function, "reflect.callMethod") == 0 ||
	       strcmp(frame->function, "reflect.callReflect") == 0 ||
	       strcmp(frame->function, "runtime.deferreturn") == 0 ||
	       strcmp(frame->function, "runtime.deferCallSave") == 0;
}

/* The frames of one address, of which the first was read. True: another line was. */
static bool judge_address(struct judge *judge, bool is_stack)
{
	bool more = true;
	uint32_t i = 0;

	if (look_up(judge, judge->said.pc) != 0) {
		/* What has no lines has none in Go either. */
		assert_string_equal(judge->said.file, "");
		return read_line(judge);
	}
	for (; i < judge->frames.n; i++) {
		const struct source_frame *frame = &judge->frames.items[i];
		bool is_last = !more || !judge->is_frame;

		if (i > 0 && is_wrapper(frame) && (is_last || !is_said(judge, frame)))
			continue;
		if (is_last && !is_stack && i == 1) {
			judge->n_only_innermost++;
			return more;
		}
		if (is_last || !is_said(judge, frame) ||
		    (judge->said.is_function && i + 1 < judge->frames.n))
			fail_frame(judge, frame);
		judge->n_inlined += !judge->said.is_function;
		judge->n_more += i > 0 && !is_stack;
		more = read_line(judge);
	}
	return more;
}

static bool judge_stack(struct judge *judge)
{
	bool more = read_line(judge);

	judge->n_stacks++;
	while (more && judge->is_frame)
		more = judge_address(judge, true);
	return more;
}

static void judge_all(struct judge *judge)
{
	bool more = read_line(judge);

	while (more) {
		char kind = judge->line[0];

		assert_false(judge->is_frame);
		if (kind == 'M')
			assert_int_equal(sscanf(judge->line, "M %" SCNx64 " %" SCNx64,
						&judge->start, &judge->offset),
					 2);
		if (kind == 'K')
			more = judge_stack(judge);
		else
			more = read_line(judge);
		if (kind == 'S' && more)
			more = judge_address(judge, false);
	}
}

static void judge_file(const struct fixture_dir *dir, struct judge *judge)
{
	char path[FIXTURE_PATH_BYTES];
	struct fixture_elf file;

	judge->f = fopen(fixture_path(dir, "said", path), "re");
	assert_non_null(judge->f);
	arena_init(&judge->strings, ARENA_BYTES);
	assert_int_equal(fixture_elf_open(fixture_path(dir, "program", path), &file), 0);
	assert_int_equal(go_symbols_new(file.elf, &judge->symbols), 0);
	judge->elf = file.elf;
	judge_all(judge);
	arena_fini(&judge->strings);
	assert_true(go_symbols_bytes(judge->symbols) < 150000);
	go_symbols_free(judge->symbols);
	fixture_elf_close(&file);
	(void)fclose(judge->f);
}

static void says_what_go_says(void **state)
{
	const struct row *row = *state;
	const char *matrix = getenv("XAGENT_TEST_MATRIX");
	struct judge judge = { 0 };
	struct fixture_dir dir;

	assert_true(fixture_dir_init(&dir));
	if (row->is_long && !(matrix && strcmp(matrix, "full") == 0)) {
		print_message("skip: builds a standard library; XAGENT_TEST_MATRIX=full\n");
		fixture_dir_fini(&dir);
		skip();
	}
	if (!build(&dir, row)) {
		bool has_go = go(&dir, row->minor, "true");

		fixture_dir_fini(&dir);
		print_message("skip: %s\n", has_go ? "Go cannot build this" : "no such Go");
		skip();
	}
	judge_file(&dir, &judge);
	print_message("%zu addresses, %zu stacks, %zu inlined frames, %u deep\n", judge.n_addresses,
		      judge.n_stacks, judge.n_inlined, judge.deepest);
	assert_true(judge.n_addresses > 50000);
	assert_true(judge.n_stacks >= 10);
	/* Either Go tells all frames of an address or only the innermost. */
	assert_true(judge.n_more == 0 || judge.n_only_innermost == 0);
	if (!strstr(row->options, "-N"))
		assert_true(judge.n_inlined > 10000 && judge.deepest >= 4);
	fixture_dir_fini(&dir);
}

/* Of the standard library, which Go's own linker joins with its text. */
static const char with_c[] = "package main\n"
			     "import (\"fmt\"; \"net\")\n"
			     "func main() { fmt.Println(net.LookupHost(\"localhost\")) }\n";

/* The table has their names, but no lines. */
static void c_functions(void **state)
{
	_cleanup_buf_ struct buf name = BUF_INIT(256);
	struct source_frames frames;
	struct go_symbols *symbols;
	struct go_function function;
	struct arena strings;
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	assert_true(fixture_dir_init(&dir));
	if (!fixture_write(&dir, "main.go", with_c) ||
	    !go(&dir, 0, "CGO_ENABLED=1 $go build -o program main.go") ||
	    !fixture_run(&dir, "nm program | grep ' T _cgo_.*getaddrinfo$' > symbol")) {
		fixture_dir_fini(&dir);
		print_message("skip: no Go that builds with C\n");
		skip();
	}
	uint64_t vaddr = fixture_hex(&dir, "cat symbol");
	assert_true(fixture_run(&dir, "strip program"));
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "program", path), &file), 0);
	assert_int_equal(go_symbols_new(file.elf, &symbols), 0);
	arena_init(&strings, ARENA_BYTES);
	assert_int_equal(go_symbols_find(symbols, vaddr, &function), 0);
	assert_int_equal(function.begin, vaddr);
	assert_int_equal(go_symbols_name(symbols, &function, &name), 0);
	assert_non_null(strstr(buf_str(&name), "_getaddrinfo"));
	assert_int_equal(go_symbols_frames(symbols, vaddr, &strings, &frames), GOPCLNTAB_NONE);
	arena_fini(&strings);
	go_symbols_free(symbols);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

static const struct unit_test tests[] = {
	TEST(c_functions),
	TEST_ROWS(says_what_go_says, rows, name),
};

TEST_MAIN(tests)
