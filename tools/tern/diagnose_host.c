// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* What tern diagnose checks of this machine. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <ifaddrs.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <json-c/json.h>

#include "dev.h"
#include "finding.h"
#include "tern.h"

/* ---- the netdev -------------------------------------------------------------------- */

/* the first address that other machines can use; false: there is none */
static bool first_address(const char *netdev, char *buf, size_t size)
{
	struct ifaddrs *list, *i;
	bool there = false;

	if (getifaddrs(&list))
		return false;
	for (i = list; i && !there; i = i->ifa_next) {
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
		const void *addr = family == AF_INET ?
			(void *)&((struct sockaddr_in *)i->ifa_addr)->sin_addr :
			(void *)&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr;

		if (strcmp(i->ifa_name, netdev) || (family != AF_INET && family != AF_INET6))
			continue;
		if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((struct in6_addr *)addr))
			continue;
		there = inet_ntop(family, addr, buf, size);
	}
	freeifaddrs(list);
	return there;
}

static void check_flags(struct findings *f, const struct device *dev, short flags)
{
	char todo[64], address[INET6_ADDRSTRLEN];

	if (!(flags & IFF_UP)) {
		snprintf(todo, sizeof(todo), "ip link set %s up", dev->netdev);
		found(f, "netdev", FAIL, todo, "%s: netdev %s is down", dev->name, dev->netdev);
	} else if (!(flags & IFF_RUNNING)) {
		found(f, "netdev", FAIL, "check the cable, or the other end",
		      "%s: netdev %s has no carrier", dev->name, dev->netdev);
	} else {
		found(f, "netdev", OK, NULL, "%s: netdev %s is up", dev->name, dev->netdev);
	}
	snprintf(todo, sizeof(todo), "ip address add ADDRESS/LENGTH dev %s", dev->netdev);
	if (first_address(dev->netdev, address, sizeof(address)))
		found(f, "address", OK, NULL, "%s: %s", dev->name, address);
	else
		found(f, "address", FAIL, todo, "%s: netdev %s has no address", dev->name,
		      dev->netdev);
}

static void check_mtu(struct findings *f, const struct device *dev, int mtu)
{
	if (mtu < 1280)
		found(f, "mtu", WARN, "raise the MTU, if each hop can carry more",
		      "%s: %d bytes: each segment carries little", dev->name, mtu);
	else
		found(f, "mtu", OK, NULL, "%s: %d bytes", dev->name, mtu);
}

void check_netdev(struct findings *f, const struct device *dev)
{
	struct ifreq ifr = {};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev->netdev);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &ifr)) {
		found(f, "netdev", WARN, "run tern in the netdev's network namespace",
		      "%s: the netdev is not in this network namespace", dev->name);
	} else {
		check_flags(f, dev, ifr.ifr_flags);
		if (!ioctl(fd, SIOCGIFMTU, &ifr))
			check_mtu(f, dev, ifr.ifr_mtu);
	}
	close(fd);
}

/* ---- the provider ------------------------------------------------------------------ */

/**
 * struct verbs - what is called of libibverbs, without depending on it
 * @handle: of dlopen()
 * @get_list: ibv_get_device_list()
 * @free_list: ibv_free_device_list()
 * @get_name: ibv_get_device_name()
 * @open: ibv_open_device()
 * @close: ibv_close_device()
 */
struct verbs {
	void *handle;
	void **(*get_list)(int *count);
	void (*free_list)(void **list);
	const char *(*get_name)(void *device);
	void *(*open)(void *device);
	int (*close)(void *context);
};

static bool load_verbs(struct verbs *v)
{
	v->handle = dlopen("libibverbs.so.1", RTLD_NOW);
	if (!v->handle)
		return false;
	v->get_list = dlsym(v->handle, "ibv_get_device_list");
	v->free_list = dlsym(v->handle, "ibv_free_device_list");
	v->get_name = dlsym(v->handle, "ibv_get_device_name");
	v->open = dlsym(v->handle, "ibv_open_device");
	v->close = dlsym(v->handle, "ibv_close_device");
	return v->get_list && v->free_list && v->get_name && v->open && v->close;
}

/* the version of the private interface is in the library's symbols; 0: unknown */
static int pabi_of(const struct verbs *v)
{
	static const char mark[] = "IBVERBS_PRIVATE_";
	struct link_map *map;
	char *text = NULL, *at;
	size_t size = 0;
	int pabi = 0;
	FILE *file;

	if (dlinfo(v->handle, RTLD_DI_LINKMAP, &map))
		return 0;
	file = fopen(map->l_name, "re");
	if (!file)
		return 0;
	/* names in an ELF file end with a 0, as records do here */
	while (!pabi && getdelim(&text, &size, '\0', file) > 0) {
		at = strstr(text, mark);
		if (at)
			pabi = atoi(at + strlen(mark));
	}
	free(text);
	fclose(file);
	return pabi;
}

/* the providers that are installed, in words */
static void list_providers(char *buf, size_t size)
{
	glob_t found = {};
	size_t i;

	snprintf(buf, size, "no provider of tern is installed");
	if (!glob("/usr/lib/*/libibverbs/libtern-rdmav*.so", 0, NULL, &found)) {
		snprintf(buf, size, "installed:");
		for (i = 0; i < found.gl_pathc; i++)
			snprintf(buf + strlen(buf), size - strlen(buf), " %s",
				 strrchr(found.gl_pathv[i], '/') + 1);
	}
	globfree(&found);
}

static void no_provider(struct findings *f, const struct device *dev, const struct verbs *v)
{
	char providers[256], wanted[64];
	int pabi = pabi_of(v);

	list_providers(providers, sizeof(providers));
	snprintf(wanted, sizeof(wanted), pabi ? "libtern-rdmav%d.so" : "another file", pabi);
	if (access("/etc/libibverbs.d/tern.driver", R_OK))
		found(f, "provider", FAIL, "make install, or apt install ibverbs-provider-tern",
		      "%s: /etc/libibverbs.d/tern.driver is missing; %s", dev->name, providers);
	else
		found(f, "provider", FAIL,
		      "install the provider again: it has to fit the version of libibverbs",
		      "%s: libibverbs wants %s; %s", dev->name, wanted, providers);
}

static void open_device(struct findings *f, const struct device *dev, const struct verbs *v,
			void *device)
{
	void *context = v->open(device);

	if (context)
		found(f, "provider", OK, NULL, "%s: libibverbs opens it", dev->name);
	else if (errno == EACCES || errno == EPERM)
		found(f, "provider", FAIL, "chmod 666 /dev/infiniband/uverbs*, or a rule of udev",
		      "%s: no permission to open it", dev->name);
	else
		found(f, "provider", FAIL, "install module and provider of one version",
		      "%s: libibverbs cannot open it: %s", dev->name, strerror(errno));
	if (context)
		v->close(context);
}

void check_provider(struct findings *f, const struct device *dev)
{
	struct verbs v = {};
	void **list;
	int i;

	if (!load_verbs(&v)) {
		found(f, "provider", FAIL, "apt install libibverbs1 ibverbs-providers",
		      "%s: libibverbs is not installed", dev->name);
		return;
	}
	list = v.get_list(NULL);
	for (i = 0; list && list[i]; i++)
		if (!strcmp(v.get_name(list[i]), dev->name))
			break;
	if (list && list[i])
		open_device(f, dev, &v, list[i]);
	else
		no_provider(f, dev, &v);
	if (list)
		v.free_list(list);
	dlclose(v.handle);
}

void check_rdma_cm(struct findings *f)
{
	if (!access("/dev/infiniband/rdma_cm", R_OK | W_OK))
		found(f, "rdma_cm", OK, NULL, "programs may use it");
	else
		found(f, "rdma_cm", FAIL,
		      errno == ENOENT ? "modprobe rdma_ucm, or give the container the device" :
					"chmod 666 /dev/infiniband/rdma_cm",
		      "/dev/infiniband/rdma_cm: %s", strerror(errno));
}

/* ---- limits ------------------------------------------------------------------------ */

/* MiB that programs such as perftest and MPI register without a thought */
#define MEMLOCK_MIB	64

void check_memlock(struct findings *f)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		found(f, "memlock", OK, NULL, "unlimited");
	else if (limit.rlim_cur >> 20 >= MEMLOCK_MIB)
		found(f, "memlock", OK, NULL, "%llu MiB",
		      (unsigned long long)limit.rlim_cur >> 20);
	else if (!geteuid())
		found(f, "memlock", OK, NULL, "%llu KiB, which does not bind root",
		      (unsigned long long)limit.rlim_cur >> 10);
	else
		found(f, "memlock", WARN, "ulimit -l unlimited; for good, in limits.conf(5)",
		      "%llu KiB: larger memory cannot be registered",
		      (unsigned long long)limit.rlim_cur >> 10);
}

/* ---- the firewall ------------------------------------------------------------------ */

static const char *string_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(o, key, &value) ? json_object_get_string(value) : "";
}

/* a base chain for packets to this machine that drops what no rule accepts */
static bool drops_by_default(struct json_object *item, struct json_object **chain)
{
	return json_object_object_get_ex(item, "chain", chain) &&
	       !strcmp(string_of(*chain, "hook"), "input") &&
	       !strcmp(string_of(*chain, "policy"), "drop");
}

static struct json_object *read_ruleset(void)
{
	FILE *nft = popen("nft -j list ruleset 2>/dev/null", "re");
	struct json_object *rules = NULL;
	char *text = NULL;
	size_t size = 0;

	if (!nft)
		return NULL;
	if (getdelim(&text, &size, '\0', nft) > 0)
		rules = json_tokener_parse(text);
	free(text);
	pclose(nft);
	return rules;
}

/* whether a rule accepts what a chain drops by default is not known: so it is no failure */
void check_firewall(struct findings *f)
{
	struct json_object *rules = read_ruleset(), *list, *chain;
	bool warned = false;
	size_t i;

	if (!rules || !json_object_object_get_ex(rules, "nftables", &list)) {
		found(f, "firewall", WARN, "run it as root, with nft installed",
		      "its rules cannot be read");
		json_object_put(rules);
		return;
	}
	for (i = 0; i < json_object_array_length(list); i++) {
		if (!drops_by_default(json_object_array_get_idx(list, i), &chain))
			continue;
		found(f, "firewall", WARN, "accept the TCP ports of your servers there",
		      "chain %s of table %s %s drops what no rule accepts",
		      string_of(chain, "name"), string_of(chain, "family"),
		      string_of(chain, "table"));
		warned = true;
	}
	if (!warned)
		found(f, "firewall", OK, NULL, "no chain of nftables drops by default");
	json_object_put(rules);
}
