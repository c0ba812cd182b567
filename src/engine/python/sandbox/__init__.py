"""What confines a Python worker: one module for each layer, installed by layers.py."""
