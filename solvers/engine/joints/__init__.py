"""The exact engine for everything that the normal form holds: joints, parents, minimum lengths, negative terms."""
