"""Results -> what people and programs read: one file for each form; words and pictures only, no decisions."""
