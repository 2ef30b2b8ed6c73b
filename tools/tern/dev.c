// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* tern show, tern set */
#include "dev.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "conn.h"
#include "out.h"
#include "talk.h"
#include "tern.h"

static const struct nla_policy policy[TERN_A_DEV_MAX + 1] = {
	[TERN_A_DEV_INDEX] = { .type = NLA_U32 },
	[TERN_A_DEV_NAME] = { .type = NLA_STRING, .maxlen = DEV_NAME_MAX },
	[TERN_A_DEV_IFINDEX] = { .type = NLA_U32 },
	[TERN_A_DEV_NETDEV] = { .type = NLA_STRING, .maxlen = IFNAMSIZ },
	[TERN_A_DEV_SETTINGS] = { .type = NLA_NESTED },
};

const char *dev_printable(const char *name, char buf[DEV_NAME_MAX])
{
	snprintf(buf, DEV_NAME_MAX, "%s", name);
	out_printable(buf);
	return buf;
}

bool dev_read(struct nlmsghdr *hdr, struct device *dev)
{
	struct nlattr *tb[TERN_A_DEV_MAX + 1];

	if (genlmsg_parse(hdr, 0, tb, TERN_A_DEV_MAX, policy) < 0)
		return false;
	if (!tb[TERN_A_DEV_INDEX] || !tb[TERN_A_DEV_NAME] || !tb[TERN_A_DEV_SETTINGS] ||
	    !tb[TERN_A_DEV_IFINDEX] != !tb[TERN_A_DEV_NETDEV])
		return false;
	dev->index = nla_get_u32(tb[TERN_A_DEV_INDEX]);
	nla_strlcpy(dev->name, tb[TERN_A_DEV_NAME], sizeof(dev->name));
	dev->ifindex = 0;
	dev->netdev[0] = '\0';
	if (tb[TERN_A_DEV_NETDEV]) {
		dev->ifindex = nla_get_u32(tb[TERN_A_DEV_IFINDEX]);
		nla_strlcpy(dev->netdev, tb[TERN_A_DEV_NETDEV], sizeof(dev->netdev));
		out_printable(dev->netdev);
	}
	settings_read(&dev->settings, tb[TERN_A_DEV_SETTINGS]);
	return true;
}

/* ---- for other commands ------------------------------------------------------------ */

/* a request that names a device, NULL after a message */
static struct nl_msg *about(const struct talk *t, int cmd, const char *name)
{
	struct nl_msg *msg = talk_new(t, cmd, NLM_F_ACK);

	if (!msg || nla_put_string(msg, TERN_A_DEV_NAME, name) >= 0)
		return msg;
	complain("the request is too long");
	nlmsg_free(msg);
	return NULL;
}

/* @arg: struct device */
static void keep(struct nlmsghdr *hdr, void *arg)
{
	dev_read(hdr, arg);
}

int dev_get(struct talk *t, const char *name, struct device *dev)
{
	struct nl_msg *msg = about(t, TERN_CMD_DEV_GET, name);
	int ret;

	if (!msg)
		return -ENOMEM;
	dev->name[0] = '\0';
	ret = talk_ask(t, msg, keep, dev);
	/* an answer that cannot be read is no device with the number 0 */
	return ret || dev->name[0] ? ret : -EPROTO;
}

/**
 * struct search - for a device by its netdev
 * @ifindex: of the netdev, which may have other names, too
 * @found: result
 * @is_there: there is one
 */
struct search {
	uint32_t ifindex;
	struct device *found;
	bool is_there;
};

static void match(struct nlmsghdr *hdr, void *arg)
{
	struct search *s = arg;
	struct device dev;

	if (s->is_there || !dev_read(hdr, &dev) || dev.ifindex != s->ifindex)
		return;
	*s->found = dev;
	s->is_there = true;
}

bool dev_on_netdev(struct talk *t, const char *netdev, struct device *dev)
{
	struct search s = { .ifindex = if_nametoindex(netdev), .found = dev };
	struct nl_msg *msg;

	if (!s.ifindex)
		return false;
	msg = talk_new(t, TERN_CMD_DEV_GET, NLM_F_DUMP);
	return msg && !talk_ask(t, msg, match, &s) && s.is_there;
}

/* the setting that the kernel refused by the answer in @t, 0 if it is none */
static int refused_setting(const struct talk *t, struct nl_msg *msg)
{
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	struct nlattr *nest, *attr;

	nest = nlmsg_find_attr(hdr, GENL_HDRLEN, TERN_A_DEV_SETTINGS);
	attr = (struct nlattr *)((char *)hdr + t->offset);
	if (!nest || attr <= nest || t->offset + sizeof(*attr) > hdr->nlmsg_len)
		return 0;
	return nla_type(attr);
}

static int ask_set(struct talk *t, const char *name, struct nl_msg *msg)
{
	int ret, attr;

	nlmsg_get(msg);
	ret = talk_ask(t, msg, NULL, NULL);
	attr = ret ? refused_setting(t, msg) : 0;
	if (setting_name(attr))
		complain("%s: %s: %s (it takes %s)", name, setting_name(attr), t->text,
			 setting_range(attr));
	else if (ret)
		talk_complain(t, name, ret);
	nlmsg_free(msg);
	return ret;
}

int dev_set(struct talk *t, const char *name, const struct settings *settings)
{
	struct nl_msg *msg = about(t, TERN_CMD_DEV_SET, name);

	if (!msg)
		return -ENOMEM;
	if (settings_put(msg, settings))
		return ask_set(t, name, msg);
	complain("the request is too long");
	nlmsg_free(msg);
	return -EMSGSIZE;
}

/* ---- tern show --------------------------------------------------------------------- */

/* @arg: NULL */
static void print_text(struct nlmsghdr *hdr, void *arg)
{
	char name[DEV_NAME_MAX];
	struct device dev;

	if (!dev_read(hdr, &dev))
		return;
	dev_printable(dev.name, name);
	if (*dev.netdev)
		printf("%s: netdev %s\n", name, dev.netdev);
	else
		printf("%s: netdev in another network namespace\n", name);
	settings_print(&dev.settings, stdout, "    ", 13, "");
}

/* @arg: array */
static void add_json(struct nlmsghdr *hdr, void *arg)
{
	struct json_object *o;
	struct device dev;

	if (!dev_read(hdr, &dev))
		return;
	o = json_object_new_object();
	json_object_object_add(o, "index", json_object_new_int64(dev.index));
	json_object_object_add(o, "name", json_object_new_string(dev.name));
	if (*dev.netdev) {
		json_object_object_add(o, "ifindex", json_object_new_int64(dev.ifindex));
		json_object_object_add(o, "netdev", json_object_new_string(dev.netdev));
	}
	json_object_object_add(o, "settings", settings_json(&dev.settings));
	json_object_array_add(arg, o);
}

static int show_devices(const struct options *opt, struct talk *t, const char *name)
{
	struct json_object *list = opt->json ? json_object_new_array() : NULL;
	struct nl_msg *msg;
	int ret;

	if (name)
		msg = about(t, TERN_CMD_DEV_GET, name);
	else
		msg = talk_new(t, TERN_CMD_DEV_GET, NLM_F_DUMP);
	if (!msg)
		return FAILED;
	ret = talk_ask(t, msg, list ? add_json : print_text, list);
	if (ret)
		talk_complain(t, name, ret);
	if (list && !ret)
		out_json(opt, list);
	return ret ? FAILED : DONE;
}

/* "c" to "connections" */
static bool means_connections(int argc, char **argv)
{
	return argc && argv[0][0] && !strncmp(argv[0], "connections", strlen(argv[0]));
}

int show(const struct options *opt, int argc, char **argv)
{
	bool connections = means_connections(argc, argv);
	const char *name;
	struct talk t;
	int ret;

	argc -= connections;
	argv += connections;
	name = take_device(&argc, &argv);
	if (argc)
		return wrong_usage("'%s' is one word too many", argv[0]);
	if ((opt->all || opt->info) && !connections)
		return wrong_usage("--all and --info are for tern show connections");
	if (talk_open_tern(&t))
		return FAILED;
	if (connections)
		ret = show_connections(opt, &t, name);
	else
		ret = show_devices(opt, &t, name);
	talk_close(&t);
	return ret;
}

/* ---- tern set ---------------------------------------------------------------------- */

int set(const struct options *opt, int argc, char **argv)
{
	const char *name = take_device(&argc, &argv);
	struct settings settings = {};
	char why[512];
	struct talk t;
	int i, ret;

	if (!argc)
		return wrong_usage("a device, and names and values of settings are needed");
	if (argc % 2)
		return wrong_usage("'%s' has no value", argv[argc - 1]);
	for (i = 0; i < argc; i += 2) {
		if (settings_parse(&settings, argv[i], argv[i + 1], why, sizeof(why)))
			continue;
		complain("%s", why);
		return USAGE;
	}
	if (talk_open_tern(&t))
		return FAILED;
	ret = dev_set(&t, name, &settings);
	talk_close(&t);
	return ret ? FAILED : DONE;
}
