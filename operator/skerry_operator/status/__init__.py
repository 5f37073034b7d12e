"""Status as pure functions: the next status out of the last one and a decision; equal ones are not written."""
