"""The evaluation of Text Summarization Challenge 3 (Hirao et al. 2004)."""
