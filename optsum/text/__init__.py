"""Convert sentences to tokens: tokenizers, stems, stop words, and lengths in words, sentences or characters."""
