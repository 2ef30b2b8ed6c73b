/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * Events for iw_cm. Context: process, @cep->lock is held. iw_cm copies an event
 * and delivers it from its own work, so a handler may call back into tern.
 */
#ifndef TERN_EVENT_H
#define TERN_EVENT_H

struct iw_cm_id;
struct tern_cep;

/* Return: 0, or an error if iw_cm takes no more requests */
int tern_event_request(struct tern_cep *cep);

/* the request was answered or its connection ended */
void tern_event_forget(struct tern_cep *cep);

/* the endpoint of a request, with a reference; NULL once it is forgotten */
struct tern_cep *tern_event_find(const struct iw_cm_id *id);

void tern_event_reply(struct tern_cep *cep, int status);
void tern_event_established(struct tern_cep *cep, int status);
void tern_event_disconnect(struct tern_cep *cep);
void tern_event_close(struct tern_cep *cep);

#endif /* TERN_EVENT_H */
