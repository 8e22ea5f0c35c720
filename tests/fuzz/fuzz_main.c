/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays inputs through a fuzz target where libFuzzer is not linked: each argument is a file, or a
 * directory whose files are taken in the order of their names. Prints how many were run; none at
 * all is a failure, for it would prove nothing.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The input sits in a block of exactly its size, so that AddressSanitizer sees every read past it.
 */
static int replay_stream(FILE *f, size_t size)
{
	uint8_t *data = malloc(size);

	if (!data && size > 0)
		return -1;
	if (fread(data, 1, size, f) != size) {
		free(data);
		return -1;
	}
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int replay_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "rbe");
	int r;

	if (!f)
		return -1;
	r = replay_stream(f, size);
	(void)fclose(f);
	return r;
}

/* Files only, and no dot files: a corpus is flat. Returns how many ran, or -1. */
static int replay_directory(const char *path)
{
	struct dirent **entries;
	int n_entries = scandir(path, &entries, NULL, alphasort);
	int n = n_entries < 0 ? -1 : 0;

	for (int i = 0; i < n_entries; i++) {
		char file[4096];
		struct stat st;
		int len = snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);

		if (n >= 0 && entries[i]->d_name[0] != '.') {
			if (len >= (int)sizeof(file) || stat(file, &st) < 0)
				n = -1;
			else if (S_ISREG(st.st_mode))
				n = replay_file(file, (size_t)st.st_size) < 0 ? -1 : n + 1;
		}
		free(entries[i]);
	}
	if (n_entries >= 0)
		free(entries);
	return n;
}

static int replay(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return replay_directory(path);
	return replay_file(path, (size_t)st.st_size) < 0 ? -1 : 1;
}

int main(int argc, char **argv)
{
	int n_total = 0;

	for (int i = 1; i < argc; i++) {
		int n = replay(argv[i]);

		if (n < 0) {
			(void)fprintf(stderr, "%s: cannot replay %s\n", argv[0], argv[i]);
			return 1;
		}
		n_total += n;
	}
	(void)printf("%s: %d inputs\n", argv[0], n_total);
	return n_total > 0 ? 0 : 1;
}
