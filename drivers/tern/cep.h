/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection endpoint: one connection as iw_cm sees it, from the TCP connect or
 * accept to the last event. This header is what the rest of the module sees of
 * it; cm.c and cep.c are its inside.
 */
#ifndef TERN_CEP_H
#define TERN_CEP_H

struct tern_device;

/**
 * tern_cep_abort_device() - abort all endpoints of a device (link delete,
 * netdev or netns gone) and wait until none is left
 *
 * Context: process.
 */
void tern_cep_abort_device(struct tern_device *dev);

#endif /* TERN_CEP_H */
