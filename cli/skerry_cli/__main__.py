"""`python -m skerry_cli`, and the `skerry` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line; ends the process."""
    from skerry_cli.app import app

    app(prog_name="skerry")


if __name__ == "__main__":
    main()
