// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * All connection endpoints. From its creation to its drop each is in the list of its netns,
 * for the end of that, and among its device's, for the end of that one.
 */
#include "ceps.h"

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "device/device.h"
#include "cep.h"
#include "startup.h"

unsigned int tern_ceps_net_id;

/* guards the list of each netns */
static DEFINE_SPINLOCK(nets_lock);
static DECLARE_WAIT_QUEUE_HEAD(gone_wait);
static atomic_t next_nr;

static struct list_head *ceps_of(const struct net *net)
{
	struct tern_ceps_net *own = net_generic(net, tern_ceps_net_id);

	return &own->ceps;
}

int tern_ceps_net_init(struct net *net)
{
	INIT_LIST_HEAD(ceps_of(net));
	return 0;
}

/* numbers are unique over all devices; 0 means none */
int tern_ceps_add(struct tern_cep *cep)
{
	int rc;

	/* else a program that goes on connecting would keep the removal from its end */
	if (READ_ONCE(cep->dev->leaving))
		return -ENODEV;
	do {
		cep->nr = atomic_inc_return(&next_nr) ?:
			  atomic_inc_return(&next_nr);
		rc = xa_insert(&cep->dev->ceps, cep->nr, cep, GFP_KERNEL);
	} while (rc == -EBUSY);
	if (rc)
		return rc;
	spin_lock(&nets_lock);
	list_add(&cep->node.of_net, ceps_of(cep->net));
	spin_unlock(&nets_lock);
	return 0;
}

bool tern_ceps_has(const struct tern_cep *cep)
{
	lockdep_assert_held(&cep->lock);
	return xa_load(&cep->dev->ceps, cep->nr) == cep;
}

void tern_ceps_remove(struct tern_cep *cep)
{
	xa_erase(&cep->dev->ceps, cep->nr);
	spin_lock(&nets_lock);
	list_del(&cep->node.of_net);
	spin_unlock(&nets_lock);
	wake_up_all(&gone_wait);
}

/* ---- aborts ------------------------------------------------------------- */

static void abort_now(struct tern_cep *cep)
{
	mutex_lock(&cep->lock);
	/* the Reply comes before the end */
	if (READ_ONCE(cep->declined))
		tern_startup_look_on(cep);
	tern_cep_step(cep, CM_EV_ABORT);
	mutex_unlock(&cep->lock);
	tern_cep_put(cep);
}

/* from the number *@nr on, which becomes that of the found one */
static struct tern_cep *next_of_dev(struct tern_device *dev, unsigned long *nr)
{
	struct tern_cep *cep, *found = NULL;

	xa_lock(&dev->ceps);
	xa_for_each_start(&dev->ceps, *nr, cep, *nr) {
		if (!cep->node.dev_aborted) {
			cep->node.dev_aborted = true;
			tern_cep_get(cep);
			found = cep;
			break;
		}
	}
	xa_unlock(&dev->ceps);
	return found;
}

static struct tern_cep *next_of_net(struct net *net)
{
	struct list_head *ceps = ceps_of(net);
	struct tern_cep *cep;

	spin_lock(&nets_lock);
	cep = list_first_entry_or_null(ceps, struct tern_cep, node.of_net);
	if (cep && !cep->node.net_aborted) {
		cep->node.net_aborted = true;
		list_move_tail(&cep->node.of_net, ceps);
		tern_cep_get(cep);
	} else {
		cep = NULL;
	}
	spin_unlock(&nets_lock);
	return cep;
}

static bool dev_is_free(struct tern_device *dev)
{
	return xa_empty(&dev->ceps);
}

static bool net_is_free(struct net *net)
{
	bool is_free;

	spin_lock(&nets_lock);
	is_free = list_empty(ceps_of(net));
	spin_unlock(&nets_lock);
	return is_free;
}

void tern_ceps_let_in(struct tern_device *dev)
{
	WRITE_ONCE(dev->leaving, false);
}

/*
 * An endpoint with a stream goes after the stream's last event, and those that looked at
 * @leaving before may still be added: look again. The end of the device does so once more.
 */
void tern_cep_abort_device(struct tern_device *dev)
{
	struct tern_cep *cep;
	unsigned long nr;

	WRITE_ONCE(dev->leaving, true);
	do {
		nr = 0;
		while ((cep = next_of_dev(dev, &nr)))
			abort_now(cep);
	} while (!wait_event_timeout(gone_wait, dev_is_free(dev), HZ / 10));
}

void tern_cep_abort_net(struct net *net)
{
	struct tern_cep *cep;

	do {
		while ((cep = next_of_net(net)))
			abort_now(cep);
	} while (!wait_event_timeout(gone_wait, net_is_free(net), HZ / 10));
}
