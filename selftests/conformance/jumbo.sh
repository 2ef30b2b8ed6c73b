#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The largest MTU: where the limits of ULPDU_Length, and not of the packet, bind.

TERN_MTU=65535 exec ./conform.sh "${@:-size}"
