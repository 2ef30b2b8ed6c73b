// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* The setup of a stream: what was requested and exchanged (RFC 5044 7.1, RFC 6581 9.1). */
#include "setup.h"

#include "stream.h"
#include "user.h"

void tern_setup_init(struct tern_setup *setup)
{
	setup->report.terms = TERN_NO_TERMS;
}

void tern_setup_exit(struct tern_setup *setup)
{
	if (setup->user)
		setup->user->ops->put(setup->user);
}

int tern_stream_set_options(struct tern_stream *s,
			    const struct tern_qp_options *options)
{
	int ret = -EISCONN;

	spin_lock_bh(&s->lock);
	if (tern_stream_is_free(s)) {
		s->setup.options = *options;
		ret = 0;
	}
	spin_unlock_bh(&s->lock);
	return ret;
}

void tern_stream_report(struct tern_stream *s, const struct tern_startup *report)
{
	spin_lock_bh(&s->lock);
	s->setup.report = *report;
	spin_unlock_bh(&s->lock);
}

void tern_stream_report_terms(struct tern_stream *s,
			      const struct tern_stream_terms *terms)
{
	spin_lock_bh(&s->lock);
	s->setup.report.terms = *terms;
	spin_unlock_bh(&s->lock);
}
