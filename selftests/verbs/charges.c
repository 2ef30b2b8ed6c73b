// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Objects and memory of a device are charged to the program that created them: to its
 * RDMA cgroup and its memory cgroup.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"
#include "tern-abi.h"

#define ROOT	"/sys/fs/cgroup"
#define GROUP	ROOT "/tern-charges"

static bool put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* create a cgroup that has the controller's @file, or skip the test */
static void group_up(const char *controller, const char *file)
{
	if (put_text(ROOT "/cgroup.subtree_control", controller) &&
	    (!mkdir(GROUP, 0755) || errno == EEXIST) && !access(file, R_OK))
		return;
	rmdir(GROUP);
	skip("no cgroup controller '%s'", controller + 1);
}

/* Try again while processes of the cgroup are still exiting. */
static void group_down(void)
{
	int i;

	for (i = 0; i < 200 && rmdir(GROUP); i++)
		usleep(50000);
	expect(access(GROUP, F_OK));
}

static bool join_group(void)
{
	return put_text(GROUP "/cgroup.procs", "0");
}

/* the number after @key in a file, 0 if it is missing; an empty key: the first number */
static long long number(const char *path, const char *key)
{
	size_t len = strlen(key);
	FILE *f = fopen(path, "r");
	long long n = 0;
	char line[256];

	must(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, len) || (len && line[len] != ' '))
			continue;
		n = strtoll(line + len, NULL, 0);
		break;
	}
	fclose(f);
	return n;
}

static long long stat_of(const char *key)
{
	return number(GROUP "/memory.stat", key);
}

/* The kernel adds up memory.stat with a delay, so poll it. */
static bool stat_comes(const char *key, long long least, long long most)
{
	time_t end = time(NULL) + patience_ms() / 1000;
	long long n;

	do {
		n = stat_of(key);
		if (n >= least && n <= most)
			return true;
		usleep(100000);
	} while (time(NULL) < end);
	printf("#   %s is %lld, not %lld to %lld\n", key, n, least, most);
	return false;
}

/* ---- a child in the cgroup, run step by step -------------------------------------- */

struct child {
	pid_t pid;
	int to;
	int from;
};

static struct child start(void (*run)(int in, int out))
{
	int to[2], from[2];
	struct child c;

	must(!pipe(to) && !pipe(from));
	c.pid = fork();
	must(c.pid >= 0);
	if (!c.pid) {
		if (join_group())
			run(to[0], from[1]);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	c.to = to[1];
	c.from = from[0];
	return c;
}

static void step(int in, int out)
{
	char c = 0;

	if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
		_exit(2);
}

static bool stepped(const struct child *c)
{
	char got;

	return read(c->from, &got, 1) == 1;
}

static void go_on(const struct child *c)
{
	must(write(c->to, "", 1) == 1);
}

static void stop(const struct child *c)
{
	int status;

	kill(c->pid, SIGKILL);
	must(waitpid(c->pid, &status, 0) == c->pid);
	close(c->to);
	close(c->from);
}

/* ---- memory ------------------------------------------------------------------------- */

#define DEEP	32768
#define QPS	8

static void make_qps(int in, int out)
{
	struct ibv_context *ctx = ibv_open_device(a.id->verbs->device);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .cap = { DEEP, DEEP, 1, 1, 0 },
	};
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	int i;

	if (!pd)
		return;
	attr.send_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	step(in, out);
	for (i = 0; i < QPS; i++) {
		if (!ibv_create_qp(pd, &attr))
			return;
	}
	step(in, out);
}

/* the mapped rings, and the 20 bytes that the kernel keeps for each entry beside them */
static void deep_queues(void)
{
	const long long rings = DEEP * (sizeof(struct tern_sqe) +
					sizeof(struct tern_sge) + 64);
	const long long slots = DEEP * 20;
	struct child c;
	long long before;

	group_up("+memory", GROUP "/memory.current");
	solo_up(NULL);
	c = start(make_qps);
	must(stepped(&c));
	before = number(GROUP "/memory.current", "");
	go_on(&c);
	must(stepped(&c));
	expect(number(GROUP "/memory.current", "") - before >=
	       QPS * (rings + slots));
	stop(&c);
	group_down();
	pair_down();
}

#define PORT	19990
#define SILENT	128		/* connections that send nothing */
#define SLOW	4		/* streams that stop inside an FPDU */
#define PART	50000		/* bytes sent of that FPDU */

static void accept_slow(int in, int out)
{
	const struct want want = {};
	struct end listener, e;
	int i;

	if (enter_netns("b") || end_listen(&listener, IP_B, PORT))
		return;
	step(in, out);
	for (i = 0; i < SLOW; i++) {
		if (end_request(&listener, &e) || end_build(&e, &want) ||
		    end_accept(&e, &want))
			return;
	}
	step(in, out);
}

static int knock(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(PORT),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0 && inet_pton(AF_INET, IP_B, &to.sin_addr) == 1);
	must(!connect(fd, (struct sockaddr *)&to, sizeof(to)));
	return fd;
}

/* Send part of an FPDU: it stays in TCP's receive queue until it is whole. */
static int begin_stream(void)
{
	static const char request[20] = "MPA ID Req Frame\x40\x01";
	static char fpdu[PART] = { PART >> 8, PART & 0xff };
	char reply[20];
	int fd = knock();

	must(send(fd, request, sizeof(request), 0) == sizeof(request));
	must(recv(fd, reply, sizeof(reply), MSG_WAITALL) == sizeof(reply));
	must(send(fd, fpdu, sizeof(fpdu), 0) == sizeof(fpdu));
	return fd;
}

/* Memory that peers make the kernel use is charged to the listener's cgroup. */
static void accepted_sockets(void)
{
	const long long most = 1ll << 40;
	int fd[SILENT + SLOW], i;
	struct child c;

	group_up("+memory", GROUP "/memory.stat");
	c = start(accept_slow);
	must(stepped(&c));
	must(!enter_netns("a"));
	/* each connection takes an endpoint and a socket */
	for (i = 0; i < SILENT; i++)
		fd[i] = knock();
	expect(stat_comes("slab", SILENT * 4000, most));
	go_on(&c);
	for (; i < SILENT + SLOW; i++)
		fd[i] = begin_stream();
	must(stepped(&c));
	/* the receive buffers */
	expect(stat_comes("sock", SLOW * PART, most));
	for (i = 0; i < SILENT + SLOW; i++)
		close(fd[i]);
	stop(&c);
	expect(stat_comes("sock", 0, 0));
	group_down();
}

#define LISTENERS	500
#define FLUSH_S		5	/* the kernel has added up memory.stat then */

static void listen_often(int in, int out)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct rdma_cm_id *id;
	int i;

	if (!ch || enter_netns("b") || inet_pton(AF_INET, IP_B, &at.sin_addr) != 1)
		return;
	step(in, out);
	for (i = 0; i < LISTENERS; i++) {
		if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) ||
		    rdma_bind_addr(id, (struct sockaddr *)&at) || rdma_listen(id, 1))
			return;
	}
	step(in, out);
}

/*
 * rdma_cm makes a server with a lock that the requests of all programs take: a charge to a full
 * cgroup would keep them waiting.
 */
static void listeners(void)
{
	struct child c;
	long long before;

	group_up("+memory", GROUP "/memory.stat");
	c = start(listen_often);
	must(stepped(&c));
	sleep(FLUSH_S);
	before = stat_of("slab");
	go_on(&c);
	must(stepped(&c));
	sleep(FLUSH_S);
	/* a socket alone has 3000 bytes */
	printf("#   %lld bytes for a listener\n", (stat_of("slab") - before) / LISTENERS);
	expect(stat_of("slab") - before < LISTENERS * 1000);
	stop(&c);
	group_down();
}

/* ---- objects ------------------------------------------------------------------------ */

#define OBJECTS	12

static struct ibv_device *find(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (; list && *list; list++) {
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	}
	return NULL;
}

/* Allocate up to @n PDs; Return: how many, or -1 on an errno other than EAGAIN. */
static int fill_pds(struct ibv_context *ctx, struct ibv_pd **pds, int n)
{
	int i;

	errno = 0;
	for (i = 0; i < n; i++) {
		pds[i] = ibv_alloc_pd(ctx);
		if (!pds[i])
			return errno == EAGAIN ? i : -1;
	}
	return i;
}

/*
 * The core of 7.3 leaks a reference on the task when it denies a context, with any
 * driver: UVERBS_METHOD_GET_CONTEXT frees it without rdma_restrack_put(). kmemleak
 * reports that.
 */
static bool may_be_denied(void)
{
	const char *lane = getenv("TERN_LANE");

	return !lane || strcmp(lane, "uml-debug");
}

static void take_all(int in, int out)
{
	struct ibv_device *device = find("terncg");
	struct ibv_context *ctx = device ? ibv_open_device(device) : NULL;
	struct ibv_context *second = ctx ? ibv_open_device(device) : NULL;
	struct ibv_pd *pds[100];
	int n;

	/* two contexts are allowed, a third is not */
	if (!second || (may_be_denied() && (ibv_open_device(device) || errno != EAGAIN)))
		return;
	n = fill_pds(ctx, pds, 100);
	/* a context takes some objects for itself */
	if (n < 4 || n > OBJECTS)
		return;
	if (ibv_create_cq(ctx, 4, NULL, NULL, 0) || errno != EAGAIN)
		return;
	/* an object that is freed makes room for another */
	if (ibv_dealloc_pd(pds[0]) || !ibv_create_cq(ctx, 4, NULL, NULL, 0))
		return;
	step(in, out);
}

/*
 * Delete the device before the cgroup: when a cgroup is freed, Debian's 6.12 leaves its
 * limits on the device's list and later crashes in rdmacg_unregister_device(), with any
 * driver. (7.3 does not.)
 */
static void share_of_objects(void)
{
	struct ibv_context *ctx;
	struct ibv_pd *pds[40];
	struct child c;

	group_up("+rdma", GROUP "/rdma.max");
	must(!system("ip netns exec a rdma link add terncg type tern netdev lo"));
	must(put_text(GROUP "/rdma.max", "terncg hca_handle=2 hca_object=12"));
	c = start(take_all);
	expect(stepped(&c));
	/* processes outside the cgroup are not limited */
	ctx = ibv_open_device(find("terncg"));
	must(ctx);
	expect_eq(fill_pds(ctx, pds, 40), 40);
	stop(&c);
	must(!ibv_close_device(ctx));
	must(!system("rdma link del terncg"));
	group_down();
}

static const struct tap_test tests[] = {
	{ "memcg__charges_deep_rings_and_their_slots", deep_queues },
	{ "memcg__charges_accepted_sockets_to_the_listener", accepted_sockets, 60 },
	{ "memcg__does_not_charge_for_listening", listeners, 60 },
	{ "rdmacg__limits_objects_of_a_program", share_of_objects },
};

const struct tap_theme charge_theme = { tests, ARRAY_LEN(tests) };
