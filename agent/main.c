/* SPDX-License-Identifier: Apache-2.0 */
/* The program. Everything but this file is in archives, so that tests link what runs. */
#include "agent/cli/cli.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
