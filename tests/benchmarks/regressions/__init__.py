"""A catalogue of realistic regressions and of harmless refactorings, each a small change of a model or its settings."""
