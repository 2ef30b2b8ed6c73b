/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * A program for the guest, which ends at once: at MARK_BEGIN, or with an argument at
 * MARK_END. Linked at MARK_TEXT.
 */
	.globl _start
_start:
	cmpl	$1, (%rsp)
	jg	end
	jmp	begin

	.org	0x100
begin:
	jmp	leave

	.org	0x200
end:
	jmp	leave

leave:
	movl	$60, %eax	/* exit(0) */
	xorl	%edi, %edi
	syscall
