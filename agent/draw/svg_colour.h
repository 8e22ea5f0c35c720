/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The colour of a function, as on the page: its hue tells what kind of code it is; names of one package or prefix are alike. The same for the
 * same name. Pure.
 */
#ifndef XAGENT_AGENT_DRAW_SVG_COLOUR_H
#define XAGENT_AGENT_DRAW_SVG_COLOUR_H

#include <stdint.h>

#include "agent/draw/flame_tree.h"

/* What is no function: all, and processes. */
#define SVG_COLOUR_ALL 0xdadee3
#define SVG_COLOUR_PROCESS 0xc9d0d9

/* 0xRRGGBB, light enough for dark text on it. */
uint32_t svg_colour(enum flame_kind kind, const char *function);

/* Of the kind as a whole, and what it is called. */
uint32_t svg_colour_of_kind(enum flame_kind kind);
const char *svg_colour_label(enum flame_kind kind);

#endif
