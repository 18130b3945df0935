"""Problems, which strategies search."""
