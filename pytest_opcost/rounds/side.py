"""Where a round runs: the user's own tree, or another one that stands in for it."""

from __future__ import annotations

import re
import shlex
import sys
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.rounds.bootstrap import in_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest


@dataclass(frozen=True, slots=True)
class Side:
    """An interpreter, a tree of files, and how pytest was called there.

    `root` is pytest's rootdir and `directory` where it is called, with `args`; `import_paths` are put first on
    `sys.path`. `moved` is set where this tree stands in for another one: that one's top folder, and this one's.
    `plugin` is the name that this plugin has among pytest's, `seed` what pytest-randomly drew.
    """

    name: str
    python: Path
    root: Path
    directory: Path
    import_paths: tuple[str, ...] = ()
    inifile: Path | None = None
    args: tuple[str, ...] = ()
    moved: tuple[Path, Path] | None = None
    plugin: str = "opcost"
    seed: int | None = None

    def in_tree(
        self, name: str, old: Path, new: Path, *, python: Path | None = None, import_paths: Iterable[Path | str] = ()
    ) -> Side:
        """This side in the tree `new`, which has what lies below `old` here; paths that are not there stay as they are.

        `import_paths` come before those that the run itself has below `old`.
        """

        def there(path: Path) -> Path:
            return Path(in_tree(str(path), str(old), str(new)))

        directory, inifile = there(self.directory), self.inifile and there(self.inifile)
        root = new / self.root.relative_to(old) if self.root.is_relative_to(old) else self.root
        paths = [*map(str, import_paths), *(str(there(Path(path))) for path in self.import_paths)]
        return replace(
            self,
            name=name,
            python=python or self.python,
            root=root,
            directory=root if directory == self.directory else directory,
            import_paths=tuple(dict.fromkeys(paths)),
            inifile=None if inifile == self.inifile else inifile,
            args=tuple(_argument_in_tree(arg, str(old), str(new)) for arg in self.args),
            moved=(old, new),
        )

    def command(self, test: str) -> str:
        """How a person runs one test as a round does: another tree is gone by the time that this is read."""
        words = shlex.join([str(self.python), "-m", "pytest", test, "--opcost"])
        return f"in a checkout of it: {words}" if self.moved else f"cd {shlex.quote(str(self.root))} && {words}"


def head_side(config: pytest.Config) -> Side:
    """The side of the run itself: the user's tree as it is, by this interpreter, called as pytest was called.

    But for plugins that a script hands to `pytest.main` as objects, which no other process can have.
    """
    from pytest_opcost import plugin

    seed = config.getoption("randomly_seed", None)
    start = config.stash.get(plugin.START_PATH, None)
    return Side(
        name="head",
        python=Path(sys.executable),
        root=config.rootpath,
        directory=config.invocation_params.dir,
        import_paths=_own_paths(start or (), config),
        inifile=config.inipath,
        args=tuple(str(arg) for arg in config.invocation_params.args),
        plugin=config.pluginmanager.get_name(plugin) or "opcost",
        seed=seed if isinstance(seed, int) else None,
    )


def _own_paths(start: Iterable[str], config: pytest.Config) -> tuple[str, ...]:
    """What of `sys.path` is the project's own: the folder of `python -m pytest`, or of a script that calls pytest."""
    directory = config.invocation_params.dir
    installed = {Path(path) for path in sysconfig.get_paths().values()}
    paths = dict.fromkeys(directory / entry for entry in start)
    return tuple(
        str(path)
        for path in paths
        # There are entries that are no paths, which editable installations put there.
        if path.exists()
        and path not in installed
        and any(path.is_relative_to(own) for own in (config.rootpath, directory))
    )


def _argument_in_tree(arg: str, old: str, new: str) -> str:
    """An argument whose absolute paths, alone or behind a `=`, lie in another tree."""
    return re.sub(rf"(?:(?<==)|^){re.escape(old)}(?=/|:|$)[^:]*", lambda match: in_tree(match[0], old, new), arg)
