// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* TCP segments in packets of a packet socket. */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../conformance/conform.h"
#include "packet.h"
#include "tcp.h"

#define IP_HDR		20
#define PACKET_MAX	70000

static struct {
	int fd;
	int index;
	uint8_t mac[6];
	uint8_t other_mac[6];
	uint8_t own[4];
	uint8_t other[4];
} wire;

static uint32_t add(uint32_t sum, const uint8_t *p, size_t len)
{
	for (; len > 1; p += 2, len -= 2)
		sum += get16(p);
	return len ? sum + (*p << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void put_ip(uint8_t *ip, size_t len)
{
	memset(ip, 0, IP_HDR);
	ip[0] = 0x45;
	put16(ip + 2, IP_HDR + len);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = IPPROTO_TCP;
	memcpy(ip + 12, wire.own, 4);
	memcpy(ip + 16, wire.other, 4);
	put16(ip + 10, fold(add(0, ip, IP_HDR)));
}

void packet_send(const struct segment *s, uint16_t from, uint16_t to)
{
	uint8_t frame[ETHER_HDR_LEN + ETHER_MAX_LEN];
	uint8_t *ip = frame + ETHER_HDR_LEN, *tcp = ip + IP_HDR;
	size_t hdr = TCP_HDR + ((s->n_options + 3) & ~3u), len = hdr + s->len;

	memcpy(frame, wire.other_mac, 6);
	memcpy(frame + 6, wire.mac, 6);
	put16(frame + 12, ETHERTYPE_IP);
	put_ip(ip, len);
	memset(tcp, 0, hdr);
	put16(tcp, from);
	put16(tcp + 2, to);
	put32(tcp + 4, s->seq);
	put32(tcp + 8, s->ack);
	tcp[12] = hdr / 4 << 4;
	tcp[13] = s->flags;
	put16(tcp + 14, s->window);
	put16(tcp + 18, s->urgent);
	memcpy(tcp + TCP_HDR, s->options, s->n_options);
	if (s->len)
		memcpy(tcp + hdr, s->data, s->len);
	/* the pseudo header */
	put16(tcp + 16, fold(add(add(IPPROTO_TCP + len, ip + 12, 8), tcp, len)));
	if (send(wire.fd, frame, ETHER_HDR_LEN + IP_HDR + len, 0) < 0)
		say("send: %m");
}

static void parse_mac(const char *text, uint8_t mac[6])
{
	must(sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3,
		    mac + 4, mac + 5) == 6, "no address of a link: %s", text);
}

void packet_open(const struct place *place)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	struct ifreq req = { 0 };
	int room = 8 << 20;

	must(inet_pton(AF_INET, place->own, wire.own) == 1, "address %s", place->own);
	must(inet_pton(AF_INET, place->other, wire.other) == 1, "address %s", place->other);
	parse_mac(place->other_mac, wire.other_mac);
	wire.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP));
	must(wire.fd >= 0, "packet socket: %m");
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", place->netdev);
	must(!ioctl(wire.fd, SIOCGIFHWADDR, &req), "%s: %m", place->netdev);
	memcpy(wire.mac, req.ifr_hwaddr.sa_data, 6);
	at.sll_ifindex = if_nametoindex(place->netdev);
	must(!bind(wire.fd, (struct sockaddr *)&at, sizeof(at)), "bind: %m");
	setsockopt(wire.fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
}

const uint8_t *packet_next(uint64_t end, size_t *len)
{
	static uint8_t frame[PACKET_MAX];
	struct pollfd pfd = { .fd = wire.fd, .events = POLLIN };
	const uint8_t *ip = frame + ETHER_HDR_LEN;
	uint64_t now = now_ms();
	ssize_t n;
	size_t hdr;

	while (poll(&pfd, 1, end > now ? end - now : 0) == 1) {
		now = now_ms();
		n = recv(wire.fd, frame, sizeof(frame), 0);
		if (n < ETHER_HDR_LEN + IP_HDR + TCP_HDR || get16(frame + 12) != ETHERTYPE_IP ||
		    ip[9] != IPPROTO_TCP || memcmp(ip + 16, wire.own, 4))
			continue;
		hdr = (ip[0] & 15) * 4;
		if (get16(ip + 2) < hdr + TCP_HDR || get16(ip + 2) > n - ETHER_HDR_LEN)
			continue;
		*len = get16(ip + 2) - hdr;
		return ip + hdr;
	}
	return NULL;
}
