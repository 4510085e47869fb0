"""Training one of the Lab's networks with the Lab's recipe, from seeded weights to the record of its course."""

from pytest_opcost.workloads.training.course import EPOCHS, TrainingPlan, default_epochs, steps_of, train
from pytest_opcost.workloads.training.evaluation import evaluate

__all__ = ["EPOCHS", "TrainingPlan", "default_epochs", "evaluate", "steps_of", "train"]
