/* SPDX-License-Identifier: Apache-2.0 */
/* The stubs that call rt_sigreturn. */
#include "agent/object/nocfi/nocfi_signal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/util/macro.h"

#define WINDOW_BYTES 65536
#define MAX_STUB_BYTES 9

/* mov $15, %rax; syscall */
static const uint8_t x86_long[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
/* mov $15, %eax; syscall */
static const uint8_t x86_short[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
/* mov x8, #139; svc #0 */
static const uint8_t arm64_stub[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

/* The kernel's frame behind the return address of the handler (struct rt_sigframe): x86-64 has
 * siginfo behind ucontext, so uc_mcontext begins at sp + 40; AArch64 siginfo first, so it begins at
 * sp + 304. */
#define X86_RSP_OFF 160
#define X86_RBP_OFF 120
#define ARM64_SP_OFF 560
#define ARM64_FP_OFF 544

static uint32_t match(const uint8_t *code, size_t n, const uint8_t *stub, size_t n_stub)
{
	return n >= n_stub && memcmp(code, stub, n_stub) == 0 ? (uint32_t)n_stub : 0;
}

uint32_t nocfi_signal_bytes(uint16_t machine, const uint8_t *code, size_t n)
{
	if (machine == EM_AARCH64)
		return match(code, n, arm64_stub, sizeof(arm64_stub));
	if (machine != EM_X86_64)
		return 0;
	uint32_t found = match(code, n, x86_long, sizeof(x86_long));
	return found ? found : match(code, n, x86_short, sizeof(x86_short));
}

/* What all stubs of a machine end in, for the search: memmem(3) is many times faster than a look at
 * every byte. */
static const uint8_t *find_end(uint16_t machine, const uint8_t *code, size_t n, size_t *ret_n_end)
{
	const uint8_t *end = machine == EM_AARCH64 ? arm64_stub : x86_short + 1;

	*ret_n_end = machine == EM_AARCH64 ? sizeof(arm64_stub) : sizeof(x86_short) - 1;
	return memmem(code, n, end, *ret_n_end);
}

/* How many bytes before its end the stub begins that has one at `at`, in text that begins at `code`;
 * -1: there is none. */
static int begin_before(uint16_t machine, const uint8_t *code, size_t at, size_t n)
{
	static const int distances[] = { 0, 1, 3 };

	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		size_t back = (size_t)distances[i];

		if (back <= at && nocfi_signal_bytes(machine, code + at - back, n - at + back))
			return distances[i];
	}
	return -1;
}

static size_t find_in_window(uint16_t machine, const uint8_t *code, size_t n, uint64_t vaddr,
			     struct nocfi_range *stubs, size_t n_stubs)
{
	const uint8_t *end;
	size_t n_end;

	for (size_t at = 0; n_stubs < NOCFI_SIGNAL_MAX &&
			    (end = find_end(machine, code + at, n - at, &n_end)) != NULL;
	     at = (size_t)(end - code) + n_end) {
		size_t found = (size_t)(end - code);
		int back = begin_before(machine, code, found, n);
		uint64_t begin = vaddr + found - (uint64_t)MAX_OF(back, 0);

		if (back < 0 || (machine == EM_AARCH64 && begin % 4 != 0) ||
		    (n_stubs > 0 && stubs[n_stubs - 1].end > begin))
			continue;
		stubs[n_stubs++] = (struct nocfi_range){ begin - 1, vaddr + found + n_end };
	}
	return n_stubs;
}

int nocfi_signal_find(struct elf *elf, const struct nocfi_ranges *gaps,
		      struct nocfi_range ret_nocfi[NOCFI_SIGNAL_MAX])
{
	_cleanup_free_ uint8_t *window = malloc(WINDOW_BYTES);
	uint64_t left = NOCFI_SIGNAL_MAX_BYTES;
	uint64_t file_off;
	size_t n = 0;

	if (!window)
		return -ENOMEM;
	for (size_t i = 0; i < gaps->n && left > 0; i++) {
		uint64_t at = gaps->items[i].begin;
		uint64_t end = gaps->items[i].end;

		while (at < end && left > 0 && elf_file_off(elf, at, &file_off)) {
			size_t want = (size_t)MIN_OF(end - at, (uint64_t)WINDOW_BYTES);
			ssize_t got = bytes_read_some(elf_bytes(elf), file_off, window, want);

			if (got <= 0)
				break;
			n = find_in_window(elf_machine(elf), window, (size_t)got, at, ret_nocfi, n);
			left -= MIN_OF(left, (uint64_t)got);
			if ((size_t)got < want || at + (uint64_t)got >= end)
				break;
			/* A stub may lie across the border. */
			at += (uint64_t)got - (MAX_STUB_BYTES - 1);
		}
	}
	return (int)n;
}

void nocfi_signal_rule(uint16_t machine, struct unwind_rule *ret_rule)
{
	bool is_arm64 = machine == EM_AARCH64;
	uint8_t sp = is_arm64 ? RULE_ARM64_SP : RULE_X86_RSP;

	*ret_rule = (struct unwind_rule){
		.cfa = RULE_CFA_DEREF,
		.cfa_reg = sp,
		.cfa_off = is_arm64 ? ARM64_SP_OFF : X86_RSP_OFF,
		.fp = RULE_FP_DEREF,
		.fp_reg = sp,
		.fp_off = is_arm64 ? ARM64_FP_OFF : X86_RBP_OFF,
		.ra = RULE_RA_SIGNAL,
	};
}
