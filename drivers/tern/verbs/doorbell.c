// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The doorbell: a file per context whose ioctl() wakes a QP, without the
 * parsing and locking of a uverbs command.
 *
 * Lifetime: the file may outlive its context (rdma link delete). The core
 * destroys the uverbs object first, which sets @uctx to NULL: no look-up of a
 * QP begins after that. One that runs at that moment needs the device, whose
 * memory the core keeps for a grace period after its last object; it finds no
 * QP then. @uctx is compared only, never dereferenced. An ioctl() in progress
 * holds a QP reference, which tern_destroy_qp() waits for, and QPs go before
 * context and device.
 */
#include "doorbell.h"

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <rdma/uverbs_types.h>
#include <rdma/uverbs_ioctl.h>

#include "device/device.h"
#include "stream/stream.h"
#include "stream/table.h"
#include "stream/tx_sched.h"
#include "uapi/rdma/tern-abi.h"
#include "dv.h"
#include "qp.h"
#include "ucontext.h"

#define UVERBS_MODULE_NAME tern
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct tern_doorbell - what an open doorbell file refers to
 * @uobj: the core's part
 * @dev: its device; see above
 * @uctx: the context whose QPs it wakes, NULL once that is gone
 */
struct tern_doorbell {
	struct ib_uobject uobj;
	struct tern_device *dev;
	struct tern_ucontext *uctx;
};

/* the stream of a QP of this context, with a reference */
static struct tern_stream *find_own_stream(struct tern_doorbell *db, u32 qpn)
{
	struct tern_ucontext *uctx;
	struct tern_stream *s;

	rcu_read_lock();
	/* pairs with the release in TERN_METHOD_DOORBELL_ALLOC */
	uctx = smp_load_acquire(&db->uctx);
	s = uctx ? tern_stream_find(&db->dev->streams, qpn) : ERR_PTR(-EIO);
	rcu_read_unlock();
	if (!s)
		return ERR_PTR(-ENOENT);
	if (!IS_ERR(s) && s->ctx != &uctx->ibctx) {
		tern_stream_put(s);
		return ERR_PTR(-ENOENT);
	}
	return s;
}

static long doorbell_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	struct tern_doorbell *db = container_of(file->private_data,
						struct tern_doorbell, uobj);
	struct tern_stream *s;

	if (cmd != TERN_IOC_DOORBELL || arg > U32_MAX)
		return -EINVAL;
	s = find_own_stream(db, arg & ~TERN_DOORBELL_MORE);
	if (IS_ERR(s))
		return PTR_ERR(s);
	rcu_read_lock();
	tern_stat_inc(READ_ONCE(s->stats), DOORBELL);
	rcu_read_unlock();
	tern_tx_doorbell(s, arg & TERN_DOORBELL_MORE);
	tern_stream_put(s);
	return 0;
}

/* .owner: rmmod is refused while a program holds a doorbell */
static const struct file_operations doorbell_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = doorbell_ioctl,
	.compat_ioctl = doorbell_ioctl,
	.release = uverbs_uobject_fd_release,
};

static void destroy_doorbell(struct ib_uobject *uobj,
			     enum rdma_remove_reason why)
{
	struct tern_doorbell *db = container_of(uobj, struct tern_doorbell,
						uobj);

	WRITE_ONCE(db->uctx, NULL);
}

static int UVERBS_HANDLER(TERN_METHOD_DOORBELL_ALLOC)
	(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
						TERN_ATTR_DOORBELL_ALLOC_FD);
	struct tern_doorbell *db = container_of(uobj, struct tern_doorbell,
						uobj);

	db->dev = to_tern_dev(uobj->context->device);
	/* the device before the context by which it is found */
	smp_store_release(&db->uctx, to_tern_uctx(uobj->context));
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(TERN_METHOD_DOORBELL_ALLOC,
			    UVERBS_ATTR_FD(TERN_ATTR_DOORBELL_ALLOC_FD,
					   TERN_OBJECT_DOORBELL,
					   UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(TERN_OBJECT_DOORBELL,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct tern_doorbell),
						 destroy_doorbell,
						 &doorbell_fops,
						 "[tern_doorbell]", O_RDWR),
			    &UVERBS_METHOD(TERN_METHOD_DOORBELL_ALLOC));

const struct uapi_definition tern_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(TERN_OBJECT_DOORBELL),
	UAPI_DEF_CHAIN(tern_dv_defs),
	{},
};
