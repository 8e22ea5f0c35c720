/* SPDX-License-Identifier: Apache-2.0 */
/* A BPF program comes and another goes each second, and the one that is there runs for some milliseconds. usage: programs SECONDS */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_TURNS 4000
#define N_RUNS 4000

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* r1 = turns; do { r0 = 0; r1 -= 1 } while (r1 != 0); exit */
static int load_program(unsigned int number)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = N_TURNS },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_SUB | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .off = -3 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(*insns);
	attr.license = (unsigned long)"GPL";
	(void)snprintf(attr.prog_name, sizeof(attr.prog_name), "load_%u", number);
	return (int)bpf(BPF_PROG_LOAD, &attr);
}

static void run_program(int fd)
{
	static char packet[64];
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (unsigned int)fd;
	attr.test.data_in = (unsigned long)packet;
	attr.test.data_size_in = sizeof(packet);
	attr.test.repeat = N_RUNS;
	(void)bpf(BPF_PROG_TEST_RUN, &attr);
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 10;

	for (unsigned int i = 0; i < n; i++) {
		int fd = load_program(i);

		if (fd < 0)
			return 1;
		run_program(fd);
		(void)sleep(1);
		(void)close(fd);
	}
	return 0;
}
