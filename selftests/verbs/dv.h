/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * terndv.h in tests: the library is loaded at run time, as by a program that also runs
 * without tern, and pairs are connected with options.
 */
#ifndef VERBS_DV_H
#define VERBS_DV_H

#include "pair.h"
#include "terndv.h"

/* the library's functions, looked up with their symbol version */
extern struct dv_library {
	typeof(terndv_is_supported) *is_supported;
	typeof(terndv_query_device) *query_device;
	typeof(terndv_create_qp) *create_qp;
	typeof(terndv_modify_qp) *modify_qp;
	typeof(terndv_query_qp) *query_qp;
} dv;

bool dv_load(void);

/* the defaults of settings.sh, at both */
void set_defaults(void);

/* a and b with their QPs, connected with options; NULL: none are set */
void dv_pair(const struct terndv_qp_init_attr *wa,
	     const struct terndv_qp_init_attr *wb);
/* the same up to b's connect request, which is not answered */
void dv_request(const struct terndv_qp_init_attr *wa,
		const struct terndv_qp_init_attr *wb);
void dv_established(void);

/* after dv_pair(): query both ends into qa and qb, and check that they agree */
extern struct terndv_qp_attr qa, qb;
void dv_query(void);

/* check that a Send in each direction arrives */
void dv_traffic(void);

extern const struct tap_theme dv_options_theme, dv_wire_theme, dv_abi_theme;

#endif /* VERBS_DV_H */
