"""The rows of the pipeline. Modules here do not know each other; `pipeline.py` orders them."""
