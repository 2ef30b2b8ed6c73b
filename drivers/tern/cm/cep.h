/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Connection endpoint: one connection as iw_cm sees it, from the TCP connect or
 * accept to the last event. This is what other files see of it; the files of
 * the endpoint itself include cep_impl.h.
 */
#ifndef TERN_CEP_H
#define TERN_CEP_H

struct tern_device;

/**
 * tern_cep_abort_device() - abort all endpoints of a device (link deleted,
 * netdev or netns gone) and wait until none is left
 * @dev: device
 *
 * Context: process.
 */
void tern_cep_abort_device(struct tern_device *dev);

#endif /* TERN_CEP_H */
