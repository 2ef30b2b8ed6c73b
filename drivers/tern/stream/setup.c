// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/*
 * The setup of a stream: bind it to the endpoint that connects it, and keep what
 * was requested and exchanged (RFC 5044 7.1, RFC 6581 9.1).
 */
#include "setup.h"

#include "stream.h"

void tern_setup_init(struct tern_setup *setup)
{
	setup->report.terms = TERN_NO_TERMS;
}

void tern_setup_exit(struct tern_setup *setup)
{
	if (setup->user)
		setup->user->ops->put(setup->user);
}

static bool is_free(const struct tern_stream *s)
{
	lockdep_assert_held(&s->lock);
	return !s->setup.user && READ_ONCE(s->state) == QP_IDLE;
}

int tern_stream_bind(struct tern_stream *s, struct tern_stream_user *user)
{
	int ret = -EISCONN;

	spin_lock_bh(&s->lock);
	if (is_free(s)) {
		user->ops->get(user);
		s->setup.user = user;
		ret = 0;
	}
	spin_unlock_bh(&s->lock);
	return ret;
}

void tern_stream_unbind(struct tern_stream *s, struct tern_stream_user *user)
{
	bool bound;

	spin_lock_bh(&s->lock);
	/* an attached stream keeps its user to its end */
	bound = s->setup.user == user && !s->sock;
	if (bound)
		s->setup.user = NULL;
	spin_unlock_bh(&s->lock);
	if (bound)
		user->ops->put(user);
}

int tern_stream_set_options(struct tern_stream *s,
			    const struct tern_qp_options *options)
{
	int ret = -EISCONN;

	spin_lock_bh(&s->lock);
	if (is_free(s)) {
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

void tern_stream_abort_startup(struct tern_stream *s)
{
	struct tern_stream_user *user;

	spin_lock_bh(&s->lock);
	user = s->setup.user;
	if (user)
		user->ops->get(user);
	spin_unlock_bh(&s->lock);
	if (!user)
		return;
	user->ops->abort(user, s);
	user->ops->put(user);
}
