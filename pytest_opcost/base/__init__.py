"""What head is judged against instead of stored baselines: another commit's tree, or another interpreter."""

from pytest_opcost.base.sides import Base, opened

__all__ = ["Base", "opened"]
