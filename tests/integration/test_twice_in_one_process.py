"""`pytest.main()` twice in one process: the second run knows nothing of the first one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .project import told

if TYPE_CHECKING:
    from .project import Project


def _main(suite: Project, *runs: list[str]) -> pytest.RunResult:
    """These runs one after the other in one fresh process, which prints their exit statuses."""
    suite.write("run.py", f"import pytest\n\nprint('STATUS', *[int(pytest.main(args)) for args in {runs!r}])\n")
    return suite.pytester.run(sys.executable, "run.py")


def test_record_then_compare(suite: Project) -> None:
    result = _main(suite, ["--opcost", "--opcost-rounds=4"], ["--opcost"], [], ["--opcost", "--opcost-top=0"])

    assert result.outlines[-1] == "STATUS 0 0 0 4"
    assert told(result).count("opcost: 1 recorded") == 1
    assert told(result).count("opcost: 1 passed") == 1
    assert "1 skipped" in result.stdout.str()
    assert result.stderr.str().count("--opcost-top='0' is not valid.") == 1
    assert len(suite.files()) == 1


def test_a_device_of_one_run_is_none_of_the_next(suite: Project) -> None:
    result = _main(
        suite, ["--opcost", "--device=cuda", "--opcost-rounds=0"], ["--opcost", "--opcost-rounds=0"], ["--device=cuda"]
    )

    assert result.outlines[-1] == "STATUS 0 0 0"
    assert sorted(path.parent.name.partition("-")[0] for path in suite.files()) == ["cpu", "cuda"]


@pytest.mark.parametrize("args", ["'test_model.py'", "Path('test_model.py'), '-q'", "'--opcost', Path('.')"])
def test_a_script_may_name_paths(suite: Project, args: str) -> None:
    suite.write("run.py", f"from pathlib import Path\n\nimport pytest\n\nprint('STATUS', int(pytest.main([{args}])))\n")

    result = suite.pytester.run(sys.executable, "run.py")

    assert result.outlines[-1] == "STATUS 0"
    assert result.stderr.str() == ""
