"""The first thing that runs in the process of a round: `python bootstrap.py REQUEST`, in whatever interpreter it is.

It loads the very package that it is a file of, from its folder: another version may be installed there, or none. Plain
enough for old Pythons, so that they can say what is wrong. Loaded by processes that `multiprocessing` spawns, too.
"""

import importlib.util
import json
import os
import sys

PACKAGE = "pytest_opcost"
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load_package() -> None:
    """Import the package that this file belongs to, before another one of its name can be found."""
    if PACKAGE in sys.modules:
        return
    init = os.path.join(FOLDER, "__init__.py")
    spec = importlib.util.spec_from_file_location(PACKAGE, init, submodule_search_locations=[FOLDER])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # pytest warns of plugins that were imported before it could rewrite their assertions, unless they say this.
    module.__doc__ = f"{module.__doc__}\n\nPYTEST_DONT_REWRITE"


def main(path: str) -> int:
    """Run pytest as the request says; its exit status. Ends with a message where this interpreter cannot."""
    if sys.version_info < (3, 10):  # noqa: UP036  # the interpreter of the other side may be any
        sys.exit(f"Python {sys.version.split()[0]} is too old: pytest-opcost needs 3.10 or newer.")
    with open(path, encoding="ascii") as file:
        request = json.load(file)
    set_path(request["import_paths"], request["moved"])
    try:
        import pytest
    except ModuleNotFoundError as error:
        sys.exit(f"No module named {error.name!r} in this interpreter: install pytest 8 or newer, and torch, there.")
    if int(pytest.__version__.partition(".")[0]) < 8:
        sys.exit(f"pytest {pytest.__version__} is too old: pytest-opcost needs 8 or newer.")
    load_package()
    from pytest_opcost.rounds.child import run

    return run(request)


def set_path(first: "list[str]", moved: "list[str] | None") -> None:
    """`sys.path` without this file's own folder, with the given ones first, and in the tree that is measured."""
    own = os.path.dirname(os.path.abspath(__file__))
    rest = [entry for entry in sys.path if os.path.abspath(entry) != own and entry not in first]
    if moved is not None:
        rest = [in_tree(entry, *moved) for entry in rest]
    sys.path[:] = [*first, *rest]


def in_tree(path: str, old: str, new: str) -> str:
    """The same path in the tree that stands in for the old one, if it exists there."""
    if path != old and not path.startswith(old + os.sep):
        return path
    there = new + path[len(old) :]
    return there if os.path.exists(there) else path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
if __name__ == "__mp_main__":
    load_package()
