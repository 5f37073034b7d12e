"""Calls of a model that may fail: what a failure means, when to try again, when to give the endpoint a rest."""
