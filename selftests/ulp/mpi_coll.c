// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * Collective operations over a range of sizes, each result checked element by
 * element:
 *
 *	mpi_coll [MOST [ROUNDS [SECONDS]]]
 *
 * MOST is the largest message in bytes (1 MiB), ROUNDS the repetitions of each size
 * (4), and all of it is repeated until SECONDS (0) are over. Rank 0 prints
 * `mpi_coll: N ranks, K bytes sent by the first` at the end, and the status is 0 if
 * every element was right. After a SIGUSR1 this rank sends wrong elements.
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"

static int rank, ranks;
static size_t sent;
/* added to the elements that this rank sends */
static volatile sig_atomic_t planted;

unsigned int test_failures;

void test_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "mpi_coll: rank %d: %s:%d: %s\n", rank, file, line, text);
}

void test_leave(void)
{
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	must(p, "no memory");
	return p;
}

/* another value for each rank, place and round; small enough to be summed */
static int value(int who, size_t at, int round)
{
	return (int)((who * 7919u + at * 31u + round * 131u) & 0xffff);
}

static void plant(int sig)
{
	planted = sig;
}

static void allreduce(size_t n, int round)
{
	int *mine = allocate(n, sizeof(*mine)), *sum = allocate(n, sizeof(*sum));

	for (size_t i = 0; i < n; i++)
		mine[i] = value(rank, i, round) + planted;
	MPI_Allreduce(mine, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (size_t i = 0; i < n; i++) {
		int want = 0;

		for (int r = 0; r < ranks; r++)
			want += value(r, i, round);
		must_eq(sum[i], want, "allreduce of %zu: [%zu]", n, i);
	}
	sent += n * sizeof(*mine);
	free(mine);
	free(sum);
}

/* send n elements to each rank, receive n from each */
static void alltoall(size_t n, int round)
{
	int *out = allocate(n * ranks, sizeof(*out)), *in = allocate(n * ranks, sizeof(*in));

	for (size_t i = 0; i < n * ranks; i++)
		out[i] = value(rank, i, round);
	MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < ranks; r++)
		for (size_t i = 0; i < n; i++)
			must_eq(in[r * n + i], value(r, rank * n + i, round),
				"alltoall of %zu: [%zu]", n, r * n + i);
	sent += n * (ranks - 1) * sizeof(*out);
	free(out);
	free(in);
}

/* from each rank in turn */
static void bcast(size_t n, int round)
{
	int root = round % ranks, *buf = allocate(n, sizeof(*buf));

	for (size_t i = 0; rank == root && i < n; i++)
		buf[i] = value(root, i, round);
	MPI_Bcast(buf, n, MPI_INT, root, MPI_COMM_WORLD);
	for (size_t i = 0; i < n; i++)
		must_eq(buf[i], value(root, i, round), "bcast of %zu: [%zu]", n, i);
	if (rank == root)
		sent += n * sizeof(*buf);
	free(buf);
}

static void gather(size_t n, int round)
{
	int root = round % ranks, *mine = allocate(n, sizeof(*mine));
	int *all = allocate(n * ranks, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		mine[i] = value(rank, i, round);
	MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, root, MPI_COMM_WORLD);
	for (size_t i = 0; rank == root && i < n * ranks; i++)
		must_eq(all[i], value(i / n, i % n, round), "gather of %zu: [%zu]", n,
			i);
	if (rank != root)
		sent += n * sizeof(*mine);
	free(mine);
	free(all);
}

static void all_sizes(size_t most, int rounds)
{
	for (size_t size = sizeof(int); size <= most; size *= 4) {
		for (int round = 0; round < rounds; round++) {
			allreduce(size / sizeof(int), round);
			alltoall(size / sizeof(int), round);
			bcast(size / sizeof(int), round);
			gather(size / sizeof(int), round);
		}
	}
}

/* as rank 0's clock says, for all ranks */
static bool is_over(double end)
{
	int over = MPI_Wtime() >= end;

	MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return over;
}

int main(int argc, char **argv)
{
	size_t most = argc > 1 ? strtoul(argv[1], NULL, 0) : 1 << 20;
	int rounds = argc > 2 ? atoi(argv[2]) : 4;
	int seconds = argc > 3 ? atoi(argv[3]) : 0;
	double end;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	signal(SIGUSR1, plant);
	end = MPI_Wtime() + seconds;
	do {
		all_sizes(most, rounds);
	} while (!is_over(end));
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("mpi_coll: %d ranks, %zu bytes sent by the first\n",
		       ranks, sent);
	MPI_Finalize();
	return 0;
}
