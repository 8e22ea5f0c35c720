/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of BPF iterators: reading one is what runs it. */
#include "agent/sample/iterator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "agent/util/cleanup.h"

int iterator_run(const struct bpf_link *link)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(link));
	char byte;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, &byte, sizeof(byte));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	return n < 0 ? -errno : 0;
}

int iterator_run_once(const struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int r = link ? iterator_run(link) : -errno;

	(void)bpf_link__destroy(link);
	return r;
}
