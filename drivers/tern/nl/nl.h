/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The generic netlink family "tern": see tern.yaml. */
#ifndef TERN_NL_H
#define TERN_NL_H

int tern_nl_init(void);
void tern_nl_exit(void);

/* the part for connections: see nl_conn.c */
void tern_nl_conn_init(void);
void tern_nl_conn_exit(void);

#endif /* TERN_NL_H */
