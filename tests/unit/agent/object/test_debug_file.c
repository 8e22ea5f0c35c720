/* SPDX-License-Identifier: Apache-2.0 */
/* Separate debug files: found by build id and by link below a root, and only such that belong to
 * the object. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/object/build_id.h"
#include "agent/object/debug_file.h"
#include "tests/support/unit.h"
#include "tests/unit/agent/object/fixture.h"

#define ID "0123456789abcdef0123456789abcdef01234567"
#define BY_ID "root/usr/lib/debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug"
#define BY_ID_DIR "root/usr/lib/debug/.build-id/01"

/*
 * root/opt/p has a build id and a link to p.debug; root/opt/q only the link; full.debug is what
 * both are for. other.debug has another build id and another sum.
 */
#define BUILD                                                                                    \
	"mkdir -p root/opt root/usr/lib/debug/opt " BY_ID_DIR " && "                             \
	"gcc -g -nostdlib -shared -Wl,--build-id=0x" ID " -o full p.c && "                       \
	"gcc -g -nostdlib -shared -Wl,--build-id=0x" ID "ff -o other p.c && "                    \
	"objcopy --only-keep-debug full p.debug && objcopy --only-keep-debug other other.debug " \
	"&& "                                                                                    \
	"objcopy --strip-debug --add-gnu-debuglink=p.debug full root/opt/p && "                  \
	"objcopy --remove-section=.note.gnu.build-id root/opt/p root/opt/q"

struct place_row {
	const char *name;
	const char *object;
	const char *prepare; /* shell, in the directory */
	bool is_found;
};

#define TO(place) "cp p.debug " place
/* Gives q a link of another name, with the right sum. */
#define LINK(name)                                                                \
	"objcopy --dump-section .gnu_debuglink=s root/opt/q t && { printf '" name \
	"'; tail -c 4 s; } > n && "                                               \
	"objcopy --remove-section=.gnu_debuglink t && "                           \
	"objcopy --add-section .gnu_debuglink=n t root/opt/q && "

static struct place_row place_rows[] = {
	{ "none", "p", "true", false },
	{ "by build id", "p", TO(BY_ID), true },
	{ "by build id, no link needed", "p", TO(BY_ID) " && objcopy -R .gnu_debuglink root/opt/p",
	  true },
	{ "by build id, of another one", "p", "cp other.debug " BY_ID, false },
	{ "by build id, no ELF file", "p", "echo text > " BY_ID, false },
	{ "by build id, empty", "p", ": > " BY_ID, false },
	{ "a wrong one, then the link", "p", "cp other.debug " BY_ID " && " TO("root/opt/p.debug"),
	  true },
	{ "beside", "q", TO("root/opt/p.debug"), true },
	{ ".debug", "q", "mkdir root/opt/.debug && " TO("root/opt/.debug/p.debug"), true },
	{ "/usr/lib/debug", "q", TO("root/usr/lib/debug/opt/p.debug"), true },
	{ "wrong sum", "q", "cp other.debug root/opt/p.debug", false },
	{ "one byte more", "q", TO("root/opt/p.debug") " && printf x >> root/opt/p.debug", false },
	{ "wrong sum, right one elsewhere", "q",
	  "cp other.debug root/opt/p.debug && " TO("root/usr/lib/debug/opt/p.debug"), true },
	{ "anybody may write it", "p", TO(BY_ID) " && chmod o+w " BY_ID, false },
	{ "beside, and anybody may write it", "q",
	  TO("root/opt/p.debug") " && chmod o+w root/opt/p.debug", false },
	{ "FIFO", "q", "mkfifo root/opt/p.debug", false },
	{ "FIFO by build id", "p", "mkfifo " BY_ID, false },
	{ "directory", "q", "mkdir root/opt/p.debug", false },
	{ "loop of links", "q", "ln -s p.debug root/opt/p.debug", false },
	{ "link inside", "q", TO("root/usr/there") " && ln -s /usr/there root/opt/p.debug", true },
	{ "link with too many ..", "q",
	  TO("root/there") " && ln -s ../../../../../../there root/opt/p.debug", true },
	{ "link out of the root", "q", TO("out.debug") " && ln -s $PWD/out.debug root/opt/p.debug",
	  false },
	{ "link out of the root by ..", "q",
	  TO("out.debug") " && ln -s ../../out.debug root/opt/p.debug", false },
	{ "link out of the root by build id", "p",
	  TO("out.debug") " && ln -s $PWD/out.debug " BY_ID, false },
	{ "link through /proc", "q",
	  TO("out.debug") " && mkdir root/proc && ln -s /proc/self/root root/proc/up && "
			  "ln -s /proc/up$PWD/out.debug root/opt/p.debug",
	  false },
	{ "itself", "q", "mv root/opt/q root/opt/p.debug && ln root/opt/p.debug root/opt/q",
	  false },
	{ "name that is whole", "q", LINK("p.debug\\0") TO("root/opt/p.debug"), true },
	{ "name with a slash", "q", LINK("../opt/p.debug\\0\\0") TO("root/opt/p.debug"), false },
	{ "link section without an end", "q",
	  "printf p.debug > n && "
	  "objcopy --remove-section=.gnu_debuglink --add-section .gnu_debuglink=n root/opt/q "
	  "&& " TO("root/opt/p.debug"),
	  false },
	{ "link section that is empty", "q",
	  ": > n && objcopy --remove-section=.gnu_debuglink root/opt/q && "
	  "objcopy --add-section .gnu_debuglink=n root/opt/q && " TO("root/opt/p.debug"),
	  false },
};

static bool build(struct fixture_dir *dir)
{
	return fixture_dir_init(dir) &&
	       fixture_write(dir, "p.c", "int f(int x) { return x + 1; }\n") &&
	       fixture_run(dir, BUILD);
}

static int open_root(const struct fixture_dir *dir)
{
	char path[FIXTURE_PATH_BYTES];

	return open(fixture_path(dir, "root", path), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void finds(void **state)
{
	const struct place_row *row = *state;
	struct fixture_dir dir;
	struct fixture_elf file;
	char name[32], path[FIXTURE_PATH_BYTES];
	struct stat st;
	int fd = -1;

	if (!build(&dir)) {
		print_message("no gcc, or no binutils\n");
		fixture_dir_fini(&dir);
		skip();
	}
	assert_true(fixture_run(&dir, row->prepare));
	(void)snprintf(name, sizeof(name), "root/opt/%s", row->object);
	assert_int_equal(fixture_elf_open(fixture_path(&dir, name, path), &file), 0);
	_cleanup_close_ int root_fd = open_root(&dir);
	assert_true(root_fd >= 0);
	int r = debug_file_open(file.elf, root_fd, name + strlen("root"), &fd);
	assert_int_equal(r, row->is_found ? 0 : DEBUG_FILE_NONE);
	assert_int_equal(fd >= 0, row->is_found);
	if (row->is_found) {
		assert_int_equal(fstat(fd, &st), 0);
		assert_true(S_ISREG(st.st_mode));
		assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		(void)close(fd);
	}
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
}

/* Paths of objects that are relative, or longer than any path, name no directory. */
static void odd_paths(void **state)
{
	struct fixture_dir dir;
	struct fixture_elf file;
	char path[FIXTURE_PATH_BYTES];
	char *long_path = malloc(10000);
	int fd = -1;

	(void)state;
	if (!build(&dir)) {
		print_message("no gcc, or no binutils\n");
		fixture_dir_fini(&dir);
		free(long_path);
		skip();
	}
	assert_non_null(long_path);
	memset(long_path, 'a', 10000);
	memcpy(long_path, "/opt/", 5);
	memcpy(long_path + 9997, "/q", 3);
	assert_true(fixture_run(&dir, TO("root/opt/p.debug")));
	assert_int_equal(fixture_elf_open(fixture_path(&dir, "root/opt/q", path), &file), 0);
	_cleanup_close_ int root_fd = open_root(&dir);
	assert_int_equal(debug_file_open(file.elf, root_fd, "opt/q", &fd), DEBUG_FILE_NONE);
	assert_int_equal(debug_file_open(file.elf, root_fd, "", &fd), DEBUG_FILE_NONE);
	assert_int_equal(debug_file_open(file.elf, root_fd, "[vdso]", &fd), DEBUG_FILE_NONE);
	assert_int_equal(debug_file_open(file.elf, root_fd, long_path, &fd), DEBUG_FILE_NONE);
	assert_int_equal(debug_file_open(file.elf, root_fd, "/opt/q", &fd), 0);
	(void)close(fd);
	fixture_elf_close(&file);
	fixture_dir_fini(&dir);
	free(long_path);
}

static const struct unit_test tests[] = {
	TEST_ROWS(finds, place_rows, name),
	TEST(odd_paths),
};

TEST_MAIN(tests)
