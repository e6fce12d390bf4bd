#include "go_asm.h"
#include "textflag.h"

// The kernels of kernel_amd64.s for processors with AVX-512 VNNI: a register holds all 16
// columns, and VPDPWSSD multiplies, adds the two products of a pair and adds them to the
// sum at once. The general registers are used as there.
//   Z0-Z5    sums of the 6 rows over the even pairs
//   Z6-Z11   sums of the 6 rows over the odd pairs, so that no addition waits for another
//   Z12, Z13 an even and an odd pair of numbers of each of the 16 columns

#define ADD_PRODUCTS(offset, pair, s0, s1, s2, s3, s4, s5) \
	VPDPWSSD.BCST offset(SI), pair, s0;                \
	VPDPWSSD.BCST offset(SI)(R8*1), pair, s1;          \
	VPDPWSSD.BCST offset(SI)(R8*2), pair, s2;          \
	VPDPWSSD.BCST offset(R9), pair, s3;                \
	VPDPWSSD.BCST offset(R9)(R8*1), pair, s4;          \
	VPDPWSSD.BCST offset(R9)(R8*2), pair, s5

#define ADD_PAIRS                                          \
	ADD_PRODUCTS(0, Z12, Z0, Z1, Z2, Z3, Z4, Z5);      \
	ADD_PRODUCTS(4, Z13, Z6, Z7, Z8, Z9, Z10, Z11);    \
	ADDQ $8, SI;                                       \
	ADDQ $8, R9

#define START_VNNI                    \
	MOVQ   t+0(FP), AX;           \
	MOVQ   tile_rows(AX), SI;     \
	MOVQ   tile_rowStride(AX), R8; \
	SHLQ   $1, R8;                \
	LEAQ   (SI)(R8*2), R9;        \
	ADDQ   R8, R9;                \
	MOVQ   tile_depth(AX), CX;    \
	SHRQ   $1, CX;                \
	VPXORD Z0, Z0, Z0;            \
	VPXORD Z1, Z1, Z1;            \
	VPXORD Z2, Z2, Z2;            \
	VPXORD Z3, Z3, Z3;            \
	VPXORD Z4, Z4, Z4;            \
	VPXORD Z5, Z5, Z5;            \
	VPXORD Z6, Z6, Z6;            \
	VPXORD Z7, Z7, Z7;            \
	VPXORD Z8, Z8, Z8;            \
	VPXORD Z9, Z9, Z9;            \
	VPXORD Z10, Z10, Z10;         \
	VPXORD Z11, Z11, Z11

// out = float32(sum) * row scale * column scale + bias
#define STORE_VNNI_ROW(row, even, odd)         \
	VPADDD      odd, even, even;           \
	VCVTDQ2PS   even, even;                \
	VMULPS.BCST (4*row)(DX), even, even;   \
	VMULPS      Z12, even, even;           \
	VADDPS      Z13, even, even;           \
	VMOVUPS     even, (DI);                \
	ADDQ        R11, DI

#define STORE_VNNI                         \
	MOVQ    tile_rowScale(AX), DX;     \
	MOVQ    tile_columnScale(AX), R12; \
	MOVQ    tile_bias(AX), R10;        \
	MOVQ    tile_out(AX), DI;          \
	MOVQ    tile_outStride(AX), R11;   \
	SHLQ    $2, R11;                   \
	VMOVUPS (R12), Z12;                \
	VMOVUPS (R10), Z13;                \
	STORE_VNNI_ROW(0, Z0, Z6);         \
	STORE_VNNI_ROW(1, Z1, Z7);         \
	STORE_VNNI_ROW(2, Z2, Z8);         \
	STORE_VNNI_ROW(3, Z3, Z9);         \
	STORE_VNNI_ROW(4, Z4, Z10);        \
	STORE_VNNI_ROW(5, Z5, Z11)

// func multiplyWeightsVNNI(t *tile)
TEXT ·multiplyWeightsVNNI(SB), NOSPLIT, $0-8
	START_VNNI
	MOVQ tile_weights(AX), BX

weights:
	VPMOVSXBW (BX), Z12
	VPMOVSXBW 32(BX), Z13
	ADD_PAIRS
	ADDQ      $64, BX
	SUBQ      $2, CX
	JNZ       weights
	STORE_VNNI
	VZEROUPPER
	RET

// func multiplyColumnsVNNI(t *tile)
TEXT ·multiplyColumnsVNNI(SB), NOSPLIT, $0-8
	START_VNNI
	MOVQ tile_columns(AX), BX

columns:
	VMOVDQU32 (BX), Z12
	VMOVDQU32 64(BX), Z13
	ADD_PAIRS
	ADDQ      $128, BX
	SUBQ      $2, CX
	JNZ       columns
	STORE_VNNI
	VZEROUPPER
	RET
