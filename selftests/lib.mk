# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The part of the kernel's selftests/lib.mk that we use, so that each folder's
# Makefile reads the same here and there:
#
#	TEST_PROGS	scripts that are tests
#	TEST_GEN_PROGS	C programs that are tests, NAME built from NAME.c
#	TEST_GEN_FILES	C programs that tests need
#	TEST_FILES	other files that tests need
#	LOCAL_HDRS	headers that every C program depends on

# where the kernel's kselftest_harness.h is: two folders up, in its tree
KSFT ?= ../..
OUTPUT ?= $(CURDIR)
CFLAGS ?= -O2 -g
CFLAGS += -Wall -Wextra -std=gnu11
gen := $(addprefix $(OUTPUT)/,$(TEST_GEN_PROGS) $(TEST_GEN_FILES))

.PHONY: all list clean
all: $(gen)

$(OUTPUT)/%: %.c $(LOCAL_HDRS)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(LDLIBS)

list:
	@for t in $(TEST_PROGS) $(TEST_GEN_PROGS); do echo "$(notdir $(CURDIR)):$$t"; done

clean:
	$(RM) $(gen)
