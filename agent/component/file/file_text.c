/* SPDX-License-Identifier: Apache-2.0 */
/* Files that arguments name. */
#include "agent/component/file/file_text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "agent/util/file.h"

/* Go's errno texts are those of strerror, without capitals. */
static void put_errno(struct buf *why, int error)
{
	for (const char *c = strerrordesc_np(error); c && *c; c++)
		(void)buf_append_char(why, (char)tolower((unsigned char)*c));
}

int file_text_read(const char *path, struct buf *text, struct buf *why)
{
	int r = file_read(AT_FDCWD, path, text);

	if (r == 0)
		return 0;
	(void)buf_printf(why, "%s %s: ", r == -EISDIR ? "read" : "open", path);
	if (r == -EINVAL)
		(void)buf_append_str(why, "not a regular file");
	else if (r == -ENOBUFS)
		(void)buf_printf(why, "larger than %zu bytes", text->max_bytes);
	else
		put_errno(why, -r);
	return r;
}
