"""A Chrome trace, as torch's profilers have written them since torch 1.0 -> a profile."""
