// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * What is deregistered, or ends with its device, waits for a grace period of RCU. What
 * a program costs others by a loop of these, and what it does not cost them.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

static long long counter_of(const char *device, const char *name)
{
	long long n = read_counter(device, name);

	must(n >= 0);
	return n;
}

static long long counter(const char *name)
{
	return counter_of(getenv("DEV_A"), name);
}

static long long interrupting(void)
{
	return counter("grace_expedited");
}

static long long all_periods(void)
{
	return interrupting() + counter("grace_waited");
}

/* ---- loops ------------------------------------------------------------------------ */

#define LOOPERS	16

static struct {
	int running;
	bool enough;
} *loops;			/* shared with them */

static int region(struct ibv_pd *pd)
{
	static char buf[64];
	struct ibv_mr *mr = ibv_reg_mr(pd, buf, sizeof(buf), ALL_RIGHTS);

	return mr ? ibv_dereg_mr(mr) : errno;
}

static int window(struct ibv_pd *pd)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);

	return mw ? ibv_dealloc_mw(mw) : errno;
}

/* Return: the errno of what fails first, or 0 */
static int loop_until_enough(struct ibv_device *device, int (*turn)(struct ibv_pd *pd))
{
	struct ibv_context *ctx = ibv_open_device(device);
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	int err = pd ? 0 : errno;

	__atomic_add_fetch(&loops->running, 1, __ATOMIC_RELAXED);
	while (!err && !__atomic_load_n(&loops->enough, __ATOMIC_RELAXED))
		err = turn(pd);
	return err;
}

static void share_loops(void)
{
	loops = mmap(NULL, sizeof(*loops), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(loops != MAP_FAILED);
}

/* programs that do nothing else, each a process of its own */
static void start_loops(pid_t *pids, int n, struct ibv_device *device,
			int (*turn)(struct ibv_pd *pd))
{
	int i;

	for (i = 0; i < n; i++) {
		pids[i] = fork();
		must(pids[i] >= 0);
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(loop_until_enough(device, turn));
		}
	}
	while (__atomic_load_n(&loops->running, __ATOMIC_RELAXED) < n)
		usleep(1000);
	loops->running = 0;
}

static void expect_ends(const pid_t *pids, int n, int err)
{
	int i, status;

	for (i = 0; i < n; i++) {
		must(waitpid(pids[i], &status, 0) == pids[i]);
		expect(WIFEXITED(status));
		expect_eq(WEXITSTATUS(status), err);
	}
}

/* ---- what they cost others ------------------------------------------------------- */

/* 1000 a second at most interrupt other CPUs, and there are two ends of a second */
static void grace_of_mrs(void)
{
	time_t start = time(NULL);
	long long fast, slow;
	pid_t pids[LOOPERS];

	solo_up(NULL);
	share_loops();
	fast = interrupting();
	slow = counter("grace_waited");
	start_loops(pids, LOOPERS, a.id->verbs->device, region);
	sleep(3);
	loops->enough = true;
	expect_ends(pids, LOOPERS, 0);
	fast = interrupting() - fast;
	slow = counter("grace_waited") - slow;
	printf("#   %lld expedited grace periods, %lld normal ones\n", fast, slow);
	expect(fast > 0);
	expect(fast <= 1000 * (time(NULL) - start + 2));
	pair_down();
}

/* nobody is waited for, so nobody is interrupted */
static void grace_of_others(void)
{
	struct ibv_context *ctx;
	long long before, waited;
	struct ibv_mw *mw;
	int i;

	solo_up(NULL);
	before = interrupting();
	waited = counter("grace_waited");
	for (i = 0; i < 300; i++) {
		mw = ibv_alloc_mw(a.pd, i & 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		must(mw && !ibv_dealloc_mw(mw));
	}
	for (i = 0; i < 20; i++) {
		ctx = ibv_open_device(a.id->verbs->device);
		must(ctx && !ibv_close_device(ctx));
	}
	expect_eq(interrupting() - before, 0);
	expect_eq(counter("grace_waited") - waited, 0);
	pair_down();
}

/* ---- the end of a program -------------------------------------------------------- */

#define HELD	200		/* MRs, and as many QPs */

static void hold(struct ibv_device *device)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	/* with its port the core binds the QP to a counter */
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_context *ctx = ibv_open_device(device);
	static char buf[64];
	struct ibv_qp *qp;
	struct ibv_pd *pd;
	int i;

	must(ctx);
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	must(pd && attr.send_cq);
	for (i = 0; i < HELD; i++) {
		must(ibv_reg_mr(pd, buf, sizeof(buf), ALL_RIGHTS));
		must(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
		qp = ibv_create_qp(pd, &attr);
		must(qp && !ibv_modify_qp(qp, &init, mask));
	}
}

/* Return: grace periods of a program that gets @signal; SIGCONT: it becomes another one */
static long long periods_of_an_end(int signal)
{
	long long before;
	int status;
	pid_t pid;

	pid = fork();
	must(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		hold(a.id->verbs->device);
		raise(SIGSTOP);
		execlp("true", "true", NULL);
		_exit(1);
	}
	must(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	before = all_periods();
	kill(pid, signal);
	must(waitpid(pid, &status, 0) == pid);
	expect(signal == SIGKILL ? WIFSIGNALED(status) : !status);
	/* for 10 ms the core shows the values that it has read before */
	usleep(50000);
	return all_periods() - before;
}

/* once for all its QPs, MRs and windows */
static void grace_of_a_program(void)
{
	solo_up(NULL);
	expect_eq(periods_of_an_end(SIGKILL), 1);
	pair_down();
}

/* its file is closed, and its rings are unmapped, by a process that lives on */
static void grace_of_an_exec(void)
{
	solo_up(NULL);
	expect_eq(periods_of_an_end(SIGCONT), 1);
	pair_down();
}

static void count_qps(const char *how)
{
	char command[96];

	snprintf(command, sizeof(command), "rdma statistic qp set link %s/1 auto %s",
		 getenv("DEV_A"), how);
	must(!system(command));
}

/* and once more for the counter that all its QPs are bound to */
static void grace_of_a_counter(void)
{
	solo_up(NULL);
	count_qps("type on");
	expect_eq(periods_of_an_end(SIGKILL), 2);
	count_qps("off");
	pair_down();
}

/* ---- the end of a device --------------------------------------------------------- */

static struct ibv_device *device_b(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	must(list);
	for (i = 0; list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), getenv("DEV_B")))
			break;
	}
	must(list[i]);
	return list[i];
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static long long waited_before;

static long long waited_at_b(void)
{
	return counter_of(getenv("DEV_B"), "grace_waited") - waited_before;
}

/* until they have to wait: not on a machine that is too slow for so many */
static bool reach_the_limit(void)
{
	long end = now_ms() + 4000;

	while (waited_at_b() < LOOPERS && now_ms() < end)
		usleep(10000);
	return waited_at_b() >= LOOPERS;
}

/* no grace period takes RCU's own time, and the program's objects do not take one each */
static void delete_link_of_a(void)
{
	long long waited = counter("grace_waited"), all = all_periods(), now;
	long long last_waited = waited, last = all;
	char command[64];
	pid_t pid = fork();
	int status;

	must(pid >= 0);
	if (!pid) {
		snprintf(command, sizeof(command), "rdma link delete %s", getenv("DEV_A"));
		_exit(!!system(command));
	}
	/* its objects go before its counters do */
	while ((now = read_counter(getenv("DEV_A"), "grace_waited")) >= 0) {
		last_waited = now;
		now = read_counter(getenv("DEV_A"), "grace_expedited");
		if (now >= 0)
			last = now + last_waited;
	}
	must(waitpid(pid, &status, 0) == pid && !status);
	expect_eq(last_waited - waited, 0);
	expect(last - all < HELD / 2);
}

static void add_link_of_a(void)
{
	char command[96];

	snprintf(command, sizeof(command),
		 "ip netns exec a rdma link add %s type tern netdev v0a", getenv("DEV_A"));
	must(!system(command));
}

/* while the budget is spent, and a program goes on that waits for none */
static void delete_under_loops(void)
{
	long start = now_ms();
	pid_t at_a;
	int i;

	for (i = 0; i < HELD; i++)
		must(ibv_reg_mr(a.pd, a.buf, 64, ALL_RIGHTS));
	start_loops(&at_a, 1, a.id->verbs->device, window);
	delete_link_of_a();
	printf("#   deleting the link took %ld ms\n", now_ms() - start);
	expect_ends(&at_a, 1, EIO);
}

/* the loops at b are slowed, and do not fail */
static void grace_of_a_link(void)
{
	pid_t at_b[LOOPERS];
	bool limited;

	if (is_checked())
		skip("the checked kernel never reaches the limit");
	solo_up(NULL);
	share_loops();
	waited_before = waited_at_b();
	start_loops(at_b, LOOPERS, device_b(), region);
	limited = reach_the_limit();
	if (limited)
		delete_under_loops();
	loops->enough = true;
	expect_ends(at_b, LOOPERS, 0);
	pair_down();
	if (!limited)
		skip("too few grace periods a second to come to the limit");
	add_link_of_a();
}

static const struct tap_test tests[] = {
	{ "dereg_mr__loops_interrupt_other_cpus_at_a_bounded_rate", grace_of_mrs },
	{ "dealloc_mw__and_close_interrupt_no_cpu", grace_of_others },
	{ "exit__waits_once_for_all_that_a_program_has", grace_of_a_program },
	{ "exec__waits_once_for_all_that_a_program_had", grace_of_an_exec },
	{ "exit__waits_once_more_for_a_counter_of_all_qps", grace_of_a_counter },
	{ "link_delete__is_not_delayed_by_dereg_loops", grace_of_a_link },
};

const struct tap_theme grace_theme = { tests, ARRAY_LEN(tests) };
