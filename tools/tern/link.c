// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* tern up, down, save, showconf, setconf: links that files describe */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "dev.h"
#include "module.h"
#include "rdma.h"
#include "talk.h"
#include "tern.h"

/* ---- up ------------------------------------------------------------------------------ */

/* Return: true if the module is why the kernel knows no links of type tern */
static bool explain_module(const struct conf *conf)
{
	struct talk t;
	int ret = talk_open(&t);

	if (!ret)
		talk_close(&t);
	if (ret != -ENOENT)
		return false;
	if (module_is_installed())
		complain("%s: the module tern does not load: modprobe tern and dmesg say why",
			 conf->name);
	else
		complain("%s: kernel %s has no module tern: install its headers, for DKMS",
			 conf->name, module_kernel());
	return true;
}

/* why the kernel did not add the link */
static void explain_add(const struct conf *conf, int error)
{
	struct device other;
	struct talk t;

	if (error == -EEXIST && !talk_open(&t)) {
		if (dev_on_netdev(&t, conf->netdev, &other))
			complain("%s: netdev %s has a link already: %s", conf->name,
				 conf->netdev, other.name);
		else
			complain("%s: an RDMA device of another type has this name", conf->name);
		talk_close(&t);
	} else if (error == -ENODEV) {
		complain("%s: there is no netdev %s", conf->name, conf->netdev);
	} else if (error != -EINVAL || !explain_module(conf)) {
		complain("%s: cannot add a link to netdev %s: %s", conf->name, conf->netdev,
			 strerror(-error));
	}
}

/* @added: the link is new, and is deleted again if this fails */
static int configure(struct talk *t, const struct conf *conf, const struct device *dev,
		     bool added)
{
	/* the file may have another name of the netdev */
	if (!dev->ifindex || dev->ifindex != if_nametoindex(conf->netdev))
		complain("%s: the link is on netdev %s, not on %s", conf->name,
			 *dev->netdev ? dev->netdev : "of another network namespace",
			 conf->netdev);
	else if (!settings_any(&conf->settings) || !dev_set(t, conf->name, &conf->settings))
		return DONE;
	if (added)
		rdma_link_delete(dev->index);
	return FAILED;
}

static int add(const struct conf *conf)
{
	struct device dev = {};
	struct talk t;
	int ret;

	ret = rdma_link_add(conf->name, conf->netdev);
	if (ret) {
		explain_add(conf, ret);
		return FAILED;
	}
	if (talk_open_tern(&t))
		return FAILED;
	ret = dev_get(&t, conf->name, &dev);
	if (ret)
		complain("%s: added, but not seen in this network namespace: see rdma-system(8)",
			 conf->name);
	ret = ret ? FAILED : configure(&t, conf, &dev, true);
	talk_close(&t);
	return ret;
}

static int up_one(const char *word, void *arg)
{
	struct device dev = {};
	struct conf conf;
	struct talk t;
	int ret;

	if (!conf_find(&conf, word) || !conf_read(&conf))
		return FAILED;
	ret = talk_open(&t);
	if (ret == -ENOENT)
		return add(&conf);
	if (ret)
		return FAILED;
	ret = dev_get(&t, conf.name, &dev);
	if (!ret)
		ret = configure(&t, &conf, &dev, false);
	else if (ret == -ENODEV)
		ret = add(&conf);
	else
		talk_complain(&t, conf.name, ret);
	talk_close(&t);
	return ret ? FAILED : DONE;
}

/* ---- down ---------------------------------------------------------------------------- */

/* a link that is not there is down, if a file says that it could be there */
static int is_down(const struct conf *conf)
{
	if (!access(conf->file, F_OK))
		return DONE;
	complain("%s: no tern device of this name, and no file %s", conf->name, conf->file);
	return FAILED;
}

static int down_one(const char *word, void *arg)
{
	struct device dev = {};
	struct conf conf;
	struct talk t;
	int ret;

	if (!conf_find(&conf, word))
		return FAILED;
	ret = talk_open(&t);
	if (ret == -ENOENT)
		return is_down(&conf);
	if (ret)
		return FAILED;
	ret = dev_get(&t, conf.name, &dev);
	if (ret == -ENODEV) {
		ret = is_down(&conf);
	} else {
		ret = ret ?: rdma_link_delete(dev.index);
		if (ret)
			talk_complain(&t, conf.name, ret);
	}
	talk_close(&t);
	return ret ? FAILED : DONE;
}

static int each(int (*fn)(const char *word, void *arg), const struct options *opt, int argc,
		char **argv)
{
	const char *name = take_device(&argc, &argv);

	if (argc || !!name == opt->all)
		return wrong_usage("the name of one link is needed, or --all");
	return opt->all ? conf_each(fn, NULL) : fn(name, NULL);
}

int up(const struct options *opt, int argc, char **argv)
{
	return each(up_one, opt, argc, argv);
}

int down(const struct options *opt, int argc, char **argv)
{
	return each(down_one, opt, argc, argv);
}

/* ---- files ---------------------------------------------------------------------------- */

/* @dev is filled: a link whose netdev is here; Return: exit status */
static int get(const char *name, struct device *dev)
{
	struct talk t;
	int ret;

	memset(dev, 0, sizeof(*dev));
	if (talk_open_tern(&t))
		return FAILED;
	ret = dev_get(&t, name, dev);
	if (ret)
		talk_complain(&t, name, ret);
	talk_close(&t);
	if (ret)
		return FAILED;
	if (!*dev->netdev)
		complain("%s: its netdev is in another network namespace", name);
	return *dev->netdev ? DONE : FAILED;
}

int save(const struct options *opt, int argc, char **argv)
{
	const char *name = take_device(&argc, &argv);
	struct device dev;

	if (argc || !name)
		return wrong_usage("the name of one link is needed");
	return get(name, &dev) == DONE && conf_save(&dev) ? DONE : FAILED;
}

int showconf(const struct options *opt, int argc, char **argv)
{
	const char *name = take_device(&argc, &argv);
	struct device dev;

	if (argc || !name)
		return wrong_usage("the name of one link is needed");
	if (get(name, &dev) != DONE)
		return FAILED;
	conf_print(stdout, &dev);
	return DONE;
}

int setconf(const struct options *opt, int argc, char **argv)
{
	const char *name = take_device(&argc, &argv);
	struct conf conf = {};
	struct device dev;
	struct talk t;
	int ret;

	if (argc != 1)
		return wrong_usage("the name of a link and a file are needed");
	snprintf(conf.file, sizeof(conf.file), "%s", argv[0]);
	snprintf(conf.name, sizeof(conf.name), "%s", name);
	if (!conf_read(&conf) || get(name, &dev) != DONE || talk_open_tern(&t))
		return FAILED;
	ret = configure(&t, &conf, &dev, false);
	talk_close(&t);
	return ret;
}
