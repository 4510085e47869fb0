"""What GitHub shows of a run: annotations at the tests' lines, and a summary on the page of the workflow's run."""
