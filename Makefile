# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern: RDMA over TCP on any network device.
#
#	make demo		see it work, in a VM
#	make check		all tests (make check PARTS="core vm": some of them)
#	make check-debug	the tests in the checked kernel (KASAN, lockdep, ...)
#	make lab-shell		a shell in the VM, device and tests at hand
#	make install		Debian 13: module (DKMS), provider, tools; uninstall undoes
#	make module		just the module, for the running kernel

LAB := selftests/lab
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
DKMS_SRC := $(DESTDIR)/usr/src/tern-$(VERSION)
KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: help demo check check-vm check-debug check-debug-short bench lab-shell \
	module install uninstall clean
help:
	@sed -n 's/^#\t//p' Makefile

demo:
	@$(LAB)/demo

check:
	@selftests/check $(PARTS)

check-vm check-debug check-debug-short:
	@selftests/check $(@:check-%=%)

bench:
	@$(LAB)/run --lane uml --plain bench:bench.sh

lab-shell:
	@$(LAB)/run --lane vm --shell

module:
	$(MAKE) -C $(KDIR) M=$(CURDIR)/drivers/tern modules

install: uninstall
	mkdir -p $(DKMS_SRC)
	cp -r dkms.conf drivers $(DKMS_SRC)/
	dkms install tern/$(VERSION)
	userspace-provider/build --destdir "$(or $(DESTDIR),/)"
	$(MAKE) -C tools install DESTDIR=$(DESTDIR) OUTPUT=$(or $(TMPDIR),/tmp)/tern-tools

uninstall:
	-dkms remove tern/$(VERSION) --all 2>/dev/null
	rm -rf $(DKMS_SRC)
	userspace-provider/build --uninstall --destdir "$(or $(DESTDIR),/)"
	$(MAKE) -C tools uninstall DESTDIR=$(DESTDIR)

clean:
	for d in core model fuzz; do $(MAKE) -C selftests/$$d clean; done
	$(MAKE) -C tools clean
