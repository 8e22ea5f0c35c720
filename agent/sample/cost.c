/* SPDX-License-Identifier: Apache-2.0 */
/* What programs and maps cost: bpf_prog_info, and the memlock line that the kernel prints in fdinfo. */
#include "agent/sample/cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "agent/util/file.h"
#include "agent/util/str.h"

static int fdinfo_memlock(int fd, uint64_t *ret_bytes)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	char path[64];
	struct str line;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	int r = file_read(AT_FDCWD, path, &b);
	if (r < 0)
		return r;
	for (struct str rest = { buf_str(&b), b.len }; str_split(&rest, '\n', &line);)
		if (str_starts_with(line, STR_LIT("memlock:")))
			return str_parse_u64(str_trim((struct str){ line.p + 8, line.n - 8 }), 10,
					     UINT64_MAX, ret_bytes);
	return -ENODATA;
}

int cost_add_program(int prog_fd, struct sampler_cost *cost)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	uint64_t bytes = 0;

	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len) < 0)
		return -errno;
	int r = fdinfo_memlock(prog_fd, &bytes);
	if (r < 0)
		return r;
	cost->run_time_ns += info.run_time_ns;
	cost->n_runs += info.run_cnt;
	cost->prog_bytes += bytes;
	return 0;
}

int cost_add_map(int map_fd, struct sampler_cost *cost)
{
	uint64_t bytes = 0;
	int r = fdinfo_memlock(map_fd, &bytes);

	if (r < 0)
		return r;
	cost->map_bytes += bytes;
	return 0;
}
