// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * All connection endpoints. Each is in the list of all, for the end of its netns, and
 * in its device's, for the end of that, from its creation to its drop.
 */
#include "ceps.h"

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "device/device.h"
#include "cep.h"

static LIST_HEAD(all_ceps);
static DEFINE_SPINLOCK(all_lock);
static DECLARE_WAIT_QUEUE_HEAD(gone_wait);
static atomic_t next_nr;

/* numbers are unique over all devices; 0 means none */
int tern_ceps_add(struct tern_cep *cep)
{
	int rc;

	do {
		cep->nr = atomic_inc_return(&next_nr) ?:
			  atomic_inc_return(&next_nr);
		rc = xa_insert(&cep->dev->ceps, cep->nr, cep, GFP_KERNEL);
	} while (rc == -EBUSY);
	if (rc)
		return rc;
	spin_lock(&all_lock);
	list_add_tail(&cep->node.all, &all_ceps);
	spin_unlock(&all_lock);
	return 0;
}

void tern_ceps_remove(struct tern_cep *cep)
{
	xa_erase(&cep->dev->ceps, cep->nr);
	spin_lock(&all_lock);
	list_del(&cep->node.all);
	spin_unlock(&all_lock);
	wake_up_all(&gone_wait);
}

/* ---- aborts ------------------------------------------------------------- */

static void abort_now(struct tern_cep *cep)
{
	mutex_lock(&cep->lock);
	tern_cep_step(cep, CM_EV_ABORT);
	mutex_unlock(&cep->lock);
	tern_cep_put(cep);
}

static struct tern_cep *next_of_dev(struct tern_device *dev)
{
	struct tern_cep *cep, *found = NULL;
	unsigned long nr;

	xa_lock(&dev->ceps);
	xa_for_each(&dev->ceps, nr, cep) {
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
	struct tern_cep *cep, *found = NULL;

	spin_lock(&all_lock);
	list_for_each_entry(cep, &all_ceps, node.all) {
		if (cep->net == net && !cep->node.net_aborted) {
			cep->node.net_aborted = true;
			tern_cep_get(cep);
			found = cep;
			break;
		}
	}
	spin_unlock(&all_lock);
	return found;
}

static bool dev_is_free(struct tern_device *dev)
{
	return xa_empty(&dev->ceps);
}

static bool net_is_free(struct net *net)
{
	struct tern_cep *cep;
	bool is_free = true;

	spin_lock(&all_lock);
	list_for_each_entry(cep, &all_ceps, node.all)
		is_free &= cep->net != net;
	spin_unlock(&all_lock);
	return is_free;
}

/*
 * An endpoint with a stream goes after the stream's last event, and new ones
 * may appear until then: look again.
 */
void tern_cep_abort_device(struct tern_device *dev)
{
	struct tern_cep *cep;

	do {
		while ((cep = next_of_dev(dev)))
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
