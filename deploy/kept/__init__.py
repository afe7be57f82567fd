"""What is stored, for how long. The periods are the constants the code itself uses."""
