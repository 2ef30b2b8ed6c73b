# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# tern: RDMA over TCP on any network device.
#
#	make demo		see it work, in a VM
#	make check		the tests (make check PARTS="core vm": some of them)
#	make conform		the conformance suite; ARGS="MPA-082 G3": those alone
#	make coverage		which requirements are tested
#	make check-conform-faults	planted faults, which its groups have to find
#	make check-verbs-faults	the same for the tests of the verbs
#	make check-ulp		NFS, iSER, NVMe-oF, MPI and the like, at length
#	make check-netdevs	devices on each kind of netdev, at length
#	make check-static	static analysis: coccinelle, gcc's analyzer, clang-tidy
#	make check-storm	a million atomics of each of eight QPs on one word
#	make check-deb		the Debian packages: built, installed, upgraded, purged
#	make check-piuparts	the same by piuparts
#	make check-rpm		RPMs, by Debian's tools: built, installed, removed
#	make check-reboot	a machine with them, rebooted: links and mounts are back
#	make check-secure-boot	a module that the owner signed, behind firmware and shim
#	make check-containers	podman's containers, by the recipe
#	make upstream-patch OUT=DIR	a series that adds tern to the newest kernel
#	make check-upstream	that series applies, builds, and passes checkpatch
#	make check-machines	other architectures and kernels: built, and run in guests
#	make check-vm		those of the selftests that the part vm has
#	make soak MINUTES=60	a mix of everything for that long, in the checked kernel
#	make check-debug	the tests in the checked kernel (KASAN, lockdep, ...)
#	make check-debug-short	a short form of them
#	make check-peers	hostile peers, made from seeds, in the checked kernel; and what
#				others notice of one
#	make check-outside	the kernel's own tests, stress-ng, and power cuts under file systems
#	make guard		instructions of a message, compared with committed figures
#	make bench		instructions of a message, beside siw, rxe and TCP
#	make pictures		those of Documentation/performance.rst, from make bench
#	make profile ROW=...	instructions of a message by function
#	make lab-shell		a shell in the VM, device and tests at hand
#	make install		Debian 13: module (DKMS), provider, tools; uninstall undoes
#	make install KVER=...	the same for another kernel than the running one
#	make deb OUT=DIR	the Debian packages, into DIR; for sid: TERN_DEB_SUITE=sid
#	make module		just the module, for the running kernel

LAB := selftests/lab
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
DKMS_SRC := $(DESTDIR)/usr/src/tern-$(VERSION)
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
TERN_CACHE ?= $(HOME)/.cache/tern
PACKAGES := dkms build-essential cmake ninja-build pkg-config python3 kmod iproute2 \
	libnl-3-dev libnl-route-3-dev libnl-genl-3-dev libjson-c-dev libudev-dev \
	ibverbs-providers rdmacm-utils
HEADERS = $(if $(wildcard $(KDIR)/Makefile),,linux-headers-$(KVER))

.PHONY: help demo check check-vm check-deb check-machines check-reboot check-static check-storm \
	check-netdevs check-ulp check-upstream upstream-patch check-secure-boot check-containers \
	check-piuparts check-rpm check-debug check-debug-short check-peers check-outside \
	check-conform-faults check-verbs-faults conform coverage bench pictures profile \
	guard soak lab-shell module install uninstall deb clean
help:
	@sed -n 's/^#\t//p' Makefile

demo:
	@$(LAB)/demo

check:
	@selftests/check $(PARTS)

check-vm check-deb check-machines check-reboot check-static check-storm \
	check-upstream check-secure-boot check-containers check-piuparts check-rpm \
	check-conform-faults check-verbs-faults:
	@selftests/check $(@:check-%=%)

check-debug:
	@selftests/check checkers debug-net debug-verbs debug-nth debug-matrix debug-abuse debug-peers debug-ulp

check-debug-short:
	@selftests/check checkers debug-short

check-outside:
	@selftests/check outside-kernel outside-stress outside-smb outside-cuts

check-peers:
	@selftests/check debug-peers bystander

soak:
	@TERN_SET_SOAK_SECONDS=$$((60 * $(or $(MINUTES),10))) selftests/check soak

check-netdevs:
	@selftests/check netdevs-uml netdevs-vm

check-ulp:
	@selftests/check ulp pair smb

conform:
	@$(LAB)/run --lane vm --type tern --args '$(ARGS)' $(if $(ARGS),conformance:conform.sh,conformance)

coverage:
	@selftests/conformance/coverage.sh

bench:
	@selftests/bench/report

pictures:
	@selftests/bench/report --pictures

profile:
	@selftests/bench/profile $(or $(ROW),send-64K) $(CANDIDATE) $(PLACE)

guard:
	@selftests/check guard

lab-shell:
	@$(LAB)/run --lane vm --shell

module:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

# With DESTDIR only files are laid out: DKMS is for the machine itself.
install:
	@tools/install-checkout $(if $(DESTDIR),--destdir "$(DESTDIR)","$(KVER)") \
		$(PACKAGES) $(if $(DESTDIR),,$(HEADERS))

uninstall:
ifeq ($(DESTDIR),)
	@tools/packages-absent
	for d in /var/lib/dkms/tern/[0-9]*; do \
		[ ! -d $$d ] || dkms remove tern/$${d##*/} --all || exit; \
	done
	@[ ! -d /sys/module/tern ] || \
		echo "The running kernel keeps tern until: rdma link delete, modprobe -r tern"
endif
	rm -rf $(DKMS_SRC)
	userspace-provider/build --uninstall --destdir "$(or $(DESTDIR),/)"
	$(MAKE) -C tools uninstall

deb:
	@$(LAB)/deb-build $(or $(OUT),$(TERN_CACHE)/deb)

upstream-patch:
	@tools/upstream/series $(or $(OUT),$(TERN_CACHE)/upstream)

clean:
	for d in core model fuzz; do $(MAKE) -C selftests/$$d clean; done
	$(MAKE) -C tools clean
