#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# rdma-core's pyverbs tests for device, PD, MR, CQ, QPs, rdma_cm, atomics and immediate
# data, on the device of a. Their RC QPs are connected by rdma_cm (pyverbs_connect.py).
# Those that cannot apply to an RNIC are in pyverbs-not-applicable, each with its reason.

. ./lib.sh

installed=/usr/share/doc/rdma-core/tests
[ -d "$installed" ] || skip_all "no pyverbs tests in $installed"

topo_up
[ "$TERN_TYPE" != tern ] || in_a tern set "$DEV_A" extensions negotiate
cp -r "$installed" "$TMP/tests"
gunzip "$TMP"/tests/*.gz
ktap_done=1
limit 60 in_a python3 ./pyverbs_tap.py "$TMP/tests" ./pyverbs-not-applicable "$DEV_A" \
	test_device test_pd test_mr test_cq test_cqex test_qp test_rdmacm \
	test_atomic test_qpex
