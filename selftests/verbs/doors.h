/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tests of the program doors that are in other files than doors.c. */
#ifndef VERBS_DOORS_H
#define VERBS_DOORS_H

#include "pair.h"
#include "party.h"
#include "ucma_raw.h"

#define THIEF	65534	/* a user without privileges */

extern const struct tap_theme doors_net_theme;

#endif /* VERBS_DOORS_H */
