/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copyright (c) 2026 The tern authors */
/*
 * The STag table. An STag is 24 random bits of index and 8 bits of key; the
 * index finds the entry, the whole STag must match. Lookup is under RCU: after
 * an entry was removed, a grace period passes before its pages are released, so
 * a reader needs no reference.
 *
 * REG_MR, a bind and an invalidation change what an STag opens while it is in
 * the table. A reader copies the whole map at one moment, checks the copy and
 * uses it, so it never reads the bounds of one registration and the pages of
 * the next. A change waits some microseconds for the copies of data that are
 * running: after an invalidation no stream reads or writes the memory any more,
 * and the pages and their list are the owner's again.
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
 * struct tern_scope - the keys that a QP and its peer may use
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
 * @pd: the protection domain whose streams may use it; never changes
 * @stream: fast registration, type 2 window: the only stream whose peer may use
 *	it, and may invalidate it; 0: peers of all streams of @pd may use it,
 *	none may invalidate it
 * @base: first TO (iova)
 * @len: bytes
 * @pages: the pages, first to last; NULL if @kva or @virt
 * @virt: dma-buf: its address in the kernel's mapping
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
 * enum tern_mem_kind - how an entry was created
 * @TERN_MEM_USER: reg_user_mr: valid from registration to removal
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
 * @copying: taken for reading around a copy of data, for writing around a
 *	change of @map; inside @lock. Readers skip it for USER and DMA MRs,
 *	which do not change until they are revoked for removal.
 * @map: what it opens
 * @closed: its removal has begun: it never becomes valid again
 * @fast: fast registration: its page lists
 * @region: window: the region it is bound to, which stays until the window is
 *	unbound
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

/* @mem opens nothing yet, for streams of @pd; the caller fills in @map */
void tern_mem_init(struct tern_mem *mem, enum tern_mem_kind kind,
		   struct ib_pd *pd);

/**
 * tern_mem_insert() - draw a fresh STag and add @mem to the table
 * @t: the device's table
 * @mem: initialized entry
 *
 * Context: process. Return: 0, -ENOMEM or -ENOSPC.
 */
int tern_mem_insert(struct tern_mem_table *t, struct tern_mem *mem);

/**
 * tern_mem_set() - the STag opens something else from now on
 * @mem: entry, its lock held
 * @map: what it opens
 *
 * Waits for running copies to and from what it opened before.
 */
void tern_mem_set(struct tern_mem *mem, const struct tern_mem_map *map);

/**
 * tern_mem_revoke() - the STag opens nothing from now on; a window is unbound
 * @mem: entry, its lock held
 *
 * Waits for copies that were checked before. Copies to and from user and DMA
 * MRs end with the grace period that follows tern_mem_unlist().
 */
void tern_mem_revoke(struct tern_mem *mem);

/**
 * tern_mem_close() - revoke before the removal
 * @mem: entry
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
 * To check a request, not to copy data. Context: rcu_read_lock() held.
 */
void tern_mem_find(struct tern_mem_table *t, u32 stag, struct tern_mem_map *map);

/**
 * tern_mem_enter() - what does an STag open? For a copy to or from it
 * @t: the device's table
 * @stag: STag
 * @map: answer; the pages are good until tern_mem_leave()
 *
 * Context: any but hard interrupt; no sleeping, no second entry and no change
 * of one before tern_mem_leave(). Return: the argument of tern_mem_leave(),
 * which may be NULL.
 */
struct tern_mem *tern_mem_enter(struct tern_mem_table *t, u32 stag,
				struct tern_mem_map *map);
void tern_mem_leave(struct tern_mem *mem);

/* the entry itself, by index alone; Context: rcu_read_lock() held */
struct tern_mem *tern_mem_lookup(struct tern_mem_table *t, u32 stag);

/*
 * What core/ddp needs to check a use by the peer of @stream; 0: by a work
 * request of any QP of @pd, also if the map is for one stream.
 */
void tern_mem_view(const struct tern_mem_map *map, const struct ib_pd *pd,
		   u64 stream, struct tern_mem_view *view);

/**
 * tern_mem_invalidate_local() - execute LOCAL_INV or the end of READ_WITH_INV
 * @scope: of the QP that executes it
 * @stag: fast-registration MR of the QP's PD, or type 2 window bound to the QP;
 *	it may be invalid already
 *
 * Context: any but hard interrupt. Return: 0 or -EINVAL.
 */
int tern_mem_invalidate_local(const struct tern_scope *scope, u32 stag);

/**
 * tern_mem_invalidate_remote() - the peer sent SEND_WITH_INV
 * @scope: of the QP that received it
 * @stag: what the peer named: it must be valid, of the QP's PD, and registered
 *	or bound through this QP
 *
 * Context: as above. Return: 0 or -EINVAL (TERN_TERM_RP_CANT_INV is due).
 */
int tern_mem_invalidate_remote(const struct tern_scope *scope, u32 stag);

/**
 * tern_mem_read() - copy out of registered memory
 * @map: of tern_mem_enter(), checked
 * @to: first byte; [@to, @to + @len) was checked against @map
 * @dst: kernel memory
 * @len: bytes
 */
void tern_mem_read(const struct tern_mem_map *map, u64 to, void *dst,
		   size_t len);

/* tern_mem_write() - copy into registered memory; as tern_mem_read() */
void tern_mem_write(const struct tern_mem_map *map, u64 to, const void *src,
		    size_t len);

#endif /* TERN_MEM_H */
