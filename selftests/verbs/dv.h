/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * terndv.h in tests: its library is loaded, as by a program that runs without
 * tern too, and a pair is made whose ends have options.
 */
#ifndef VERBS_DV_H
#define VERBS_DV_H

#include "pair.h"
#include "terndv.h"

/* the library's functions, by the version that they have in it */
extern struct dv_library {
	typeof(terndv_is_supported) *is_supported;
	typeof(terndv_query_device) *query_device;
	typeof(terndv_create_qp) *create_qp;
	typeof(terndv_modify_qp) *modify_qp;
	typeof(terndv_query_qp) *query_qp;
} dv;

bool dv_load(void);

/* settings of the device of "a" or "b", as the tool takes them */
void set_device(const char *host, const char *settings);
/* what settings.sh calls the defaults, at both */
void set_defaults(void);

/* a and b with their QPs, connected with options; NULL: none are set */
void dv_pair(const struct terndv_qp_init_attr *wa,
	     const struct terndv_qp_init_attr *wb);
/* the same up to the Request, which b's listener has seen and not answered */
void dv_request(const struct terndv_qp_init_attr *wa,
		const struct terndv_qp_init_attr *wb);
void dv_established(void);

/* after dv_pair(): what both ends know of it, which must be the same */
extern struct terndv_qp_attr qa, qb;
void dv_query(void);

/* a Send each way arrives */
void dv_traffic(void);

int new_port(void);

extern const struct tap_theme dv_wish_theme, dv_wire_theme, dv_abi_theme;

#endif /* VERBS_DV_H */
