"""Measurements on a whole cluster: `make bench`. Judged as counts and as ratios within one run, never as seconds."""
