"""Decisions. Pure: everything they depend on is an argument, everything they want done is in the plan."""
