// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Copyright (c) 2026 The tern authors
/* Bind a stream to the endpoint that connects it (RFC 5044 7.1). */
#include "user.h"

#include "stream.h"

bool tern_stream_is_free(const struct tern_stream *s)
{
	lockdep_assert_held(&s->lock);
	return !s->setup.user && READ_ONCE(s->state) == QP_IDLE;
}

int tern_stream_bind(struct tern_stream *s, struct tern_stream_user *user)
{
	int ret = -EISCONN;

	spin_lock_bh(&s->lock);
	if (tern_stream_is_free(s)) {
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
