"""What can go wrong, in words for the user: what was found, what was expected, the command that mends it."""

from __future__ import annotations


class OpcostError(Exception):
    """The parent of every error that this package raises on purpose."""


class OptionError(OpcostError):
    """An option, ini value, marker argument or `check` argument is not valid."""


class DeviceError(OpcostError):
    """A device was asked for that is not there, or that cannot be profiled."""


class DataError(OpcostError):
    """The data set cannot be read."""


class MeasureError(OpcostError):
    """A step could not be measured; nothing was recorded and no baseline was touched."""


class BaselineError(OpcostError):
    """A baseline is missing, or its file is damaged or cannot be read or written; none was changed."""


class InputError(OpcostError):
    """A file that was to be imported is damaged, or nothing that can be read; nothing was written."""


class RoundError(OpcostError):
    """A fresh process that was to measure tests again could not be run, or ended before its first test."""


class TurnError(OpcostError):
    """Another process measures on the same device, and waiting for it was refused; or no turns can be taken."""


class BaseError(OpcostError):
    """What head should be judged against is not there: no such commit, checkout or interpreter; nothing was changed."""


class ReportError(OpcostError):
    """A report could not be written, or what it goes on from is damaged; what was there before is untouched."""


class ResultsError(OpcostError):
    """A file of results, see --opcost-json, is damaged or cannot be read; it was left as it is."""


class DriftError(OpcostError, AssertionError):
    """A check failed: the costs or the exact facts of a step moved away from its baseline."""

    #: The name that users import it by, in tracebacks too.
    __module__ = "pytest_opcost"
