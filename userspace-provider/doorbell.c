// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The doorbell is a uverbs object with a file descriptor of its own. Ringing it is a
 * plain ioctl(), without the parsing of a uverbs command.
 */

#include <errno.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <infiniband/cmd_ioctl.h>

#include "doorbell.h"
#include "tern.h"

/* The kernel creates the descriptor with O_CLOEXEC, like all of uverbs. */
int tern_doorbell_open(struct tern_context *ctx)
{
	DECLARE_COMMAND_BUFFER(cmd, TERN_OBJECT_DOORBELL,
			       TERN_METHOD_DOORBELL_ALLOC, 1);
	struct ib_uverbs_attr *fd;
	int err;

	fd = fill_attr_out_fd(cmd, TERN_ATTR_DOORBELL_ALLOC_FD, 0);
	err = execute_ioctl(&ctx->vctx.context, cmd);
	if (err)
		return err;

	ctx->doorbell = read_attr_fd(TERN_ATTR_DOORBELL_ALLOC_FD, fd);
	return 0;
}

void tern_doorbell_close(struct tern_context *ctx)
{
	close(ctx->doorbell);
}

int tern_doorbell_ring(struct ibv_context *ctx, uint32_t qpn, bool more)
{
	unsigned long arg = qpn | (more ? TERN_DOORBELL_MORE : 0);
	int fd = to_tern_context(ctx)->doorbell;
	int ret;

	do {
		ret = ioctl(fd, TERN_IOC_DOORBELL, arg);
	} while (ret && errno == EINTR);
	return ret ? errno : 0;
}
