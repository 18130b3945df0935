"""Integer programs of instances in the normal form, their linear relaxations, and bounds proven in integers."""
