/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo of the Compose file: a shop that prices baskets and writes receipts, on about a quarter of a CPU. Its flame graph is known: four
 * fifths of main → serve_request are price_basket → apply_discounts, the rest is write_receipt → sort_lines.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define LINES 64
#define ROUNDS 800

static volatile uint64_t sink;

/* As cheap and as unpredictable as it has to be: xorshift. */
static uint64_t next_random(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

__attribute__((noinline)) static uint64_t apply_discounts(uint64_t price)
{
	for (int i = 0; i < 200; i++)
		price = next_random(price);
	return price;
}

__attribute__((noinline)) static void price_basket(uint64_t lines[LINES])
{
	for (int i = 0; i < LINES; i++)
		lines[i] = apply_discounts(lines[i] + 1);
	sink += lines[0];
}

__attribute__((noinline)) static void sort_lines(uint64_t lines[LINES])
{
	for (int i = 1; i < LINES; i++) {
		uint64_t line = lines[i];
		int j = i;

		for (; j > 0 && lines[j - 1] > line; j--)
			lines[j] = lines[j - 1];
		lines[j] = line;
	}
	sink += lines[0];
}

__attribute__((noinline)) static void write_receipt(uint64_t lines[LINES])
{
	uint64_t copy[LINES];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < LINES; i++)
			copy[i] = next_random(lines[i] + (uint64_t)round);
		sort_lines(copy);
	}
	sink += copy[0];
}

__attribute__((noinline)) static void serve_request(uint64_t lines[LINES])
{
	for (int round = 0; round < ROUNDS; round++) {
		price_basket(lines);
		write_receipt(lines);
	}
	sink += lines[0];
}

int main(void)
{
	static const struct timespec rest = { .tv_nsec = 70 * 1000 * 1000 };
	uint64_t lines[LINES];

	for (int i = 0; i < LINES; i++)
		lines[i] = (uint64_t)i;
	puts("the shop is open");
	(void)fflush(stdout);
	for (;;) {
		serve_request(lines);
		(void)nanosleep(&rest, NULL);
	}
}
