/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of protobuf's JSON mapping: numbers or texts, within the range of their type. For proto_json_read(). */
#ifndef XAGENT_AGENT_STORE_CONNECT_PROTO_JSON_NUMBER_H
#define XAGENT_AGENT_STORE_CONNECT_PROTO_JSON_NUMBER_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

/* `bits`: of the type, its sign included. False: no such number. */
bool proto_json_signed(const json_t *v, unsigned int bits, int64_t *ret);

/* Any number but an enumeration's, stored as the type has it. */
bool proto_json_number(ProtobufCType type, const json_t *v, void *item);

#endif
