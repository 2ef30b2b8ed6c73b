/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
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

/* run @does as @uid in @netns, in a process that ends with end() or with the test */
void start(struct party *p, const char *netns, uid_t uid, void (*does)(void));
void end(struct party *p);
void tell(struct party *p, int word);
/* the party's next word; the test fails if there is none */
int listen_to(struct party *p);
void send_fd(struct party *p, int fd);

/* must() for the party: it ends the party, not the test */
#define need(cond) do {							\
	if (!(cond))							\
		give_up(__func__, __LINE__, #cond);			\
} while (0)

void give_up(const char *func, int line, const char *what)
	__attribute__((noreturn));
void say(int word);
int hear(void);
int get_fd(void);

/* a bound TCP socket in the current netns, or -1 */
int tcp_bound(const char *ip, int port, bool reuse);

#endif /* VERBS_PARTY_H */
