"""`python -m skerry_devcluster`."""

import sys

from skerry_devcluster.cli import main

sys.exit(main())
