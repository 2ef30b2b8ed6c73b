/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The STag table. An STag is 24 random bits of index and 8 bits of key; the
 * index finds the entry, the whole STag must match. Lookup is under RCU; whoever
 * takes an entry out waits for a grace period before its pages go, so a reader
 * needs no reference (design 17).
 *
 * What an STag opens can change while it is in the table: REG_MR, a bind, an
 * invalidation. A reader takes a copy of all of it at one moment, judges that
 * and uses that, so it never reads the bounds of one registration and the pages
 * of the next. Whoever changes it waits for the copies that are running, some
 * microseconds: behind an invalidation nothing is read or written any more, by
 * no stream, and the pages and their list are the owner's again.
 */
#ifndef TERN_MEM_H
#define TERN_MEM_H

#include <linux/rhashtable.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "core/ddp.h"

struct tern_fastreg;
struct tern_mem_table;

/**
 * struct tern_scope - whose keys count
 * @keys: the device's table
 * @pd: keys of other protection domains are refused
 * @stream: serial number of the stream, never 0: a key that belongs to another stream
 *	is refused to the peer of this one
 * @kernel: of a kernel user: lkey 0 is local_dma_lkey
 *
 * A QP has its scopes from creation to its end, unchanged.
 */
struct tern_scope {
	struct tern_mem_table *keys;
	struct ib_pd *pd;
	u64 stream;
	bool kernel;
};

/**
 * struct tern_mem_map - what an STag opens at one moment
 * @stag: the whole STag; kernel users and windows rotate the low 8 bits
 * @valid: not invalidated
 * @kva: DMA MR: TOs are kernel addresses
 * @window: memory window: for peers, never a local key
 * @access: TERN_ACCESS_* rights
 * @pd: whose streams may use it; never changes
 * @stream: fast registration, type 2 window: the only stream whose peer may use it,
 *	and may invalidate it; 0: all of @pd may use it, and none invalidate it
 * @base: first TO (iova)
 * @len: octets
 * @pages: the pages, first to last; NULL if @kva or @virt
 * @virt: dma-buf: where the kernel sees it
 * @offset: of @base from the beginning of the first page, or from @virt
 */
struct tern_mem_map {
	u32 stag;
	bool valid;
	bool kva;
	bool window;
	u32 access;
	struct ib_pd *pd;
	u64 stream;
	u64 base;
	u64 len;
	struct page **pages;
	void *virt;
	u64 offset;
};

/**
 * enum tern_mem_kind - what made an entry
 * @TERN_MEM_USER: reg_user_mr: valid from its first day to its last
 * @TERN_MEM_DMA: get_dma_mr: the same
 * @TERN_MEM_FAST: alloc_mr: made valid and invalid by work requests
 * @TERN_MEM_MW1: type 1 window: bound to a range of a region, for its PD
 * @TERN_MEM_MW2: type 2 window: the same, for the QP that bound it
 */
enum tern_mem_kind {
	TERN_MEM_USER,
	TERN_MEM_DMA,
	TERN_MEM_FAST,
	TERN_MEM_MW1,
	TERN_MEM_MW2,
};

/**
 * struct tern_mem - an entry of the table
 * @node: in the device's table
 * @index: STag >> 8
 * @kind: never changes
 * @lock: guards what follows; a window's is taken outside its region's
 * @seq: of changes of @map, for readers under rcu_read_lock()
 * @copying: taken for reading around a copy, for writing around a change of @map;
 *	inside @lock. Nobody copying takes it if @kind is one that never changes
 *	before it is taken out.
 * @map: what it opens
 * @closed: its end has begun: it never becomes valid again
 * @fast: fast registration: its page lists
 * @region: window: the region it is bound to, which stays until it is not
 * @windows: user MR: windows that are bound to it
 * @rcu: window: frees it
 */
struct tern_mem {
	struct rhash_head node;
	u32 index;
	enum tern_mem_kind kind;
	spinlock_t lock;		/* see above */
	seqcount_spinlock_t seq;
	rwlock_t copying;		/* see above */
	struct tern_mem_map map;
	bool closed;
	struct tern_fastreg *fast;
	struct tern_mem *region;
	u32 windows;
	struct rcu_head rcu;
};

/* enum ib_access_flags that a region may have */
#define TERN_IB_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_OPTIONAL)

/* TERN_ACCESS_* of enum ib_access_flags, for regions, windows and QPs */
u32 tern_access_from_ib(int access);

struct tern_mem_table {
	struct rhashtable ht;
};

int tern_mem_table_init(struct tern_mem_table *t);
void tern_mem_table_exit(struct tern_mem_table *t);

/* @mem opens nothing, for streams of @pd; the caller fills in @map */
void tern_mem_init(struct tern_mem *mem, enum tern_mem_kind kind,
		   struct ib_pd *pd);

/**
 * tern_mem_insert() - draw a fresh STag and make @mem findable
 * @t: the device's table
 * @mem: initialized entry
 *
 * Context: process. Return: 0, -ENOMEM or -ENOSPC.
 */
int tern_mem_insert(struct tern_mem_table *t, struct tern_mem *mem);

/**
 * tern_mem_set() - the STag opens something else from now on
 * @mem: entry, its lock held
 * @map: all of it
 *
 * Waits for copies to and from what it opened until now.
 */
void tern_mem_set(struct tern_mem *mem, const struct tern_mem_map *map);

/**
 * tern_mem_revoke() - the STag opens nothing from now on; a window is unbound
 * @mem: entry, its lock held
 *
 * Waits for copies that were checked before. Copies of user and DMA MRs end with the
 * grace period that follows tern_mem_unlist().
 */
void tern_mem_revoke(struct tern_mem *mem);

/**
 * tern_mem_close() - revoke for good
 *
 * Context: process. Return: 0, also when it was closed before; -EBUSY: windows
 * are bound to it.
 */
int tern_mem_close(struct tern_mem *mem);

/**
 * tern_mem_unlist() - take a closed entry out of the table
 * @t: the device's table
 * @mem: closed entry
 *
 * Readers that found it before may use it until a grace period is over. The entry,
 * and the pages of a region, must stay until then. Context: process.
 */
void tern_mem_unlist(struct tern_mem_table *t, struct tern_mem *mem);

/**
 * tern_mem_find() - what does an STag open now?
 * @t: the device's table
 * @stag: STag
 * @map: answer; its @valid says whether there is one
 *
 * To judge a request by, not to copy. Context: rcu_read_lock() held.
 */
void tern_mem_find(struct tern_mem_table *t, u32 stag, struct tern_mem_map *map);

/**
 * tern_mem_enter() - the same, to copy to or from what it opens
 * @t: the device's table
 * @stag: STag
 * @map: answer; the pages are good until tern_mem_leave()
 *
 * Context: any but hard interrupt; no sleeping, no second entry and no change of
 * one before tern_mem_leave(). Return: what to leave by, which may be NULL.
 */
struct tern_mem *tern_mem_enter(struct tern_mem_table *t, u32 stag,
				struct tern_mem_map *map);
void tern_mem_leave(struct tern_mem *mem);

/* the entry itself, by index alone; Context: rcu_read_lock() held, as above */
struct tern_mem *tern_mem_lookup(struct tern_mem_table *t, u32 stag);

/*
 * What core/ddp needs to judge a use by the peer of @stream; 0: by a work request of
 * any QP of @pd, which no stream of the map's limits.
 */
void tern_mem_view(const struct tern_mem_map *map, const struct ib_pd *pd,
		   u64 stream, struct tern_mem_view *view);

/**
 * tern_mem_invalidate_local() - execute LOCAL_INV or the end of READ_WITH_INV
 * @scope: of the QP that asks
 * @stag: fast-registration MR of the QP's PD, or type 2 window bound to the QP;
 *	good if it is invalid already
 *
 * Context: any but hard interrupt. Return: 0 or -EINVAL.
 */
int tern_mem_invalidate_local(const struct tern_scope *scope, u32 stag);

/**
 * tern_mem_invalidate_remote() - the peer sent SEND_WITH_INV
 * @scope: of the QP that it came on
 * @stag: what the peer named: it must be valid, of the QP's PD, and registered
 *	or bound through this QP
 *
 * Context: as above. Return: 0 or -EINVAL (TERN_TERM_RP_CANT_INV is due).
 */
int tern_mem_invalidate_remote(const struct tern_scope *scope, u32 stag);

/**
 * tern_mem_read() - copy out of registered memory
 * @map: of tern_mem_enter(), checked
 * @to: first octet; [@to, @to + @len) was checked against @map
 * @dst: kernel memory
 * @len: octets
 */
void tern_mem_read(const struct tern_mem_map *map, u64 to, void *dst,
		   size_t len);

/* tern_mem_write() - copy into registered memory; as tern_mem_read() */
void tern_mem_write(const struct tern_mem_map *map, u64 to, const void *src,
		    size_t len);

#endif /* TERN_MEM_H */
