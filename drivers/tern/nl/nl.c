// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The generic netlink family "tern". Types and ranges are checked by the
 * policies that Documentation/netlink/tern.yaml generates (nl_gen.c).
 */
#include "nl.h"

#include <net/genetlink.h>
#include <net/netlink.h>

#include "core/mpa.h"
#include "device/device.h"
#include "device/devices.h"
#include "device/settings.h"
#include "nl_gen.h"

static_assert((int)TERN_MPA_RTR_WRITE == (int)TERN_RTR_TYPE_WRITE &&
	      (int)TERN_MPA_RTR_READ == (int)TERN_RTR_TYPE_READ &&
	      (int)TERN_MPA_RTR_SEND == (int)TERN_RTR_TYPE_SEND);
static_assert((int)TERN_MPA_NONPERMISSIVE == (int)TERN_RNIC_TYPE_NON_PERMISSIVE &&
	      (int)TERN_MPA_PERMISSIVE == (int)TERN_RNIC_TYPE_PERMISSIVE &&
	      (int)TERN_MPA_RDMAC == (int)TERN_RNIC_TYPE_RDMAC);
static_assert((int)TERN_EXTENSIONS_OFF == (int)TERN_EXTENSION_MODE_OFF &&
	      (int)TERN_EXTENSIONS_NEGOTIATE == (int)TERN_EXTENSION_MODE_NEGOTIATE &&
	      (int)TERN_EXTENSIONS_ASSUME_7306 == (int)TERN_EXTENSION_MODE_ASSUME_7306);
static_assert((int)TERN_FEATURE_7306 == (int)TERN_FEATURE_FLAG_7306 &&
	      (int)TERN_FEATURE_V2 == (int)TERN_FEATURE_FLAG_V2 &&
	      (int)TERN_FEATURE_LONG_FPDU == (int)TERN_FEATURE_FLAG_LONG_FPDU);
static_assert(TERN_OPTION_FPDU_MAX == TERN_MAX_FPDU);

/* ---- answers ------------------------------------------------------------------ */

static int put_rtr(struct sk_buff *skb, const struct tern_settings *s)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(s->mpa.rtr); i++) {
		if (s->mpa.rtr[i] == TERN_MPA_RTR_NONE)
			break;
		if (nla_put_u32(skb, TERN_A_SETTINGS_RTR, s->mpa.rtr[i]))
			return -EMSGSIZE;
	}
	return 0;
}

static int put_settings(struct sk_buff *skb, const struct tern_settings *s)
{
	struct nlattr *nest = nla_nest_start(skb, TERN_A_DEV_SETTINGS);

	if (!nest ||
	    nla_put_u32(skb, TERN_A_SETTINGS_MPA_REV, s->mpa.rev) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_CRC, s->mpa.crc) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_MARKERS, s->mpa.markers) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_P2P, s->mpa.p2p) ||
	    put_rtr(skb, s) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_REQUEST_MS, s->request_ms) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_REPLY_MS, s->reply_ms) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_RTR_MS, s->rtr_ms) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_CLOSE_MS, s->close_ms) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_HALF_OPEN, s->half_open) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_RNIC, s->mpa.type) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_ENHANCED, s->mpa.enhanced) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_EARLY_OCTETS, s->early_ok) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_KEEPALIVE_S, s->keepalive_s) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_EXTENSIONS, s->extensions) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_FEATURES, s->features) ||
	    nla_put_u32(skb, TERN_A_SETTINGS_MAX_FPDU, s->max_fpdu))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* only its own netns learns of the netdev, as from the core (fill_dev_info()) */
static int put_netdev(struct sk_buff *skb, const struct tern_device *dev,
		      const struct net *net)
{
	char name[IFNAMSIZ];

	if (!tern_device_is_in(dev, net))
		return 0;
	strscpy(name, dev->netdev->name);
	if (nla_put_u32(skb, TERN_A_DEV_IFINDEX, dev->netdev->ifindex) ||
	    nla_put_string(skb, TERN_A_DEV_NETDEV, name))
		return -EMSGSIZE;
	return 0;
}

static int put_dev(struct sk_buff *skb, struct tern_device *dev,
		   const struct genl_info *info, int flags)
{
	char name[IB_DEVICE_NAME_MAX];
	struct tern_settings settings;
	void *hdr;

	hdr = genlmsg_put(skb, info->snd_portid, info->snd_seq,
			  &tern_nl_family, flags, TERN_CMD_DEV_GET);
	if (!hdr)
		return -EMSGSIZE;
	tern_device_name(dev, name);
	tern_settings_get(&dev->settings, &settings);
	if (nla_put_u32(skb, TERN_A_DEV_INDEX, dev->ibdev.index) ||
	    nla_put_string(skb, TERN_A_DEV_NAME, name) ||
	    put_netdev(skb, dev, genl_info_net(info)) ||
	    put_settings(skb, &settings)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* ---- requests ----------------------------------------------------------------- */

static struct tern_device *get_named(struct genl_info *info)
{
	struct tern_device *dev;

	if (GENL_REQ_ATTR_CHECK(info, TERN_A_DEV_NAME)) {
		NL_SET_ERR_MSG(info->extack, "name of the device is missing");
		return ERR_PTR(-EINVAL);
	}
	dev = tern_device_get(genl_info_net(info),
			      nla_data(info->attrs[TERN_A_DEV_NAME]));
	if (dev)
		return dev;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[TERN_A_DEV_NAME],
			    "no tern device of this name");
	return ERR_PTR(-ENODEV);
}

int tern_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tern_device *dev;
	struct sk_buff *reply;
	int ret = -ENOMEM;

	dev = get_named(info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (reply)
		ret = put_dev(reply, dev, info, 0);
	tern_device_put(dev);
	if (!ret)
		return genlmsg_reply(reply, info);
	nlmsg_free(reply);
	return ret;
}

int tern_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct tern_device *dev;
	int ret = 0;

	/* args[0]: one more than the last index put */
	while (!ret) {
		dev = tern_device_next(genl_info_net(info), (int)cb->args[0] - 1);
		if (!dev)
			break;
		ret = put_dev(skb, dev, info, NLM_F_MULTI);
		if (!ret)
			cb->args[0] = dev->ibdev.index + 1;
		tern_device_put(dev);
	}
	return ret && !skb->len ? ret : skb->len;
}

/* replace the whole list; it has each type at most once, so it always fits */
static int parse_rtr(const struct nlattr *nest, struct tern_settings *s,
		     struct netlink_ext_ack *extack)
{
	u8 list[ARRAY_SIZE(s->mpa.rtr)] = {};
	const struct nlattr *attr;
	unsigned int n = 0;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != TERN_A_SETTINGS_RTR)
			continue;
		if (memchr(list, nla_get_u32(attr), n)) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "RTR type is listed twice");
			return -EINVAL;
		}
		list[n++] = nla_get_u32(attr);
	}
	memcpy(s->mpa.rtr, list, sizeof(list));
	return 0;
}

static int check_features(const struct nlattr *attr,
			  struct netlink_ext_ack *extack)
{
	if (tern_features_ok(nla_get_u32(attr)))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "version 2 needs RFC 7306");
	return -EINVAL;
}

static int check_max_fpdu(const struct nlattr *attr,
			  struct netlink_ext_ack *extack)
{
	if (tern_max_fpdu_ok(nla_get_u32(attr)))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "neither 0 nor 1024 at least");
	return -EINVAL;
}

static void parse_one(u32 value, unsigned int type, struct tern_settings *s)
{
	switch (type) {
	case TERN_A_SETTINGS_MPA_REV:
		s->mpa.rev = value;
		break;
	case TERN_A_SETTINGS_CRC:
		s->mpa.crc = value;
		break;
	case TERN_A_SETTINGS_MARKERS:
		s->mpa.markers = value;
		break;
	case TERN_A_SETTINGS_P2P:
		s->mpa.p2p = value;
		break;
	case TERN_A_SETTINGS_REQUEST_MS:
		s->request_ms = value;
		break;
	case TERN_A_SETTINGS_REPLY_MS:
		s->reply_ms = value;
		break;
	case TERN_A_SETTINGS_RTR_MS:
		s->rtr_ms = value;
		break;
	case TERN_A_SETTINGS_CLOSE_MS:
		s->close_ms = value;
		break;
	case TERN_A_SETTINGS_HALF_OPEN:
		s->half_open = value;
		break;
	case TERN_A_SETTINGS_RNIC:
		s->mpa.type = value;
		break;
	case TERN_A_SETTINGS_ENHANCED:
		s->mpa.enhanced = value;
		break;
	case TERN_A_SETTINGS_EARLY_OCTETS:
		s->early_ok = value == TERN_EARLY_OCTETS_TOLERATE;
		break;
	case TERN_A_SETTINGS_KEEPALIVE_S:
		s->keepalive_s = value;
		break;
	case TERN_A_SETTINGS_EXTENSIONS:
		s->extensions = value;
		break;
	case TERN_A_SETTINGS_FEATURES:
		s->features = value;
		break;
	case TERN_A_SETTINGS_MAX_FPDU:
		s->max_fpdu = value;
		break;
	}
}

/* genetlink has checked @nest by tern_settings_nl_policy already */
static int parse_settings(const struct nlattr *nest, struct tern_settings *s,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TERN_A_SETTINGS_MAX + 1];
	unsigned int type;
	int ret;

	ret = nla_parse_nested(tb, TERN_A_SETTINGS_MAX, nest,
			       tern_settings_nl_policy, extack);
	if (!ret && tb[TERN_A_SETTINGS_FEATURES])
		ret = check_features(tb[TERN_A_SETTINGS_FEATURES], extack);
	if (!ret && tb[TERN_A_SETTINGS_MAX_FPDU])
		ret = check_max_fpdu(tb[TERN_A_SETTINGS_MAX_FPDU], extack);
	if (ret)
		return ret;
	for (type = 1; type <= TERN_A_SETTINGS_MAX; type++)
		if (tb[type])
			parse_one(nla_get_u32(tb[type]), type, s);
	return tb[TERN_A_SETTINGS_RTR] ? parse_rtr(nest, s, extack) : 0;
}

/* a device may be visible in namespaces whose owner must not change it */
static int check_admin(struct sk_buff *skb, struct tern_device *dev,
		       struct netlink_ext_ack *extack)
{
	bool allowed;

	/* the netdev may move to another netns, and its old netns may end */
	rcu_read_lock();
	allowed = netlink_ns_capable(skb, dev_net(dev->netdev)->user_ns,
				     CAP_NET_ADMIN);
	rcu_read_unlock();
	if (allowed)
		return 0;
	NL_SET_ERR_MSG(extack, "CAP_NET_ADMIN over the netdev's namespace is needed");
	return -EPERM;
}

static int set_device(struct tern_device *dev, struct sk_buff *skb,
		      struct genl_info *info)
{
	struct tern_device_settings *ds = &dev->settings;
	struct tern_settings settings;
	int ret;

	ret = check_admin(skb, dev, info->extack);
	if (ret)
		return ret;
	spin_lock_bh(&ds->lock);
	settings = ds->now;
	ret = parse_settings(info->attrs[TERN_A_DEV_SETTINGS], &settings,
			     info->extack);
	if (!ret) {
		ds->now = settings;
		tern_device_tell_atomics(dev);
	}
	spin_unlock_bh(&ds->lock);
	return ret;
}

int tern_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct tern_device *dev;
	int ret;

	dev = get_named(info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if (GENL_REQ_ATTR_CHECK(info, TERN_A_DEV_SETTINGS)) {
		NL_SET_ERR_MSG(info->extack, "settings are missing");
		ret = -EINVAL;
	} else {
		ret = set_device(dev, skb, info);
	}
	tern_device_put(dev);
	return ret;
}

int tern_nl_init(void)
{
	int ret = genl_register_family(&tern_nl_family);

	if (!ret)
		tern_nl_conn_init();
	return ret;
}

void tern_nl_exit(void)
{
	tern_nl_conn_exit();
	genl_unregister_family(&tern_nl_family);
}
