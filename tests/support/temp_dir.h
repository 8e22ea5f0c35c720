/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XAGENT_TESTS_SUPPORT_TEMP_DIR_H
#define XAGENT_TESTS_SUPPORT_TEMP_DIR_H

#define TEMP_DIR_BYTES 32

/* A new, empty directory below /tmp; a test that cannot make one fails. */
void temp_dir_make(char ret_path[static TEMP_DIR_BYTES]);
/* With all that is in it; links are not followed, and mounts stay. 0, or -1 with errno. */
int temp_dir_remove(const char *path);

#endif
