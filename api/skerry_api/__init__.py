"""The contract between operator, runner, sandboxd and command line: models, names, phases. Imports none of them."""
