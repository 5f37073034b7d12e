"""`make demo`: an AgentRun goes through a real Kubernetes while a person watches."""
