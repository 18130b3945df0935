"""From sentences to tokens.

Tokenizers, stems, stop words, and the length of a text in words, sentences or characters.
"""
