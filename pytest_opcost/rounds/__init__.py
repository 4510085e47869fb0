"""Rounds: fresh processes that run given tests of the user's suite again and send home what they measured."""

from pytest_opcost.rounds.found import Round
from pytest_opcost.rounds.order import in_turns
from pytest_opcost.rounds.round import Start, run_together
from pytest_opcost.rounds.side import Side, head_side

__all__ = ["Round", "Side", "Start", "head_side", "in_turns", "run_together"]
