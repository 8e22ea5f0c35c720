/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/temp_dir.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

#define MAX_OPEN 16

void temp_dir_make(char ret_path[static TEMP_DIR_BYTES])
{
	(void)strcpy(ret_path, "/tmp/xagent-test-XXXXXX");
	assert_non_null(mkdtemp(ret_path));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int temp_dir_remove(const char *path)
{
	return nftw(path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
