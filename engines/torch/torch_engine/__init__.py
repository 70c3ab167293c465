"""The second engine: trains through the PyTorch that this machine has and reports in Lockstep's events."""
