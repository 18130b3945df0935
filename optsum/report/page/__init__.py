"""The page of `optsum report`: one HTML file that shows results topic by topic, without a server."""
