/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Processes of other users that a test talks to, a word at a time. */
#ifndef VERBS_PARTY_H
#define VERBS_PARTY_H

#include <stdbool.h>
#include <sys/types.h>

/* a process, and our end of the socket to it */
struct party {
	pid_t pid;
	int fd;
};

/* run @does as @uid in @netns; it ends when it returns, or with end() */
void start(struct party *p, const char *netns, uid_t uid, void (*does)(void));
void end(struct party *p);
void tell(struct party *p, int word);
/* its next word; the test ends if there is none */
int listen_to(struct party *p);
void send_fd(struct party *p, int fd);

/* in the party: a test's must() would end another process' test */
#define need(cond) do {							\
	if (!(cond))							\
		give_up(__func__, __LINE__, #cond);			\
} while (0)

void give_up(const char *func, int line, const char *what)
	__attribute__((noreturn));
void say(int word);
int hear(void);
int get_fd(void);

/* a TCP socket of the netns that we are in, or -1 */
int tcp_bound(const char *ip, int port, bool reuse);

#endif /* VERBS_PARTY_H */
