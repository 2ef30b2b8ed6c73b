/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Tests of the program access that are in other files than access.c. */
#ifndef VERBS_ACCESS_H
#define VERBS_ACCESS_H

#include "pair.h"
#include "party.h"
#include "ucma_raw.h"

/* users without privileges */
#define OWNER		65533
#define INTRUDER	65534

extern const struct tap_theme access_net_theme;

#endif /* VERBS_ACCESS_H */
