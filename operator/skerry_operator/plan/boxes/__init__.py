"""The rules that plan_sandbox is made of: a Sandbox of a thread, or a standalone one of a person."""
