"""Settings of the pipeline's rows, one module a row; an AgentProfile embeds them under `pipeline`."""
