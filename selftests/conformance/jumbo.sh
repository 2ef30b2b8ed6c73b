#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The largest MTU: ULPDU_Length limits the FPDU, not the size of a packet.

TERN_MTU=65535 exec ./conform.sh "${@:-size}"
