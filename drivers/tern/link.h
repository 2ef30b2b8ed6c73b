/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Add and delete devices (`rdma link`), and follow the netdev below each. */
#ifndef TERN_LINK_H
#define TERN_LINK_H

/* module init and exit: exit unregisters all devices and waits for them */
int tern_link_init(void);
void tern_link_exit(void);

#endif /* TERN_LINK_H */
