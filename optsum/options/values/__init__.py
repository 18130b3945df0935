"""How single options are written: amounts, side constraints, other libraries' names, and what only a solver knows."""
