"""Plays the reference's recorded cases against this product: `python -m tests.conformance.run FOLDER`."""
