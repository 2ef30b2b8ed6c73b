/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/tern.yaml */
/* YNL-GEN uapi header */
/* To regenerate run: tools/ynl-check.sh --update */

#ifndef _UAPI_LINUX_TERN_H
#define _UAPI_LINUX_TERN_H

#define TERN_FAMILY_NAME	"tern"
#define TERN_FAMILY_VERSION	1

/*
 * Ready-to-receive message of the peer-to-peer model (RFC 6581).
 */
enum tern_rtr_type {
	TERN_RTR_TYPE_WRITE = 1,
	TERN_RTR_TYPE_READ,
	TERN_RTR_TYPE_SEND,
};

/*
 * How revision 0 of MPA is treated (RFC 5044, appendix C).
 */
enum tern_rnic_type {
	TERN_RNIC_TYPE_NON_PERMISSIVE,
	TERN_RNIC_TYPE_PERMISSIVE,
	TERN_RNIC_TYPE_RDMAC,
};

/*
 * What to do with octets behind a Reply, before our first FPDU.
 */
enum tern_early_octets {
	TERN_EARLY_OCTETS_REFUSE,
	TERN_EARLY_OCTETS_TOLERATE,
};

#define TERN_MAX_MS		600000
#define TERN_MAX_HALF_OPEN	65536

enum {
	TERN_A_DEV_INDEX = 1,
	TERN_A_DEV_NAME,
	TERN_A_DEV_IFINDEX,
	TERN_A_DEV_NETDEV,
	TERN_A_DEV_SETTINGS,

	__TERN_A_DEV_MAX,
	TERN_A_DEV_MAX = (__TERN_A_DEV_MAX - 1)
};

enum {
	TERN_A_SETTINGS_MPA_REV = 1,
	TERN_A_SETTINGS_CRC,
	TERN_A_SETTINGS_MARKERS,
	TERN_A_SETTINGS_P2P,
	TERN_A_SETTINGS_RTR,
	TERN_A_SETTINGS_REQUEST_MS,
	TERN_A_SETTINGS_REPLY_MS,
	TERN_A_SETTINGS_RTR_MS,
	TERN_A_SETTINGS_CLOSE_MS,
	TERN_A_SETTINGS_HALF_OPEN,
	TERN_A_SETTINGS_RNIC,
	TERN_A_SETTINGS_ENHANCED,
	TERN_A_SETTINGS_EARLY_OCTETS,

	__TERN_A_SETTINGS_MAX,
	TERN_A_SETTINGS_MAX = (__TERN_A_SETTINGS_MAX - 1)
};

enum tern_cmd {
	TERN_CMD_DEV_GET = 1,
	TERN_CMD_DEV_SET,

	__TERN_CMD_MAX,
	TERN_CMD_MAX = (__TERN_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_TERN_H */
