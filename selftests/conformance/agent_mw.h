/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows: made and bound by one command, freed by reset. */
#ifndef AGENT_MW_H
#define AGENT_MW_H

#include "agent_call.h"

int cmd_bind(struct call *c);

/* before the memory that they are bound to goes */
void mw_reset(void);

#endif /* AGENT_MW_H */
