"""Training labels: which sentences of each topic an oracle takes."""
