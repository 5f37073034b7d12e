"""The loop: gather (all reads), plan (pure, elsewhere), apply (all writes), status; and what keeps it going."""
