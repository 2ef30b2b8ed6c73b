/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Tests of the program hostile that are in other files than hostile.c. */
#ifndef VERBS_HOSTILE_H
#define VERBS_HOSTILE_H

#include "vandal.h"

/* the next number of a fixed series */
uint32_t draw(void);
void put_rdma(uint32_t index, uint8_t opcode, uint32_t flags);

void doorbell_lies(void);
void backstop_race(void);
void locals_without_end(void);
void reads_beside_locals(void);
void doorbell_without_end(void);
void flush_without_end(void);

void bind_good(void);
void bind_bad_fields(void);
void bind_race(void);

void events_of_nothing(void);
void events_by_armed_words(void);
void events_after_overflow(void);
void limits_of_nothing(void);
void error_states_again(void);

void atomic_good(void);
void atomic_bad_fields(void);
void atomic_bad_places(void);
void atomic_varied(void);
void atomic_spoilt(void);
void imm_good(void);
void imm_bad_fields(void);

#endif /* VERBS_HOSTILE_H */
