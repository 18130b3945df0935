"""Problems that strategies search, and the formulations that make them from topics."""
