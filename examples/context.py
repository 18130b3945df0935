"""Compare contexts chosen by simple rules with the best one within a budget: python context.py [TOPICS]."""

import re
import sys
from pathlib import Path

import optsum

NEWS = Path(__file__).parent / "data" / "news.jsonl"
BUDGET = 80


def tokens(text: str | tuple[str, ...]) -> list[str]:
    """Stand in for a model's tokenizer, such as tiktoken:cl100k_base."""
    return re.findall(r"\w{1,6}|[^\w\s]", text if isinstance(text, str) else " ".join(text))


# Passages are sentences of the documents, claims those of the references; words decide which passages support a claim.
topics = optsum.read_topics(sys.argv[1] if len(sys.argv) > 1 else NEWS)
questions = [question for question in optsum.align(topics) if isinstance(question, optsum.Topic)]


def packed(question: optsum.Topic, order: list[int]) -> list[int]:
    """Take passages in an order while they fit."""
    taken, used = [], 0
    for passage in order:
        length = len(tokens(question.sentences[passage]))
        if used + length <= BUDGET:
            taken.append(passage)
            used += length
    return taken


choices = []
for question in questions:
    places = list(range(len(question.sentences)))
    shortest = sorted(places, key=lambda place: len(tokens(question.sentences[place])))
    for name, order in (("in order", places), ("shortest first", shortest)):
        choices.append({"topic_id": question.id, "system": name, "selection": packed(question, order)})

print(optsum.score(questions, choices, formulation="cover", max_length=BUDGET, length_tokenizer=tokens))
print()
for question in questions[:3]:
    best = optsum.context(question, max_length=BUDGET, length_tokenizer=tokens)
    greedy = best.greedy["numerator"] if best.greedy else None
    print(f"{best.id}: {best.numerator} of {best.denominator} claims, greedy {greedy}, {best.status}")
