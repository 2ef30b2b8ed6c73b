/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * May the posts of a program ring later, once for many (TERN_RING_LAZY)? A backstop looks
 * at the queue from time to time, and sends for a program that has stopped; after some such
 * times each post rings again for a while.
 */
#ifndef TERN_CORE_LAZY_H
#define TERN_CORE_LAZY_H

#include "env.h"

/* bounds of the span between two looks, ns */
#define TERN_LAZY_SPAN_MIN	25000
#define TERN_LAZY_SPAN_MAX	500000

/**
 * struct tern_lazy - posts of a program that may ring later
 * @on: they may, by the last doorbell; else the rest has no meaning until the next one
 * @looks: looks since the engine took entries
 * @quiet: looks in a row that found few new posts
 * @strikes: how often the program left posts and stopped
 * @in_time: doorbells before the backstop, since then
 * @banned: doorbells until posts may ring later again
 * @turn: fastest turn from one doorbell of the program to the next, ns
 * @taken: index of the next entry that the engine takes
 * @looked_at: index of the next post at the last look
 *
 * Indices and times are modulo 2^32. A program can lie about what it posted, and so delays
 * or hastens its own posts: each rule here holds for any index.
 */
struct tern_lazy {
	bool on;
	u8 looks;
	u8 quiet;
	u8 strikes;
	u8 in_time;
	u16 banned;
	u32 turn;
	u32 taken;
	u32 looked_at;
};

/* at the start of a QP; @lazy is zeroed */
void tern_lazy_init(struct tern_lazy *lazy);

/**
 * tern_lazy_doorbell() - the program rang
 * @lazy: of its QP
 * @more: it says that it posts on
 * @in_time: it was asked to ring later, and rang before the backstop
 * @turn: ns since its last doorbell was served
 *
 * Return: @lazy->on, whether the posts after this one may ring later.
 */
bool tern_lazy_doorbell(struct tern_lazy *lazy, bool more, bool in_time, u32 turn);

/**
 * tern_lazy_idle() - the engine has taken all entries before @taken
 * @lazy: with @on
 * @taken: index
 *
 * Return: there were some: the span to the first look starts again.
 */
bool tern_lazy_idle(struct tern_lazy *lazy, u32 taken);

/* Return: ns from one look to the next */
u32 tern_lazy_span(const struct tern_lazy *lazy);

/**
 * tern_lazy_look() - the span is over: does the program post on?
 * @lazy: with @on
 * @posted: index of its next post
 *
 * Return: look again after another span; else send, and tell tern_lazy_stop().
 */
bool tern_lazy_look(struct tern_lazy *lazy, u32 posted);

/**
 * tern_lazy_stop() - posts ring again
 * @lazy: with @on
 * @left: the program left posts without a doorbell
 */
void tern_lazy_stop(struct tern_lazy *lazy, bool left);

#endif /* TERN_CORE_LAZY_H */
