/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/* Processes of other users, which a test controls by words over a socket. */
#ifndef VERBS_PARTY_H
#define VERBS_PARTY_H

#include <stdbool.h>
#include <sys/types.h>

/* a process, and our end of the socket to it */
struct party {
	pid_t pid;
	int fd;
};

/* run @does as @uid in @netns, in a process that ends with party_end() or with the test */
void party_start(struct party *p, const char *netns, uid_t uid, void (*does)(void));
void party_end(struct party *p);
void party_send(struct party *p, int word);
/* the party's next word; the test fails if there is none */
int party_receive(struct party *p);
/* pass a copy of @fd to the party */
void send_fd(struct party *p, int fd);

/* ---- in the party, where must() ends the party, not the test ---- */

/* the calls of the party: a word to the test, the next word from it, a descriptor */
void report(int word);
int next_word(void);
int receive_fd(void);

/* a bound TCP socket in the current netns, or -1 */
int tcp_bound(const char *ip, int port, bool reuse);

#endif /* VERBS_PARTY_H */
