/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inlined functions of programs that are built here, against what other tools read in them; and files that are none. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/object/lines/source_lines.h"
#include "agent/util/buf.h"
#include "agent/util/macro.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define MAX_BYTES ((size_t)16 << 20)
#define STRINGS_BYTES ((size_t)1 << 20)

static const char c_source[] =
	"static volatile unsigned int sink;\n"
	"static inline __attribute__((always_inline)) unsigned int deepest(unsigned int x)\n"
	"{ return x * 2654435761u ^ (x >> 7); }\n"
	"static inline __attribute__((always_inline)) unsigned int middle(unsigned int x)\n"
	"{\n"
	"	unsigned int sum = 0;\n"
	"	for (unsigned int i = 0; i < 8; i++) {\n"
	"		unsigned int t = deepest(x + i);\n"
	"		sum += t & 1 ? deepest(t) : t;\n"
	"	}\n"
	"	return sum;\n"
	"}\n"
	"__attribute__((noinline)) void burn(unsigned int n)\n"
	"{\n"
	"	for (unsigned int i = 0; i < n; i++)\n"
	"		sink += middle(i);\n"
	"}\n"
	"int main(int argc, char **argv) { (void)argv; burn((unsigned int)argc * 1000000); return "
	"0; }\n";

static const char cc_source[] =
	"#include <algorithm>\n#include <cstdio>\n#include <map>\n#include <memory>\n"
	"#include <string>\n#include <vector>\n"
	"namespace outer { namespace inner {\n"
	"struct base { virtual ~base() = default; virtual long work(long n) = 0; };\n"
	"template <typename T> struct derived : base {\n"
	"	T seed;\n"
	"	explicit derived(T s) : seed(s) {}\n"
	"	static inline long mix(long a, long b) { long r = a * 31 + b; return r ^ r >> 3; "
	"}\n"
	"	long work(long n) override {\n"
	"		auto twice = [&](long x) { return mix(x, mix(x + 1, (long)seed)); };\n"
	"		long r = 0;\n"
	"		for (long i = 0; i < n; i++) r += twice(i) + twice(r);\n"
	"		return r;\n"
	"	}\n"
	"};\n"
	"} }\n"
	"inline long count(const std::map<std::string, int> &m)\n"
	"{ long n = 0; for (auto &kv : m) n += kv.second; return n; }\n"
	"int main(int argc, char **argv) {\n"
	"	std::vector<std::string> v(argv, argv + argc);\n"
	"	std::map<std::string, int> m;\n"
	"	for (auto &s : v) m[s]++;\n"
	"	std::sort(v.begin(), v.end());\n"
	"	std::unique_ptr<outer::inner::base> a(new outer::inner::derived<int>(argc));\n"
	"	std::unique_ptr<outer::inner::base> b(new outer::inner::derived<double>(1.5));\n"
	"	printf(\"%ld\\n\", a->work(argc) + b->work(10) + count(m));\n"
	"}\n";

/* Of the tools that tell the same: binutils' takes names of functions from the symbol table, and 2.40 does not read the index of
 * ranges that clang writes in DWARF 5. */
#define BINUTILS "addr2line -a -i -f -e p < addresses"
#define LLVM                                                                                      \
	"llvm-symbolizer --obj=p --output-style=GNU --inlines --no-demangle --functions=linkage " \
	"-a < addresses"
#define ADDRESSES                                                                                 \
	"nm -S --defined-only p | awk 'NF == 4 && $3 ~ /[tTwW]/ { print $1, $2 }' | python3 -c '" \
	"import sys\n"                                                                            \
	"for line in sys.stdin:\n"                                                                \
	"	begin, size = (int(word, 16) for word in line.split())\n"                               \
	"	for at in range(begin, begin + size, 3): print(hex(at))' | head -6000 > "               \
	"addresses && "                                                                           \
	"test -s addresses"

struct build_row {
	const char *name;
	const char *compile;
	const char *judge;
	bool is_cc;
	bool is_split; /* only the skeleton: lines without functions */
};

static struct build_row build_rows[] = {
	{ "gcc, DWARF 4", "gcc -O2 -g -gdwarf-4 -o p p.c", BINUTILS, false, false },
	{ "gcc, DWARF 5", "gcc -O2 -g -gdwarf-5 -o p p.c", BINUTILS, false, false },
	{ "gcc, DWARF 2, -O1", "gcc -O1 -g -gdwarf-2 -gstrict-dwarf -o p p.c", BINUTILS, false,
	  false },
	{ "gcc, not position independent", "gcc -O2 -g -no-pie -o p p.c", BINUTILS, false, false },
	{ "gcc, zlib", "gcc -O2 -g -gz=zlib -o p p.c", BINUTILS, false, false },
	{ "gcc, zlib as before the standard", "gcc -O2 -g -gz=zlib-gnu -o p p.c", LLVM, false,
	  false },
	{ "gcc, zstd", "gcc -O2 -g -o q p.c && objcopy --compress-debug-sections=zstd q p",
	  BINUTILS, false, false },
	{ "gcc, 64-bit DWARF", "gcc -O2 -g -gdwarf64 -o p p.c", LLVM, false, false },
	{ "gcc, a debug file", "gcc -O2 -g -o q p.c && objcopy --only-keep-debug q p", BINUTILS,
	  false, false },
	{ "gcc, sections of functions", "gcc -O2 -g -ffunction-sections -Wl,--gc-sections -o p p.c",
	  BINUTILS, false, false },
	{ "gcc, split", "gcc -O2 -g -gsplit-dwarf -o p p.c", LLVM, false, true },
	{ "clang, DWARF 4", "clang -O2 -g -gdwarf-4 -o p p.c", LLVM, false, false },
	{ "clang, DWARF 5", "clang -O2 -g -gdwarf-5 -o p p.c", LLVM, false, false },
	{ "clang, zlib", "clang -O2 -g -gdwarf-5 -gz=zlib -o p p.c", LLVM, false, false },
	{ "clang, split", "clang -O2 -g -gdwarf-5 -gsplit-dwarf -o p p.c", LLVM, false, true },
	{ "g++, DWARF 4", "g++ -O2 -g -gdwarf-4 -o p p.cc", BINUTILS, true, false },
	{ "g++, DWARF 5, -O3", "g++ -O3 -g -gdwarf-5 -o p p.cc", BINUTILS, true, false },
	{ "g++, zlib", "g++ -O2 -g -gz=zlib -o p p.cc", BINUTILS, true, false },
	{ "clang++, DWARF 4", "clang++ -O2 -g -gdwarf-4 -o p p.cc", LLVM, true, false },
	{ "clang++, DWARF 5, -O3", "clang++ -O3 -g -gdwarf-5 -o p p.cc", LLVM, true, false },
	{ "clang++, units of types", "clang++ -O2 -g -gdwarf-5 -fdebug-types-section -o p p.cc",
	  LLVM, true, false },
};

/* Files that lines are read of; they stay open until the end. */
static int open_fds[64];
static size_t n_open_fds;

/* For all tests but those of rows. */
static struct fixture_dir shared_dir;

static int setup(void **state)
{
	(void)state;
	return fixture_dir_init(&shared_dir) && fixture_write(&shared_dir, "p.c", c_source) &&
			       fixture_write(&shared_dir, "p.cc", cc_source)
		       ? 0
		       : -1;
}

static int teardown(void **state)
{
	(void)state;
	while (n_open_fds > 0)
		(void)close(open_fds[--n_open_fds]);
	fixture_dir_fini(&shared_dir);
	return 0;
}

static int open_in(const struct fixture_dir *dir, const char *name)
{
	char path[FIXTURE_PATH_BYTES];
	int fd = open(fixture_path(dir, name, path), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int read_open(int fd, size_t max_bytes, struct scratch *scratch, struct source_lines **ret)
{
	struct source_lines *l = NULL;
	struct bytes file;

	assert_int_equal(bytes_from_fd(fd, &file), 0);
	int r = source_lines_new(&file, max_bytes, scratch, &l);
	if (r == 0)
		r = source_lines_start(l);
	if (r == 0)
		*ret = l;
	else
		source_lines_free(l);
	return r;
}

static int read_by_scratch(const struct fixture_dir *dir, const char *name, size_t max_bytes,
			   struct scratch *scratch, struct source_lines **ret)
{
	int fd = open_in(dir, name);

	assert_true(n_open_fds < ARRAY_SIZE(open_fds));
	open_fds[n_open_fds++] = fd;
	return read_open(fd, max_bytes, scratch, ret);
}

static int read_lines(const struct fixture_dir *dir, const char *name, size_t max_bytes,
		      struct source_lines **ret)
{
	return read_by_scratch(dir, name, max_bytes, NULL, ret);
}

/* Directories as they are written: "/a/./b", "/a/c/../b" and "/a/b" are one. */
static void put_clean(struct buf *out, const char *path)
{
	size_t begin = out->len;

	for (const char *p = path, *end; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, "/");
		size_t n = (size_t)(end - p);

		if (n == 0 || (n == 1 && p[0] == '.'))
			continue;
		if (n == 2 && memcmp(p, "..", 2) == 0) {
			while (out->len > begin && out->data[--out->len] != '/')
				;
			out->data[out->len] = '\0';
			continue;
		}
		assert_int_equal(buf_append_char(out, '/'), 0);
		assert_int_equal(buf_append(out, p, n), 0);
	}
}

/* One frame as the judge prints it, and what was answered. */
struct told {
	char function[8192];
	char place[8192]; /* file:line */
};

static bool is_same_place(const char *theirs, const struct source_frame *f)
{
	_cleanup_buf_ struct buf a = BUF_INIT(16384), b = BUF_INIT(16384);
	char file[8192];

	(void)snprintf(file, sizeof(file), "%s", theirs);
	char *colon = strrchr(file, ':');
	assert_non_null(colon);
	*colon = '\0';
	/* "?" and 0 are the same. */
	unsigned long line = strtoul(colon + 1, NULL, 10);
	put_clean(&a, strcmp(file, "??") == 0 ? "" : file);
	put_clean(&b, f->file);
	return line == f->line && strcmp(buf_str(&a), buf_str(&b)) == 0;
}

/* The symbol table has what was cut off of a function or made of it: "main.cold", "f.isra.0"; of a split file only it has names. */
static bool is_same_name(const char *theirs, const char *ours, bool is_outermost, bool is_split)
{
	size_t n = strlen(ours);

	if (is_split && n == 0)
		return true;
	return strcmp(theirs, ours) == 0 ||
	       (is_outermost && strncmp(theirs, ours, n) == 0 && theirs[n] == '.');
}

static bool is_same_frame(const struct build_row *row, const struct told *t,
			  const struct source_frame *f, bool is_outermost)
{
	/* GNU's way ends a line with the discriminator. */
	return is_same_place(t->place, f) &&
	       is_same_name(t->function, f->function, is_outermost, row->is_split);
}

struct comparison {
	const struct build_row *row;
	struct source_lines *lines;
	FILE *judge;
	char line[8192];   /* the judge's next */
	size_t n_compared; /* addresses */
	size_t n_inlined;  /* with more than one frame */
	size_t n_unknown;
	size_t n_wrong;
};

static bool next_line(struct comparison *c)
{
	if (!fgets(c->line, sizeof(c->line), c->judge))
		return false;
	c->line[strcspn(c->line, "\n")] = '\0';
	char *discriminator = strstr(c->line, " (discriminator");
	if (discriminator)
		*discriminator = '\0';
	return true;
}

static bool is_address(const char *line)
{
	return strncmp(line, "0x", 2) == 0 && line[strspn(line, "0123456789abcdefx")] == '\0';
}

/* The judge's frames up to the next address; false at the end of all. */
static bool next_told(struct comparison *c, struct told told[SOURCE_FRAMES_MAX], uint32_t *ret_n)
{
	bool more;

	*ret_n = 0;
	while ((more = next_line(c)) && !is_address(c->line)) {
		if (c->line[0] == '\0')
			continue;
		assert_true(*ret_n < SOURCE_FRAMES_MAX);
		struct told *t = &told[(*ret_n)++];
		(void)snprintf(t->function, sizeof(t->function), "%s",
			       strcmp(c->line, "??") == 0 ? "" : c->line);
		assert_true(next_line(c));
		(void)snprintf(t->place, sizeof(t->place), "%s", c->line);
	}
	return more;
}

static bool is_right(const struct comparison *c, const struct told *told, uint32_t n,
		     const struct source_frames *frames)
{
	/* Of a split one only the innermost place is here; the judge may find the rest. */
	if (c->row->is_split)
		return frames->n == 1 && n > 0 && is_same_place(told[0].place, &frames->items[0]);
	bool same = frames->n == n;

	for (uint32_t i = 0; same && i < n; i++)
		same = is_same_frame(c->row, &told[i], &frames->items[i], i == n - 1);
	return same;
}

static void show(uint64_t vaddr, const struct told *told, uint32_t n,
		 const struct source_frames *frames)
{
	for (uint32_t i = 0; i < n; i++)
		print_message("0x%llx judge: %s %s\n", (unsigned long long)vaddr, told[i].function,
			      told[i].place);
	for (uint32_t i = 0; i < frames->n; i++)
		print_message("0x%llx we:    %s %s:%u\n", (unsigned long long)vaddr,
			      frames->items[i].function, frames->items[i].file,
			      frames->items[i].line);
}

static void compare_one(struct comparison *c, uint64_t vaddr, const struct told *told, uint32_t n)
{
	static struct source_frames frames;
	struct arena strings;

	arena_init(&strings, STRINGS_BYTES);
	int r = source_lines_frames(c->lines, vaddr, &strings, &frames);
	assert_true(r == 0 || r == SOURCE_LINES_NONE);
	frames.n = r == 0 ? frames.n : 0;
	/* Start-up code without debug information. */
	if (r == SOURCE_LINES_NONE && n > 0 && strncmp(told[0].place, "??:", 3) != 0 &&
	    strstr(told[0].place, ":?") == NULL)
		c->n_wrong++;
	else if (r == SOURCE_LINES_NONE)
		c->n_unknown++;
	else if (!is_right(c, told, n, &frames) && c->n_wrong++ < 5)
		show(vaddr, told, n, &frames);
	c->n_compared += r == 0;
	c->n_inlined += r == 0 && frames.n > 1;
	arena_fini(&strings);
}

static void compare_all(struct comparison *c)
{
	static struct told told[SOURCE_FRAMES_MAX];
	uint64_t vaddr;
	uint32_t n;
	bool more = next_line(c);

	while (more) {
		assert_true(is_address(c->line));
		vaddr = strtoull(c->line, NULL, 16);
		more = next_told(c, told, &n);
		compare_one(c, vaddr, told, n);
	}
}

static FILE *ask_judge(const struct fixture_dir *dir, const char *command)
{
	char line[1024];

	(void)snprintf(line, sizeof(line), "cd %s && %s 2>/dev/null", dir->path, command);
	return popen(line, "re");
}

static void test_build(void **state)
{
	const struct build_row *row = *state;
	struct comparison c = { .row = row };
	struct fixture_dir dir;

	assert_true(fixture_dir_init(&dir));
	assert_true(fixture_write(&dir, "p.c", c_source) && fixture_write(&dir, "p.cc", cc_source));
	if (!fixture_run(&dir, row->compile) || !fixture_run(&dir, ADDRESSES) ||
	    !fixture_run(&dir, row->judge)) {
		print_message("cannot be built or judged here: %s\n", row->compile);
		fixture_dir_fini(&dir);
		skip();
	}
	assert_int_equal(read_lines(&dir, "p", MAX_BYTES, &c.lines), 0);
	c.judge = ask_judge(&dir, row->judge);
	assert_non_null(c.judge);
	compare_all(&c);
	(void)pclose(c.judge);
	fixture_dir_fini(&dir);
	print_message(
		"%s: %zu addresses, %zu inlined, %zu wrong, %zu without information, %zu bytes\n",
		row->name, c.n_compared, c.n_inlined, c.n_wrong, c.n_unknown,
		source_lines_bytes(c.lines));
	assert_true(source_lines_bytes(c.lines) <= MAX_BYTES);
	source_lines_free(c.lines);
	assert_true(c.n_compared >= (row->is_cc ? 1000 : 40));
	assert_int_equal(c.n_inlined == 0, row->is_split);
	assert_int_equal(c.n_wrong, 0);
}

/* What a burning program would be sampled at. */
static uint64_t address_of_burn(const struct fixture_dir *dir, const char *name)
{
	char command[256];

	(void)snprintf(command, sizeof(command), "nm %s | awk '$3 == \"burn\" { print $1 }'", name);
	return fixture_hex(dir, command);
}

static void test_frames(void **state)
{
	const struct fixture_dir *dir = &shared_dir;
	_cleanup_(source_lines_freep) struct source_lines *l = NULL;
	struct source_frames frames = { .n = 77 };
	bool seen_three = false;
	struct arena strings;

	(void)state;
	assert_true(fixture_run(dir, "gcc -O2 -g -o f p.c"));
	assert_int_equal(read_lines(dir, "f", MAX_BYTES, &l), 0);
	arena_init(&strings, STRINGS_BYTES);
	uint64_t burn = address_of_burn(dir, "f");
	assert_true(burn > 0);
	/* Untouched where nothing is known. */
	assert_int_equal(source_lines_frames(l, 8, &strings, &frames), SOURCE_LINES_NONE);
	assert_int_equal(frames.n, 77);
	for (uint64_t at = burn; at < burn + 512; at++) {
		if (source_lines_frames(l, at, &strings, &frames) != 0 || frames.n != 3)
			continue;
		seen_three = true;
		assert_string_equal(frames.items[0].function, "deepest");
		assert_string_equal(frames.items[1].function, "middle");
		assert_string_equal(frames.items[2].function, "burn");
		assert_int_equal(frames.items[0].line, 3);
		assert_true(frames.items[1].line == 8 || frames.items[1].line == 9);
		assert_int_equal(frames.items[2].line, 16);
		assert_non_null(strstr(frames.items[2].file, "/p.c"));
		assert_int_equal(frames.items[2].file[0], '/');
	}
	assert_true(seen_three);
	arena_fini(&strings);
}

/* The arena's ceiling is a fault, the answer stays as it was. */
static void test_no_room_for_strings(void **state)
{
	const struct fixture_dir *dir = &shared_dir;
	_cleanup_(source_lines_freep) struct source_lines *l = NULL;
	struct source_frames frames = { .n = 77 };
	struct arena strings;

	(void)state;
	assert_true(fixture_run(dir, "gcc -O2 -g -o f p.c"));
	assert_int_equal(read_lines(dir, "f", MAX_BYTES, &l), 0);
	arena_init(&strings, 1);
	assert_int_equal(source_lines_frames(l, address_of_burn(dir, "f"), &strings, &frames),
			 -ENOMEM);
	assert_int_equal(frames.n, 77);
	arena_fini(&strings);
}

/* Many units and little memory: what was read is dropped and read again, and every answer is the same. */
#define UNITS 300
#define MAKE_MANY                                                                            \
	"mkdir many && cd many && python3 -c '\n"                                            \
	"for i in range(300):\n"                                                             \
	"	pad = \"\".join(\"struct s%d_%d { int a%d; char *b; struct { long c[%d]; } d; "    \
	"};\\n\" % "                                                                         \
	"(i, k, k, k + 1) for k in range(40))\n"                                             \
	"	use = \"\".join(\"struct s%d_%d v%d_%d;\\n\" % (i, k, i, k) for k in range(40))\n" \
	"	open(\"u%d.c\" % i, \"w\").write(pad + use + \"static inline "                     \
	"__attribute__((always_inline)) int in%d(int x) { return x * %d; }\\n"               \
	"int unit%d(int x) { return in%d(x) + 1; }\\n\" % (i, i + 3, i, i))\n'"              \
	" && gcc -O1 -g -shared -fPIC -o ../many.so u*.c"

static void ask_units(struct source_lines *l, const uint64_t *vaddrs, size_t max_bytes)
{
	/* 7 and UNITS have no common divisor: all, far from each other. */
	for (size_t i = 0, k = 0; i < 2 * UNITS; i++, k = (k + 7) % UNITS) {
		static struct source_frames frames;
		struct arena strings;
		char name[32];

		arena_init(&strings, STRINGS_BYTES);
		assert_int_equal(source_lines_frames(l, vaddrs[k], &strings, &frames), 0);
		(void)snprintf(name, sizeof(name), "unit%zu", k);
		assert_string_equal(frames.items[frames.n - 1].function, name);
		(void)snprintf(name, sizeof(name), "/u%zu.c", k);
		assert_non_null(strstr(frames.items[0].file, name));
		assert_true(source_lines_bytes(l) <= max_bytes);
		arena_fini(&strings);
	}
}

static void read_units(const struct fixture_dir *dir, uint64_t vaddrs[UNITS])
{
	char line[1024], path[FIXTURE_PATH_BYTES];

	(void)snprintf(line, sizeof(line), "nm %s", fixture_path(dir, "many.so", path));
	FILE *f = popen(line, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long vaddr;
		unsigned int unit;

		if (sscanf(line, "%llx T unit%u", &vaddr, &unit) == 2 && unit < UNITS)
			vaddrs[unit] = vaddr;
	}
	(void)pclose(f);
}

static void test_many_units_in_little_memory(void **state)
{
	const struct fixture_dir *dir = &shared_dir;
	uint64_t vaddrs[UNITS] = { 0 };

	(void)state;
	if (!fixture_run(dir, MAKE_MANY)) {
		print_message("cannot build a library of many files here\n");
		skip();
	}
	read_units(dir, vaddrs);
	for (size_t max_bytes = SOURCE_LINES_MIN_BYTES; max_bytes <= MAX_BYTES; max_bytes *= 4) {
		_cleanup_(source_lines_freep) struct source_lines *l = NULL;

		assert_int_equal(read_lines(dir, "many.so", max_bytes, &l), 0);
		ask_units(l, vaddrs, max_bytes);
	}
}

/* What would not fit is not begun. */
static void test_too_large(void **state)
{
	const struct fixture_dir *dir = &shared_dir;
	struct source_lines *l = NULL;
	char path[FIXTURE_PATH_BYTES];

	(void)state;
	if (access(fixture_path(dir, "many.so", path), R_OK) != 0)
		skip();
	assert_int_equal(read_lines(dir, "many.so", SOURCE_LINES_MIN_BYTES - 1, &l),
			 SOURCE_LINES_NONE);
	assert_true(fixture_run(dir, "objcopy --compress-debug-sections=zlib many.so packed.so"));
	/* Inflated it does not fit. */
	assert_int_equal(read_lines(dir, "packed.so", SOURCE_LINES_MIN_BYTES, &l),
			 SOURCE_LINES_NONE);
	assert_null(l);
}

static void ask_packed(const struct fixture_dir *dir, struct scratch *scratch)
{
	_cleanup_(source_lines_freep) struct source_lines *l = NULL;
	uint64_t vaddrs[UNITS] = { 0 };

	read_units(dir, vaddrs);
	assert_int_equal(read_by_scratch(dir, "packed.so", SOURCE_LINES_MIN_BYTES, scratch, &l), 0);
	assert_true(source_lines_has_scratch(l));
	ask_units(l, vaddrs, SOURCE_LINES_MIN_BYTES);
}

/* What does not fit inflated is read from disk like a file that was never compressed. */
static void test_inflated_to_disk(void **state)
{
	static const char *const packings[] = { "zlib", "zstd" };
	const struct fixture_dir *dir = &shared_dir;
	struct scratch scratch = SCRATCH_INIT;
	struct source_lines *l = NULL;
	char command[128];
	int fd;

	(void)state;
	if (!fixture_run(dir, "test -e many.so") || scratch_open(&scratch, 1 << 20, &fd) != 0) {
		print_message("no library of many files, or no disk at " SCRATCH_DIR "\n");
		skip();
	}
	scratch_close(&scratch, fd, 1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++) {
		(void)snprintf(command, sizeof(command),
			       "objcopy --compress-debug-sections=%s many.so packed.so",
			       packings[i]);
		assert_true(fixture_run(dir, command));
		ask_packed(dir, &scratch);
		assert_int_equal(scratch.used_bytes, 0);
		assert_int_equal(scratch.n_opened, i + 2);
	}
	/* Other files have it all, or there is no such place. */
	scratch.used_bytes = scratch.max_bytes - 4096;
	assert_int_equal(read_by_scratch(dir, "packed.so", SOURCE_LINES_MIN_BYTES, &scratch, &l),
			 SOURCE_LINES_NONE);
	scratch = (struct scratch){ .dir = "/nonexistent", .max_bytes = SCRATCH_MAX_BYTES };
	assert_int_equal(read_by_scratch(dir, "packed.so", SOURCE_LINES_MIN_BYTES, &scratch, &l),
			 SOURCE_LINES_NONE);
	assert_int_equal(scratch.used_bytes, 0);
	/* /dev/shm is memory. */
	scratch.dir = "/dev/shm";
	assert_int_equal(read_by_scratch(dir, "packed.so", SOURCE_LINES_MIN_BYTES, &scratch, &l),
			 SOURCE_LINES_NONE);
	/* A section that does not hold what it says. */
	scratch = SCRATCH_INIT;
	assert_true(fixture_run(dir, "off=$(readelf -WS packed.so | awk '/ .debug_info /"
				     "{print \"0x\"$(NF-6)}') && head -c 64 /dev/zero | dd "
				     "of=packed.so bs=1 seek=$((off + 40)) conv=notrunc"));
	assert_int_equal(read_by_scratch(dir, "packed.so", SOURCE_LINES_MIN_BYTES, &scratch, &l),
			 SOURCE_LINES_NONE);
	assert_int_equal(scratch.used_bytes, 0);
	assert_null(l);
}

struct bad_row {
	const char *name;
	const char *make;
};

static struct bad_row bad_rows[] = {
	{ "empty", ": > bad" },
	{ "text", "echo text > bad" },
	{ "without debug information", "gcc -O2 -o bad p.c" },
	{ "an object file, not linked", "gcc -O2 -g -c -o bad p.c" },
	{ "cut behind the header", "gcc -O2 -g -o q p.c && head -c 100 q > bad" },
	{ "no abbreviations", "gcc -O2 -g -o q p.c && objcopy -R .debug_abbrev q bad" },
	{ "compressed, but not by its header",
	  "gcc -O2 -g -gz=zlib -o q p.c && printf abcdefghijklmnopqrstuvwxyz01 > s && "
	  "objcopy --update-section .debug_info=s q bad" },
	{ "another kind of .debug_info", "gcc -O2 -g -o q p.c && head -c 4096 /dev/zero > s && "
					 "objcopy --update-section .debug_info=s q bad" },
};

static void test_bad(void **state)
{
	const struct bad_row *row = *state;
	struct source_lines *l = NULL;
	struct fixture_dir dir;

	assert_true(fixture_dir_init(&dir) && fixture_write(&dir, "p.c", c_source));
	assert_true(fixture_run(&dir, row->make));
	int r = read_lines(&dir, "bad", MAX_BYTES, &l);
	fixture_dir_fini(&dir);
	assert_int_equal(r, SOURCE_LINES_NONE);
	assert_null(l);
}

/* A file that is cut short while it is in use gives less, not a signal. */
static void test_cut_while_in_use(void **state)
{
	const struct fixture_dir *dir = &shared_dir;
	_cleanup_(source_lines_freep) struct source_lines *l = NULL;
	struct source_frames frames;
	char path[FIXTURE_PATH_BYTES];
	struct arena strings;

	(void)state;
	assert_true(fixture_run(dir, "g++ -O2 -g -o cut p.cc"));
	assert_int_equal(read_lines(dir, "cut", MAX_BYTES, &l), 0);
	uint64_t main_vaddr = fixture_hex(dir, "nm cut | awk '$3 == \"main\" { print $1 }'");
	assert_int_equal(truncate(fixture_path(dir, "cut", path), 4096), 0);
	arena_init(&strings, STRINGS_BYTES);
	int r = source_lines_frames(l, main_vaddr, &strings, &frames);
	assert_true(r == 0 || r == SOURCE_LINES_NONE);
	arena_fini(&strings);
}

/* Any byte of the debug sections may be anything. */
static void test_damaged(void **state)
{
	const struct fixture_dir *dir = &shared_dir;
	_cleanup_free_ unsigned char *whole = NULL;
	uint64_t burn, random = 88172645463325252ULL;
	struct stat st;

	(void)state;
	assert_true(fixture_run(dir, "gcc -O2 -g -o f p.c"));
	burn = address_of_burn(dir, "f");
	int from = open_in(dir, "f");
	assert_int_equal(fstat(from, &st), 0);
	whole = malloc((size_t)st.st_size);
	assert_non_null(whole);
	assert_int_equal(pread(from, whole, (size_t)st.st_size, 0), st.st_size);
	(void)close(from);
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	assert_true(fd >= 0);
	for (int round = 0; round < 300; round++) {
		_cleanup_(source_lines_freep) struct source_lines *l = NULL;
		static struct source_frames frames;
		struct arena strings;

		assert_int_equal(pwrite(fd, whole, (size_t)st.st_size, 0), st.st_size);
		for (int i = 0; i < 20; i++) {
			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			/* Debug sections are the latter part of so small a file. */
			off_t at = 0x3000 + (off_t)(random % ((uint64_t)st.st_size - 0x3000));
			assert_int_equal(pwrite(fd, &random, 1, at), 1);
		}
		arena_init(&strings, STRINGS_BYTES);
		if (read_open(fd, MAX_BYTES, NULL, &l) == 0)
			for (uint64_t at = burn; at < burn + 64; at += 3)
				(void)source_lines_frames(l, at, &strings, &frames);
		arena_fini(&strings);
	}
	(void)close(fd);
}

static const struct unit_test tests[] = {
	TEST(test_frames),
	TEST(test_no_room_for_strings),
	TEST(test_many_units_in_little_memory),
	TEST(test_too_large),
	TEST(test_inflated_to_disk),
	TEST(test_cut_while_in_use),
	TEST(test_damaged),
	TEST_ROWS(test_build, build_rows, name),
	TEST_ROWS(test_bad, bad_rows, name),
};

TEST_MAIN_WITH(tests, setup, teardown)
