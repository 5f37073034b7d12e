"""Where a thread's state is kept: in memory, in SQLite on the state volume, in Postgres.

`opening.open_state` is the way in; who needs more than checkpoints (a store) opens it there too.
"""
