"""Makes crds/, the chart skerry-crds and docs/reference/api.md from the models; --check only compares."""

from __future__ import annotations

import sys

from skerry_gen.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
