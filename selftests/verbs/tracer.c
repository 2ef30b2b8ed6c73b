// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Counting system calls of this process by ptrace() (tracer.h). */
#include "tracer.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_SYSCALL (SIGTRAP | 0x80)

static struct {
	_Atomic long calls;
	_Atomic int state;	/* 1: it traces, -1: it cannot */
} *shared;

long syscalls(void)
{
	return atomic_load(&shared->calls);
}

/*
 * Count a stop: each system call stops at its entry and its exit. Return: the signal to
 * deliver, or 0.
 */
static int at_stop(int status)
{
	static bool inside;

	if (WSTOPSIG(status) == AT_SYSCALL) {
		inside = !inside;
		if (inside)
			atomic_fetch_add(&shared->calls, 1);
		return 0;
	}
	/* the stop by PTRACE_INTERRUPT: tracing works */
	if (status >> 16 == PTRACE_EVENT_STOP) {
		atomic_store(&shared->state, 1);
		return 0;
	}
	return WSTOPSIG(status);
}

static void __attribute__((noreturn)) trace(pid_t pid)
{
	int status, sig;

	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		atomic_store(&shared->state, -1);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		sig = at_stop(status);
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sig);
	}
	_exit(0);
}

static pid_t tracer;

int tracer_start(void)
{
	pid_t me = getpid();

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return -1;
	tracer = fork();
	if (tracer < 0)
		return -1;
	if (!tracer)
		trace(me);
	while (!atomic_load(&shared->state))
		usleep(1000);
	return atomic_load(&shared->state) == 1 ? 0 : -1;
}

void tracer_stop(void)
{
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
}
