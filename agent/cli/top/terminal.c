/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal that is drawn on, by the sequences of ECMA-48 and xterm's other screen. */
#include "agent/cli/top/terminal.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/util/buf.h"
#include "agent/util/file.h"

#define DEFAULT_ROWS 24
#define DEFAULT_COLUMNS 80
/* More is no terminal, but a mistake. */
#define MAX_ROWS 500
#define MAX_COLUMNS 1000
#define DRAWN_MAX_BYTES ((size_t)1 << 20)

#define OTHER_SCREEN "\x1b[?1049h\x1b[?25l"
#define OWN_SCREEN "\x1b[?25h\x1b[?1049l"
#define HOME "\x1b[H"
#define ERASE_LINE "\x1b[K"
#define ERASE_BELOW "\x1b[J"

static int put(const struct terminal *t, const char *text)
{
	return file_write_fd(t->out_fd, text, strlen(text));
}

/* Keys come at once and unseen; ^C is a signal still, ^Z is nothing: what was drawn would stay. */
static int set_modes(struct terminal *t)
{
	struct termios modes;

	if (tcgetattr(t->in_fd, &t->before) < 0)
		return -errno;
	modes = t->before;
	modes.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	modes.c_cc[VSUSP] = _POSIX_VDISABLE;
	modes.c_cc[VMIN] = 0;
	modes.c_cc[VTIME] = 0;
	return tcsetattr(t->in_fd, TCSANOW, &modes) < 0 ? -errno : 0;
}

int terminal_open(struct terminal *t, int in_fd, int out_fd)
{
	*t = (struct terminal){ .in_fd = in_fd, .out_fd = out_fd };
	t->has_keys = isatty(in_fd) && set_modes(t) == 0;
	t->is_open = true;
	int r = put(t, OTHER_SCREEN);
	if (r < 0)
		terminal_close(t);
	return r;
}

void terminal_close(struct terminal *t)
{
	if (!t->is_open)
		return;
	(void)put(t, OWN_SCREEN);
	if (t->has_keys)
		(void)tcsetattr(t->in_fd, TCSANOW, &t->before);
	t->is_open = false;
}

static size_t within(unsigned short n, size_t otherwise, size_t max)
{
	return n < 1 ? otherwise : n > max ? max : n;
}

void terminal_size(const struct terminal *t, size_t *ret_rows, size_t *ret_columns)
{
	struct winsize w = { 0 };

	(void)ioctl(t->out_fd, TIOCGWINSZ, &w);
	*ret_rows = within(w.ws_row, DEFAULT_ROWS, MAX_ROWS);
	*ret_columns = within(w.ws_col, DEFAULT_COLUMNS, MAX_COLUMNS);
}

int terminal_draw(const struct terminal *t, const char *text)
{
	_cleanup_buf_ struct buf drawn = BUF_INIT(DRAWN_MAX_BYTES);

	(void)buf_append_str(&drawn, HOME);
	for (const char *c = text; *c; c++) {
		if (*c == '\n')
			(void)buf_append_str(&drawn, ERASE_LINE "\r");
		(void)buf_append_char(&drawn, *c);
	}
	(void)buf_append_str(&drawn, ERASE_LINE ERASE_BELOW);
	return file_write_fd(t->out_fd, drawn.data, drawn.len);
}
