/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The length of x86-64 instructions.
 *
 *	prefixes · (REX | VEX | EVEX | XOP) · opcode · ModRM · SIB · displacement · immediate
 *
 * The opcode tables have one letter an opcode, which tells what follows it.
 */
#include "agent/object/nocfi/nocfi_insn.h"

#include <string.h>

enum {
	PLAIN = '.', /* nothing */
	MODRM = 'm', /* ModRM */
	IMM8 = 'b',
	IMM_Z = 'z', /* 2 bytes with 0x66, else 4 */
	IMM16 = 'w',
	IMM_V = 'v',   /* as IMM_Z, 8 bytes with REX.W */
	MODRM8 = 'B',  /* ModRM, imm8 */
	MODRM_Z = 'Z', /* ModRM, IMM_Z */
	OFFSET = 'o',  /* an address */
	ENTER = 'e',   /* imm16, imm8 */
	REL8 = 'j',
	REL32 = 'J',	/* 4 bytes also with 0x66, as Intel's processors have it */
	GROUP3_8 = 'g', /* F6: ModRM; imm8 for TEST, which is /0 and /1 */
	GROUP3_Z = 'G', /* F7 */
	INVALID = 'x',
};

/* SDM volume 2, table A-2; prefixes and escapes never get here and are x. */
static const char one_byte[257] = "mmmmbzxxmmmmbzxx"
				  "mmmmbzxxmmmmbzxx"
				  "mmmmbzxxmmmmbzxx"
				  "mmmmbzxxmmmmbzxx"
				  "xxxxxxxxxxxxxxxx"
				  "................"
				  "xxxmxxxxzZbB...."
				  "jjjjjjjjjjjjjjjj"
				  "BZxBmmmmmmmmmmmm"
				  "..........x....."
				  "oooo....bz......"
				  "bbbbbbbbvvvvvvvv"
				  "BBw.xxBZe.w..bx."
				  "mmmmxxx.mmmmmmmm"
				  "jjjjbbbbJJxj...."
				  "x.xx..gG......mm";

/* Table A-3. */
static const char two_byte[257] = "mmmmx.....x.xm.B"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmxxxxmmmmmmmm"
				  "......x.xxxxxxxx"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "BBBBmmm.mmmmmmmm"
				  "JJJJJJJJJJJJJJJJ"
				  "mmmmmmmmmmmmmmmm"
				  "...mBmmm...mBmmm"
				  "mmmmmmmmmmBmmmmm"
				  "mmBmBBBm........"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm";

/* What is read at most: prefixes up to the limit, then EVEX, opcode, ModRM, SIB, displacement, and an immediate of 8 bytes. */
#define READ_MAX_BYTES 40

/* Decoding is most of the work on text without tables. So bytes are taken without asking whether they are there: READ_MAX_BYTES always
 * are, and the length is judged in the end. The functions are inline for their results to stay in registers: a structure that was just
 * written byte by byte cannot be copied before it has reached the cache. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct cursor {
	const uint8_t *code;
	size_t at;
};

ALWAYS_INLINE uint8_t take(struct cursor *c)
{
	return c->code[c->at++];
}

ALWAYS_INLINE int64_t take_s32(struct cursor *c)
{
	int32_t value;

	memcpy(&value, c->code + c->at, sizeof(value));
	c->at += sizeof(value);
	return value;
}

/* A signed little-endian number; 0 is taken from none. */
ALWAYS_INLINE int64_t take_signed(struct cursor *c, unsigned int n_bytes)
{
	int64_t value;

	switch (n_bytes) {
	case 0:
		return 0;
	case 1:
		return (int8_t)take(c);
	case 4:
		return take_s32(c);
	}
	memcpy(&value, c->code + c->at, sizeof(value));
	c->at += n_bytes;
	/* The bytes behind it are shifted out. */
	return (int64_t)((uint64_t)value << (64 - 8 * n_bytes)) >> (64 - 8 * n_bytes);
}

/* True: it was a prefix. */
ALWAYS_INLINE bool note_prefix(struct nocfi_insn *i, uint8_t byte)
{
	switch (byte) {
	case 0x26: /* segment registers, without a meaning but for fs and gs */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0xf0: /* LOCK */
		return true;
	case 0x64:
	case 0x65:
		i->has_segment = true;
		return true;
	case 0x66:
		i->has_operand_size = true;
		return true;
	case 0x67:
		i->has_address_size = true;
		return true;
	case 0xf2:
		i->has_repne = true;
		return true;
	case 0xf3:
		i->has_rep = true;
		return true;
	default:
		return false;
	}
}

/* Takes prefixes and REX, not more of them than fit; returns the first byte behind them. REX counts as the last one only. */
ALWAYS_INLINE uint8_t take_prefixes(struct cursor *c, struct nocfi_insn *i)
{
	uint8_t byte = take(c);

	while (c->at <= NOCFI_INSN_MAX_BYTES) {
		if ((byte & 0xf0) == 0x40)
			i->rex = byte;
		else if (one_byte[byte] == INVALID && note_prefix(i, byte))
			i->rex = 0;
		else
			break;
		byte = take(c);
	}
	return byte;
}

ALWAYS_INLINE void note_pp(struct nocfi_insn *i, unsigned int pp)
{
	i->has_operand_size = pp == 1;
	i->has_rep = pp == 2;
	i->has_repne = pp == 3;
}

ALWAYS_INLINE void note_vvvv(struct nocfi_insn *i, uint8_t byte)
{
	i->vvvv = (uint8_t)(~byte >> 3 & 15);
	note_pp(i, byte & 3u);
	i->is_vector_encoded = true;
}

/* C5: R vvvv L pp. */
ALWAYS_INLINE void take_vex2(struct cursor *c, struct nocfi_insn *i)
{
	uint8_t byte = take(c);

	i->rex = (uint8_t)(0x40 | (~byte >> 5 & 4));
	i->map = NOCFI_INSN_MAP_0F;
	note_vvvv(i, byte);
	i->opcode = take(c);
}

/* C4 and 8F: RXB map · W vvvv L pp. */
ALWAYS_INLINE bool take_vex3(struct cursor *c, struct nocfi_insn *i, bool is_xop)
{
	uint8_t first = take(c);
	uint8_t second = take(c);
	unsigned int map = first & 31u;
	if (is_xop ? map < 8 || map > 10 : map < 1 || map > 3)
		return false;
	i->rex = (uint8_t)(0x40 | (~first >> 5 & 7) | (second >> 4 & 8));
	i->map = is_xop ? NOCFI_INSN_MAP_XOP : (uint8_t)(NOCFI_INSN_MAP_1 + map);
	note_vvvv(i, second);
	i->opcode = take(c);
	return true;
}

/* 62: RXBR'0mmm · W vvvv 1 pp · z L'L b V' aaa. */
ALWAYS_INLINE bool take_evex(struct cursor *c, struct nocfi_insn *i)
{
	const uint8_t *p = c->code + c->at;
	unsigned int map = p[0] & 7u;
	if (map == 0 || map == 4 || map == 7 || !(p[1] & 4))
		return false;
	i->rex = (uint8_t)(0x40 | (~p[0] >> 5 & 7) | (p[1] >> 4 & 8));
	i->map = map > 3 ? NOCFI_INSN_MAP_EVEX : (uint8_t)(NOCFI_INSN_MAP_1 + map);
	note_vvvv(i, p[1]);
	c->at += 3;
	i->opcode = take(c);
	return true;
}

/* 0F, 0F 38, 0F 3A. */
ALWAYS_INLINE void take_escaped(struct cursor *c, struct nocfi_insn *i)
{
	i->map = NOCFI_INSN_MAP_0F;
	i->opcode = take(c);
	if (i->opcode != 0x38 && i->opcode != 0x3a)
		return;
	i->map = i->opcode == 0x38 ? NOCFI_INSN_MAP_0F38 : NOCFI_INSN_MAP_0F3A;
	i->opcode = take(c);
}

ALWAYS_INLINE bool take_opcode(struct cursor *c, struct nocfi_insn *i)
{
	uint8_t byte = take_prefixes(c, i);

	if (byte == 0x0f) {
		take_escaped(c, i);
		return true;
	}
	/* POP has /0 there, which no map of XOP has. */
	bool is_xop = byte == 0x8f && (c->code[c->at] & 31) >= 8;
	if (byte == 0xc4 || is_xop)
		return take_vex3(c, i, is_xop);
	if (byte == 0x62)
		return take_evex(c, i);
	if (byte == 0xc5) {
		take_vex2(c, i);
		return true;
	}
	i->map = NOCFI_INSN_MAP_1;
	i->opcode = byte;
	return true;
}

ALWAYS_INLINE char layout(const struct nocfi_insn *i, const struct cursor *c)
{
	switch ((enum nocfi_insn_map)i->map) {
	case NOCFI_INSN_MAP_1:
		return one_byte[i->opcode];
	case NOCFI_INSN_MAP_0F:
		return two_byte[i->opcode];
	case NOCFI_INSN_MAP_0F38:
	case NOCFI_INSN_MAP_EVEX:
		return MODRM;
	case NOCFI_INSN_MAP_0F3A:
		return MODRM8;
	case NOCFI_INSN_MAP_XOP:
		/* Map 8 has an imm8, map 9 none, map 10 an imm32. */
		switch (c->code[c->at - 3] & 31) {
		case 8:
			return MODRM8;
		case 9:
			return MODRM;
		default:
			return MODRM_Z;
		}
	}
	return INVALID;
}

ALWAYS_INLINE bool has_modrm(char layout)
{
	return layout == MODRM || layout == MODRM8 || layout == MODRM_Z || layout == GROUP3_8 ||
	       layout == GROUP3_Z;
}

/* MOV to and from control and debug registers takes mod for 3 whatever it is. */
ALWAYS_INLINE bool is_register_only(const struct nocfi_insn *i)
{
	return i->map == NOCFI_INSN_MAP_0F && !i->is_vector_encoded && i->opcode >= 0x20 &&
	       i->opcode <= 0x23;
}

ALWAYS_INLINE void take_memory(struct cursor *c, struct nocfi_insn *i)
{
	unsigned int mod = i->modrm >> 6;
	unsigned int rm = i->modrm & 7;

	i->has_memory = true;
	if (rm == 4) {
		i->sib = take(c);
		rm = i->sib & 7;
	}
	if (mod == 1)
		i->disp = (int8_t)take(c);
	else if (mod == 2 || rm == 5)
		i->disp = (int32_t)take_s32(c);
}

ALWAYS_INLINE void take_modrm(struct cursor *c, struct nocfi_insn *i)
{
	i->modrm = take(c);
	i->has_modrm = true;
	if (i->modrm >> 6 != 3 && !is_register_only(i))
		take_memory(c, i);
}

ALWAYS_INLINE unsigned int n_immediate(const struct nocfi_insn *i, char layout)
{
	bool wide = i->rex & 8;
	unsigned int z = i->has_operand_size && !wide && !i->is_vector_encoded ? 2 : 4;
	bool is_test = (i->modrm >> 3 & 7) < 2;

	switch (layout) {
	case IMM8:
	case MODRM8:
	case REL8:
		return 1;
	case GROUP3_8:
		return is_test ? 1 : 0;
	case IMM16:
		return 2;
	case ENTER:
		return 3;
	case IMM_Z:
	case MODRM_Z:
		return z;
	case GROUP3_Z:
		return is_test ? z : 0;
	case IMM_V:
		return wide ? 8 : z;
	case REL32:
		return 4;
	case OFFSET:
		return i->has_address_size ? 4 : 8;
	default:
		break;
	}
	/* SSE4a's EXTRQ and INSERTQ have two bytes. */
	if (i->map == NOCFI_INSN_MAP_0F && i->opcode == 0x78 && !i->is_vector_encoded &&
	    (i->has_operand_size || i->has_repne))
		return 2;
	return 0;
}

/* READ_MAX_BYTES can be read at `code`; n of them are the text's. */
ALWAYS_INLINE bool decode(const uint8_t *code, size_t n, struct nocfi_insn *ret_insn)
{
	struct cursor c = { code, 0 };
	struct nocfi_insn i = { 0 };

	if (!take_opcode(&c, &i))
		return false;
	char kind = layout(&i, &c);
	if (kind == INVALID)
		return false;
	if (has_modrm(kind))
		take_modrm(&c, &i);
	i.imm = take_signed(&c, n_immediate(&i, kind));
	if (kind == ENTER)
		i.imm &= 0xffff;
	if (c.at > n || c.at > NOCFI_INSN_MAX_BYTES)
		return false;
	i.n_bytes = (uint8_t)c.at;
	*ret_insn = i;
	return true;
}

static __attribute__((noinline)) bool decode_near_end(const uint8_t *code, size_t n,
						      struct nocfi_insn *ret_insn)
{
	uint8_t padded[READ_MAX_BYTES] = { 0 };

	memcpy(padded, code, n);
	return decode(padded, n, ret_insn);
}

bool nocfi_insn_decode(const uint8_t *code, size_t n, struct nocfi_insn *ret_insn)
{
	return n < READ_MAX_BYTES ? decode_near_end(code, n, ret_insn) : decode(code, n, ret_insn);
}

unsigned int nocfi_insn_base(const struct nocfi_insn *i)
{
	unsigned int mod = i->modrm >> 6;

	if (!i->has_memory)
		return NOCFI_INSN_NO_REG;
	if ((i->modrm & 7) == 4)
		return mod == 0 && (i->sib & 7) == 5 ? NOCFI_INSN_NO_REG
						     : (i->sib & 7u) | ((i->rex & 1u) << 3);
	return mod == 0 && (i->modrm & 7) == 5 ? NOCFI_INSN_RIP : nocfi_insn_rm(i);
}

unsigned int nocfi_insn_index(const struct nocfi_insn *i)
{
	unsigned int index = (i->sib >> 3 & 7u) | ((i->rex & 2u) << 2);

	if (!i->has_memory || (i->modrm & 7) != 4 || index == 4)
		return NOCFI_INSN_NO_REG;
	return index;
}
