/* SPDX-License-Identifier: Apache-2.0 */
/* What disks are called: by links as sysfs has them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/profile/io_devices.h"
#include "tests/support/unit.h"

static void put(const char *dir, const char *name, const char *target)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	(void)unlink(path);
	if (target)
		assert_int_equal(symlink(target, path), 0);
}

static void test_names(void **state)
{
	char dir[] = "/tmp/io_devices.XXXXXX";
	struct io_devices d = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	put(dir, "8:0", "../../devices/pci0000:00/block/sda");
	put(dir, "7:1", "loop1");
	put(dir, "9:0", "../../devices/a-name-that-is-longer-than-any-disk-has-one");
	put(dir, "9:1", "../../devices/\xff");
	assert_string_equal(io_devices_name(&d, dir, 8, 0), "sda");
	assert_string_equal(io_devices_name(&d, dir, 7, 1), "loop1");
	assert_string_equal(io_devices_name(&d, dir, 9, 0), "a-name-that-is-longer-than-any-");
	assert_string_equal(io_devices_name(&d, dir, 9, 1), "\xef\xbf\xbd");
	assert_string_equal(io_devices_name(&d, dir, 510, 1048575), "510:1048575");
	/* Not looked for again before it is asked for. */
	put(dir, "8:0", "../../devices/sdb");
	assert_string_equal(io_devices_name(&d, dir, 8, 0), "sda");
	io_devices_forget(&d);
	assert_string_equal(io_devices_name(&d, dir, 8, 0), "sdb");
	/* Two that have one place. */
	assert_string_equal(io_devices_name(&d, dir, 8, IO_DEVICES_MAX), "8:64");
	assert_string_equal(io_devices_name(&d, dir, 8, 0), "sdb");
	for (const char *const *n = (const char *const[]){ "8:0", "7:1", "9:0", "9:1", NULL }; *n;
	     n++)
		put(dir, *n, NULL);
	assert_int_equal(rmdir(dir), 0);
}

static const struct unit_test tests[] = {
	TEST(test_names),
};

TEST_MAIN(tests)
