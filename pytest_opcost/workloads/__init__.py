"""What the Lab trains and profiles: its two networks, the MNIST images and the steps that tests measure."""
