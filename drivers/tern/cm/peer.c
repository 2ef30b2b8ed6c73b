// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Remember peers that took only a plain Request (Q3): RFC 6581 10. */
#include "peer.h"

#include <linux/jiffies.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#define PEERS		16
#define REMEMBER	(60 * HZ)

/**
 * struct peer - a peer that gets plain Requests
 * @net: cookie of its netns: cookies are never reused
 * @addr: its address and port
 * @until: when the entry expires
 */
struct peer {
	u64 net;
	struct sockaddr_storage addr;
	unsigned long until;
};

static struct peer peers[PEERS];
static u32 next_peer;
static DEFINE_SPINLOCK(peers_lock);

static struct peer *find_peer(const struct net *net,
			      const struct sockaddr_storage *addr)
{
	struct peer *p;

	lockdep_assert_held(&peers_lock);
	for (p = peers; p < peers + PEERS; p++)
		if (p->net == net->net_cookie && !memcmp(&p->addr, addr, sizeof(*addr)))
			return p;
	return NULL;
}

bool tern_peer_is_plain(const struct net *net,
			const struct sockaddr_storage *addr)
{
	struct peer *p;
	bool plain;

	spin_lock(&peers_lock);
	p = find_peer(net, addr);
	plain = p && time_before(jiffies, p->until);
	spin_unlock(&peers_lock);
	return plain;
}

void tern_peer_set_plain(const struct net *net,
			 const struct sockaddr_storage *addr)
{
	struct peer *p;

	spin_lock(&peers_lock);
	p = find_peer(net, addr);
	if (!p)
		p = &peers[next_peer++ % PEERS];
	p->net = net->net_cookie;
	p->addr = *addr;
	p->until = jiffies + REMEMBER;
	spin_unlock(&peers_lock);
}
