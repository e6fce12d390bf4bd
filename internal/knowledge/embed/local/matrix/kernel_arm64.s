#include "go_asm.h"
#include "textflag.h"

// Instructions that Go's assembler does not know, by the numbers of their registers.
#define SDOT(d, n, m, i)   WORD $(0x4F80E000 | ((i&1)<<21) | ((i>>1)<<11) | (m<<16) | (n<<5) | d) // Vd.S4 += Vn.B16 · Vm.4B[i]
#define SMLAL(d, n, m, i)  WORD $(0x0F402000 | ((i>>2)<<11) | (((i>>1)&1)<<21) | ((i&1)<<20) | (m<<16) | (n<<5) | d) // Vd.S4 += Vn.H4 * Vm.H[i], m < 16
#define SMLAL2(d, n, m, i) WORD $(0x4F402000 | ((i>>2)<<11) | (((i>>1)&1)<<21) | ((i&1)<<20) | (m<<16) | (n<<5) | d) // the upper half of Vn
#define SXTL(d, n)         WORD $(0x0F08A400 | (n<<5) | d)           // Vd.H8 = Vn.B8
#define SXTL2(d, n)        WORD $(0x4F08A400 | (n<<5) | d)           // the upper half of Vn
#define SRSHR7(d, n)       WORD $(0x4F192400 | (n<<5) | d)           // Vd.H8 = (Vn.H8 + 64) >> 7
#define SCVTF(d, n)        WORD $(0x4E21D800 | (n<<5) | d)           // Vd.S4 = float32(Vn.S4)
#define FCVTNS(d, n)       WORD $(0x4E21A800 | (n<<5) | d)           // Vd.S4 = Vn.S4 rounded to even
#define SQXTN(d, n)        WORD $(0x0E614800 | (n<<5) | d)           // Vd.H4 = Vn.S4
#define SQXTN2(d, n)       WORD $(0x4E614800 | (n<<5) | d)           // the upper half of Vd
#define FMUL(d, n, m)      WORD $(0x6E20DC00 | (m<<16) | (n<<5) | d) // of S4, as all below
#define FADD(d, n, m)      WORD $(0x4E20D400 | (m<<16) | (n<<5) | d)
#define FMAX(d, n, m)      WORD $(0x4E20F400 | (m<<16) | (n<<5) | d)
#define FABS(d, n)         WORD $(0x4EA0F800 | (n<<5) | d)
#define FMAXV(d, n)        WORD $(0x6E30F800 | (n<<5) | d)           // into the lowest number of Vd

// A tile is computed in two halves of 3 rows, for which the registers suffice:
//   R1, R2, R3 the rows; R4 is their stride in bytes
//   R5         the right side
//   R6         numbers still to do
//   R7, R8     the first row's result, and the stride in bytes
//   R9         the scales of the rows
//   R10        halves still to do
//   V0-V11     sums: four registers (16 columns) for each of the rows
#define START_TILE                    \
	MOVD t+0(FP), R0;             \
	MOVD tile_rows(R0), R1;       \
	MOVD tile_rowStride(R0), R4;  \
	LSL  $1, R4, R4;              \
	MOVD tile_out(R0), R7;        \
	MOVD tile_outStride(R0), R8;  \
	LSL  $2, R8, R8;              \
	MOVD tile_rowScale(R0), R9;   \
	MOVD $2, R10

#define START_HALF                  \
	ADD  R4, R1, R2;            \
	ADD  R4, R2, R3;            \
	MOVD tile_depth(R0), R6;    \
	VEOR V0.B16, V0.B16, V0.B16;    \
	VEOR V1.B16, V1.B16, V1.B16;    \
	VEOR V2.B16, V2.B16, V2.B16;    \
	VEOR V3.B16, V3.B16, V3.B16;    \
	VEOR V4.B16, V4.B16, V4.B16;    \
	VEOR V5.B16, V5.B16, V5.B16;    \
	VEOR V6.B16, V6.B16, V6.B16;    \
	VEOR V7.B16, V7.B16, V7.B16;    \
	VEOR V8.B16, V8.B16, V8.B16;    \
	VEOR V9.B16, V9.B16, V9.B16;    \
	VEOR V10.B16, V10.B16, V10.B16; \
	VEOR V11.B16, V11.B16, V11.B16

// out = float32(sum) * row scale * column scale + bias
#define SCALE(sum, columnScale, bias) \
	SCVTF(sum, sum);             \
	FMUL(sum, sum, 12);          \
	FMUL(sum, sum, columnScale); \
	FADD(sum, sum, bias)

#define SCALE_ROW(s0, s1, s2, s3)     \
	VLD1R.P 4(R9), [V12.S4];      \
	SCALE(s0, 24, 28);            \
	SCALE(s1, 25, 29);            \
	SCALE(s2, 26, 30);            \
	SCALE(s3, 27, 31)

// It leaves R1, R7 and R9 at the next half.
#define STORE_HALF                                        \
	MOVD tile_rows(R0), R1;                           \
	ADD  R4, R1, R1;                                  \
	ADD  R4<<1, R1, R1;                               \
	MOVD tile_columnScale(R0), R11;                   \
	VLD1 (R11), [V24.S4, V25.S4, V26.S4, V27.S4];     \
	MOVD tile_bias(R0), R11;                          \
	VLD1 (R11), [V28.S4, V29.S4, V30.S4, V31.S4];     \
	SCALE_ROW(0, 1, 2, 3);                            \
	VST1 [V0.S4, V1.S4, V2.S4, V3.S4], (R7);          \
	ADD  R8, R7, R7;                                  \
	SCALE_ROW(4, 5, 6, 7);                            \
	VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R7);          \
	ADD  R8, R7, R7;                                  \
	SCALE_ROW(8, 9, 10, 11);                          \
	VST1 [V8.S4, V9.S4, V10.S4, V11.S4], (R7);        \
	ADD  R8, R7, R7

// A number v of a row is 128·high + low with high = (v + 64) >> 7: both fit in a byte and
// are multiplied apart. SPLIT gives the high bytes of the 8 numbers in V31, then the low ones.
#define SPLIT(halves)                           \
	SRSHR7(27, 31);                         \
	VSHL  $7, V27.H8, V28.H8;               \
	VSUB  V28.H8, V31.H8, V31.H8;           \
	VUZP1 V31.B16, V27.B16, halves.B16

// Four columns of four inputs, in Vw, times those inputs of the rows, in quarter high of
// V24, V25, V26 and, the lower bytes, in quarter low. V12-V23 are sums like V0-V11.
#define DOT_COLUMNS(w, c0, c1, c2, high, low)  \
	SDOT(c0, w, 24, high);                 \
	SDOT(c1, w, 25, high);                 \
	SDOT(c2, w, 26, high);                 \
	SDOT((c0+12), w, 24, low);             \
	SDOT((c1+12), w, 25, low);             \
	SDOT((c2+12), w, 26, low)

// Two pairs of inputs of 16 columns: interleaved, the four inputs of a column meet.
#define DOT_PAIRS(at, high, low)              \
	FMOVQ at(R5), F27;                    \
	FMOVQ (at+32)(R5), F28;               \
	VZIP1 V28.H8, V27.H8, V29.H8;         \
	VZIP2 V28.H8, V27.H8, V30.H8;         \
	DOT_COLUMNS(29, 0, 4, 8, high, low);  \
	DOT_COLUMNS(30, 1, 5, 9, high, low);  \
	FMOVQ (at+16)(R5), F27;               \
	FMOVQ (at+48)(R5), F28;               \
	VZIP1 V28.H8, V27.H8, V29.H8;         \
	VZIP2 V28.H8, V27.H8, V30.H8;         \
	DOT_COLUMNS(29, 2, 6, 10, high, low); \
	DOT_COLUMNS(30, 3, 7, 11, high, low)

#define JOIN(high, low)                 \
	VSHL $7, high.S4, high.S4;      \
	VADD low.S4, high.S4, high.S4

// func multiplyWeightsDot(t *tile)
TEXT ·multiplyWeightsDot(SB), NOSPLIT, $0-8
	START_TILE

half:
	START_HALF
	MOVD tile_weights(R0), R5
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16

eight:
	CMP     $8, R6
	BLT     four
	FMOVQ.P 16(R1), F31
	SPLIT(V24)
	FMOVQ.P 16(R2), F31
	SPLIT(V25)
	FMOVQ.P 16(R3), F31
	SPLIT(V26)
	DOT_PAIRS(0, 0, 2)
	DOT_PAIRS(64, 1, 3)
	ADD     $128, R5
	SUB     $8, R6
	B       eight

four:
	CBZ     R6, sums
	FMOVD.P 8(R1), F31
	SPLIT(V24)
	FMOVD.P 8(R2), F31
	SPLIT(V25)
	FMOVD.P 8(R3), F31
	SPLIT(V26)
	DOT_PAIRS(0, 0, 2)

sums:
	JOIN(V0, V12)
	JOIN(V1, V13)
	JOIN(V2, V14)
	JOIN(V3, V15)
	JOIN(V4, V16)
	JOIN(V5, V17)
	JOIN(V6, V18)
	JOIN(V7, V19)
	JOIN(V8, V20)
	JOIN(V9, V21)
	JOIN(V10, V22)
	JOIN(V11, V23)
	STORE_HALF
	SUB  $1, R10
	CBNZ R10, half
	RET

// One input of 16 columns, in the 16-bit numbers of Vv and Vw, times number i of the rows
// in V12, V13, V14.
#define MULTIPLY_INPUT(v, w, i)  \
	SMLAL(0, v, 12, i);      \
	SMLAL2(1, v, 12, i);     \
	SMLAL(2, w, 12, i);      \
	SMLAL2(3, w, 12, i);     \
	SMLAL(4, v, 13, i);      \
	SMLAL2(5, v, 13, i);     \
	SMLAL(6, w, 13, i);      \
	SMLAL2(7, w, 13, i);     \
	SMLAL(8, v, 14, i);      \
	SMLAL2(9, v, 14, i);     \
	SMLAL(10, w, 14, i);     \
	SMLAL2(11, w, 14, i)

#define LOAD_FOUR               \
	FMOVD.P 8(R1), F12;     \
	FMOVD.P 8(R2), F13;     \
	FMOVD.P 8(R3), F14

#define MULTIPLY_WEIGHTS(i)                    \
	VLD2.P 32(R5), [V16.B16, V17.B16];     \
	SXTL(18, 16);                          \
	SXTL2(19, 16);                         \
	SXTL(20, 17);                          \
	SXTL2(21, 17);                         \
	MULTIPLY_INPUT(18, 19, i);             \
	MULTIPLY_INPUT(20, 21, (i+1))

// func multiplyWeightsNEON(t *tile)
TEXT ·multiplyWeightsNEON(SB), NOSPLIT, $0-8
	START_TILE

half:
	START_HALF
	MOVD tile_weights(R0), R5

weights:
	LOAD_FOUR
	MULTIPLY_WEIGHTS(0)
	MULTIPLY_WEIGHTS(2)
	SUBS $4, R6
	BNE  weights
	STORE_HALF
	SUB  $1, R10
	CBNZ R10, half
	RET

#define MULTIPLY_COLUMNS(i)                    \
	VLD2.P 32(R5), [V16.H8, V17.H8];       \
	VLD2.P 32(R5), [V18.H8, V19.H8];       \
	MULTIPLY_INPUT(16, 18, i);             \
	MULTIPLY_INPUT(17, 19, (i+1))

// func multiplyColumnsNEON(t *tile)
TEXT ·multiplyColumnsNEON(SB), NOSPLIT, $0-8
	START_TILE

half:
	START_HALF
	MOVD tile_columns(R0), R5

columns:
	LOAD_FOUR
	MULTIPLY_COLUMNS(0)
	MULTIPLY_COLUMNS(2)
	SUBS $4, R6
	BNE  columns
	STORE_HALF
	SUB  $1, R10
	CBNZ R10, half
	RET

// func absMaxNEON(src []float32, floor float32) float32
TEXT ·absMaxNEON(SB), NOSPLIT, $0-36
	MOVD  src_base+0(FP), R0
	MOVD  src_len+8(FP), R1
	FMOVS floor+24(FP), F31
	VDUP  V31.S[0], V31.S4
	VEOR  V30.B16, V30.B16, V30.B16
	CBZ   R1, reduce

largest:
	VLD1.P 64(R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	FMAX(0, 0, 31)
	FMAX(1, 1, 31)
	FMAX(2, 2, 31)
	FMAX(3, 3, 31)
	FABS(0, 0)
	FABS(1, 1)
	FABS(2, 2)
	FABS(3, 3)
	FMAX(0, 0, 1)
	FMAX(2, 2, 3)
	FMAX(30, 30, 0)
	FMAX(30, 30, 2)
	SUBS   $16, R1
	BNE    largest

reduce:
	FMAXV(0, 30)
	FMOVS F0, ret+32(FP)
	RET

// func roundNEON(dst []int16, src []float32, floor, factor float32)
TEXT ·roundNEON(SB), NOSPLIT, $0-56
	MOVD  dst_base+0(FP), R2
	MOVD  src_base+24(FP), R0
	MOVD  src_len+32(FP), R1
	FMOVS floor+48(FP), F31
	VDUP  V31.S[0], V31.S4
	FMOVS factor+52(FP), F30
	VDUP  V30.S[0], V30.S4
	CBZ   R1, rounded

sixteen:
	VLD1.P 64(R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	FMAX(0, 0, 31)
	FMAX(1, 1, 31)
	FMAX(2, 2, 31)
	FMAX(3, 3, 31)
	FMUL(0, 0, 30)
	FMUL(1, 1, 30)
	FMUL(2, 2, 30)
	FMUL(3, 3, 30)
	FCVTNS(0, 0)
	FCVTNS(1, 1)
	FCVTNS(2, 2)
	FCVTNS(3, 3)
	SQXTN(4, 0)
	SQXTN2(4, 1)
	SQXTN(5, 2)
	SQXTN2(5, 3)
	VST1.P [V4.H8, V5.H8], 32(R2)
	SUBS   $16, R1
	BNE    sixteen

rounded:
	RET
