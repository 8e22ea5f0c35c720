/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal that is written over again and again. */
#include "agent/cli/profile/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/file.h"
#include "agent/util/str.h"

#define DEFAULT_COLUMNS 80
#define MAX_COLUMNS 500

#define ERASE_TO_END "\x1b[K"

bool progress_is_possible(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && (!term || strcmp(term, "dumb") != 0);
}

/* One less than there are: a full line would wrap. */
static size_t columns(int fd)
{
	struct winsize w;

	if (ioctl(fd, TIOCGWINSZ, &w) < 0 || w.ws_col < 2)
		return DEFAULT_COLUMNS - 1;
	return w.ws_col > MAX_COLUMNS ? MAX_COLUMNS : w.ws_col - 1u;
}

void progress_show(struct progress *p, const char *text)
{
	_cleanup_buf_ struct buf line = BUF_INIT(4096);
	char clean[MAX_COLUMNS + 1];

	/* Bytes, not columns: names beyond ASCII are cut early, which is better than late. */
	str_copy_utf8(clean, columns(p->fd) + 1, str_from(text));
	(void)buf_printf(&line, "\r%s" ERASE_TO_END "\r", clean);
	(void)file_write_fd(p->fd, line.data, line.len);
	p->shown = true;
}

void progress_clear(struct progress *p)
{
	if (!p->shown)
		return;
	(void)file_write_fd(p->fd, "\r" ERASE_TO_END, sizeof("\r" ERASE_TO_END) - 1);
	p->shown = false;
}
