// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* TCP segments in packets of a packet socket, over IPv4 or IPv6 as the addresses are. */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../conformance/conform.h"
#include "packet.h"
#include "tcp.h"

#define IP_HDR		20
#define IP6_HDR		40
#define PACKET_MAX	70000

static struct {
	int fd;
	uint8_t mac[6];
	uint8_t other_mac[6];
	bool six;
	size_t n_addr;		/* bytes of an address */
	uint8_t own[16];
	uint8_t other[16];
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

static void put_ip6(uint8_t *ip, size_t len)
{
	memset(ip, 0, IP6_HDR);
	ip[0] = 0x60;
	put16(ip + 4, len);
	ip[6] = IPPROTO_TCP;
	ip[7] = 64;
}

static void put_ip4(uint8_t *ip, size_t len)
{
	memset(ip, 0, IP_HDR);
	ip[0] = 0x45;
	put16(ip + 2, IP_HDR + len);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = IPPROTO_TCP;
}

/* Return: where TCP's header goes; the addresses, which end that of IP, are in its checksum */
static uint8_t *put_ip(uint8_t *ip, size_t len)
{
	uint8_t *tcp = ip + (wire.six ? IP6_HDR : IP_HDR);

	if (wire.six)
		put_ip6(ip, len);
	else
		put_ip4(ip, len);
	memcpy(tcp - 2 * wire.n_addr, wire.own, wire.n_addr);
	memcpy(tcp - wire.n_addr, wire.other, wire.n_addr);
	if (!wire.six)
		put16(ip + 10, fold(add(0, ip, IP_HDR)));
	return tcp;
}

void packet_send(const struct segment *s, uint16_t from, uint16_t to)
{
	static uint8_t frame[PACKET_MAX];
	size_t hdr = TCP_HDR + ((s->n_options + 3) & ~3u), len = hdr + s->len;
	uint8_t *tcp;

	must(ETHER_HDR_LEN + IP6_HDR + len <= sizeof(frame), "a segment of %zu bytes", len);
	memcpy(frame, wire.other_mac, 6);
	memcpy(frame + 6, wire.mac, 6);
	put16(frame + 12, wire.six ? ETHERTYPE_IPV6 : ETHERTYPE_IP);
	tcp = put_ip(frame + ETHER_HDR_LEN, len);
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
	put16(tcp + 16, fold(add(add(IPPROTO_TCP + len, tcp - 2 * wire.n_addr, 2 * wire.n_addr),
				 tcp, len)));
	if (send(wire.fd, frame, tcp + len - frame, 0) < 0)
		say("send: %m");
}

static void parse_mac(const char *text, uint8_t mac[6])
{
	must(sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3,
		    mac + 4, mac + 5) == 6, "no address of a link: %s", text);
}

static void parse_addresses(const struct place *place)
{
	int family = strchr(place->own, ':') ? AF_INET6 : AF_INET;

	wire.six = family == AF_INET6;
	wire.n_addr = wire.six ? 16 : 4;
	must(inet_pton(family, place->own, wire.own) == 1, "address %s", place->own);
	must(inet_pton(family, place->other, wire.other) == 1, "address %s", place->other);
}

void packet_open(const struct place *place)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	struct ifreq req = { 0 };
	int room = 8 << 20;

	parse_addresses(place);
	parse_mac(place->other_mac, wire.other_mac);
	at.sll_protocol = htons(wire.six ? ETH_P_IPV6 : ETH_P_IP);
	wire.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, at.sll_protocol);
	must(wire.fd >= 0, "packet socket: %m");
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", place->netdev);
	must(!ioctl(wire.fd, SIOCGIFHWADDR, &req), "%s: %m", place->netdev);
	memcpy(wire.mac, req.ifr_hwaddr.sa_data, 6);
	at.sll_ifindex = if_nametoindex(place->netdev);
	must(!bind(wire.fd, (struct sockaddr *)&at, sizeof(at)), "bind: %m");
	setsockopt(wire.fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
}

/* Return: the TCP header in @ip of @n bytes, if it is for us; @len bytes with its data */
static const uint8_t *for_us(const uint8_t *ip, size_t n, size_t *len)
{
	size_t hdr = wire.six ? IP6_HDR : (ip[0] & 15) * 4, all;

	if (n < hdr + TCP_HDR)
		return NULL;
	all = wire.six ? IP6_HDR + get16(ip + 4) : get16(ip + 2);
	if (ip[0] >> 4 != (wire.six ? 6 : 4) || ip[wire.six ? 6 : 9] != IPPROTO_TCP ||
	    memcmp(ip + (wire.six ? 24 : 16), wire.own, wire.n_addr) ||
	    all < hdr + TCP_HDR || all > n)
		return NULL;
	*len = all - hdr;
	return ip + hdr;
}

const uint8_t *packet_next(uint64_t end, size_t *len)
{
	static uint8_t frame[PACKET_MAX];
	struct pollfd pfd = { .fd = wire.fd, .events = POLLIN };
	const uint8_t *tcp = NULL;
	uint64_t now = now_ms();
	ssize_t n;

	while (!tcp && poll(&pfd, 1, end > now ? end - now : 0) == 1) {
		now = now_ms();
		n = recv(wire.fd, frame, sizeof(frame), 0);
		if (n > ETHER_HDR_LEN + IP_HDR)
			tcp = for_us(frame + ETHER_HDR_LEN, n - ETHER_HDR_LEN, len);
	}
	return tcp;
}
