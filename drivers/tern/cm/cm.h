/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* The iw_cm operations of the device. */
#ifndef TERN_CM_H
#define TERN_CM_H

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

int tern_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int tern_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int tern_cm_reject(struct iw_cm_id *id, const void *pdata, u8 pdata_len);
int tern_cm_create_listen(struct iw_cm_id *id, int backlog);
int tern_cm_destroy_listen(struct iw_cm_id *id);

/* module init and exit: sockets, workqueue, netns exit */
int tern_cm_init(void);
void tern_cm_exit(void);

#endif /* TERN_CM_H */
