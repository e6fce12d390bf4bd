#include "go_asm.h"
#include "textflag.h"

// Registers of the two multiplying kernels:
//   SI, R9   rows 0 and 3 of the left side; R8 is their stride in bytes
//   BX       the right side
//   CX       pairs of numbers still to do
//   Y0-Y11   sums: two registers (16 columns) for each of the 6 rows
//   Y14, Y15 one pair of numbers of each of the 16 columns
// VPMADDWD multiplies the two numbers of a pair and adds the products, for 8 columns.

#define MULTIPLY_ROW(pair, low, high) \
	VPBROADCASTD pair, Y12;       \
	VPMADDWD     Y14, Y12, Y13;   \
	VPMADDWD     Y15, Y12, Y12;   \
	VPADDD       Y13, low, low;   \
	VPADDD       Y12, high, high

#define MULTIPLY_ROWS(offset)                     \
	MULTIPLY_ROW(offset(SI), Y0, Y1);         \
	MULTIPLY_ROW(offset(SI)(R8*1), Y2, Y3);   \
	MULTIPLY_ROW(offset(SI)(R8*2), Y4, Y5);   \
	MULTIPLY_ROW(offset(R9), Y6, Y7);         \
	MULTIPLY_ROW(offset(R9)(R8*1), Y8, Y9);   \
	MULTIPLY_ROW(offset(R9)(R8*2), Y10, Y11)

#define START                        \
	MOVQ  t+0(FP), AX;           \
	MOVQ  tile_rows(AX), SI;     \
	MOVQ  tile_rowStride(AX), R8; \
	SHLQ  $1, R8;                \
	LEAQ  (SI)(R8*2), R9;        \
	ADDQ  R8, R9;                \
	MOVQ  tile_depth(AX), CX;    \
	SHRQ  $1, CX;                \
	VPXOR Y0, Y0, Y0;            \
	VPXOR Y1, Y1, Y1;            \
	VPXOR Y2, Y2, Y2;            \
	VPXOR Y3, Y3, Y3;            \
	VPXOR Y4, Y4, Y4;            \
	VPXOR Y5, Y5, Y5;            \
	VPXOR Y6, Y6, Y6;            \
	VPXOR Y7, Y7, Y7;            \
	VPXOR Y8, Y8, Y8;            \
	VPXOR Y9, Y9, Y9;            \
	VPXOR Y10, Y10, Y10;         \
	VPXOR Y11, Y11, Y11

// out = float32(sum) * row scale * column scale + bias
#define STORE_ROW(row, low, high)            \
	VBROADCASTSS (4*row)(DX), Y12;       \
	VCVTDQ2PS    low, low;               \
	VCVTDQ2PS    high, high;             \
	VMULPS       Y12, low, low;          \
	VMULPS       Y12, high, high;        \
	VMULPS       Y14, low, low;          \
	VMULPS       Y15, high, high;        \
	VADDPS       (R10), low, low;        \
	VADDPS       32(R10), high, high;    \
	VMOVUPS      low, (DI);              \
	VMOVUPS      high, 32(DI);           \
	ADDQ         R11, DI

#define STORE                              \
	MOVQ    tile_rowScale(AX), DX;     \
	MOVQ    tile_columnScale(AX), R12; \
	MOVQ    tile_bias(AX), R10;        \
	MOVQ    tile_out(AX), DI;          \
	MOVQ    tile_outStride(AX), R11;   \
	SHLQ    $2, R11;                   \
	VMOVUPS (R12), Y14;                \
	VMOVUPS 32(R12), Y15;              \
	STORE_ROW(0, Y0, Y1);              \
	STORE_ROW(1, Y2, Y3);              \
	STORE_ROW(2, Y4, Y5);              \
	STORE_ROW(3, Y6, Y7);              \
	STORE_ROW(4, Y8, Y9);              \
	STORE_ROW(5, Y10, Y11)

// func multiplyWeightsAVX2(t *tile)
TEXT ·multiplyWeightsAVX2(SB), NOSPLIT, $0-8
	START
	MOVQ tile_weights(AX), BX

weights:
	VPMOVSXBW (BX), Y14
	VPMOVSXBW 16(BX), Y15
	MULTIPLY_ROWS(0)
	VPMOVSXBW 32(BX), Y14
	VPMOVSXBW 48(BX), Y15
	MULTIPLY_ROWS(4)
	ADDQ      $64, BX
	ADDQ      $8, SI
	ADDQ      $8, R9
	SUBQ      $2, CX
	JNZ       weights
	STORE
	VZEROUPPER
	RET

// func multiplyColumnsAVX2(t *tile)
TEXT ·multiplyColumnsAVX2(SB), NOSPLIT, $0-8
	START
	MOVQ tile_columns(AX), BX

columns:
	VMOVDQU (BX), Y14
	VMOVDQU 32(BX), Y15
	MULTIPLY_ROWS(0)
	VMOVDQU 64(BX), Y14
	VMOVDQU 96(BX), Y15
	MULTIPLY_ROWS(4)
	ADDQ    $128, BX
	ADDQ    $8, SI
	ADDQ    $8, R9
	SUBQ    $2, CX
	JNZ     columns
	STORE
	VZEROUPPER
	RET

// func absMaxAVX2(src []float32, floor float32) float32
TEXT ·absMaxAVX2(SB), NOSPLIT, $0-36
	MOVQ         src_base+0(FP), SI
	MOVQ         src_len+8(FP), CX
	VBROADCASTSS floor+24(FP), Y1
	VPXOR        Y0, Y0, Y0
	VPCMPEQD     Y2, Y2, Y2
	VPSRLD       $1, Y2, Y2       // everything but the sign
	TESTQ        CX, CX
	JZ           reduce

largest:
	VMAXPS (SI), Y1, Y3
	VANDPS Y2, Y3, Y3
	VMAXPS Y3, Y0, Y0
	ADDQ   $32, SI
	SUBQ   $8, CX
	JNZ    largest

reduce:
	VEXTRACTF128 $1, Y0, X1
	VMAXPS       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VMAXPS       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VMAXPS       X1, X0, X0
	VMOVSS       X0, ret+32(FP)
	VZEROUPPER
	RET

// func roundAVX2(dst []int16, src []float32, floor, factor float32)
TEXT ·roundAVX2(SB), NOSPLIT, $0-56
	MOVQ         dst_base+0(FP), DI
	MOVQ         src_base+24(FP), SI
	MOVQ         src_len+32(FP), CX
	VBROADCASTSS floor+48(FP), Y1
	VBROADCASTSS factor+52(FP), Y2
	TESTQ        CX, CX
	JZ           rounded

sixteen:
	VMAXPS    (SI), Y1, Y3
	VMAXPS    32(SI), Y1, Y4
	VMULPS    Y2, Y3, Y3
	VMULPS    Y2, Y4, Y4
	VCVTPS2DQ Y3, Y3
	VCVTPS2DQ Y4, Y4
	VPACKSSDW Y4, Y3, Y3      // the halves of both come out interleaved
	VPERMQ    $0xD8, Y3, Y3
	VMOVDQU   Y3, (DI)
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       sixteen

rounded:
	VZEROUPPER
	RET
