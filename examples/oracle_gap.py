"""The gap to the oracle as a metric for `evaluate`: the share of the oracle's score that a system reaches.

    gap = evaluate.load("examples/oracle_gap.py")
    gap.compute(predictions=[...], references=[...], documents=[...], max_length=100)

Without the package `evaluate`, with texts of its own: python oracle_gap.py
"""

from typing import Any

import optsum

try:
    import datasets
    import evaluate
except ImportError:  # the computation needs neither package
    pass
else:

    class OracleGap(evaluate.Metric):  # type: ignore[misc]
        """The same for ``evaluate.load``."""

        def _info(self) -> Any:
            texts = {name: datasets.Value("string") for name in ("predictions", "references", "documents")}
            return evaluate.MetricInfo(
                description="Share of the best possible extract's ROUGE recall that a summary reaches.",
                citation="",
                inputs_description="predictions, references and documents: a text each; options of optsum.solve",
                features=datasets.Features(texts),
            )

        def _compute(self, predictions: Any, references: Any, documents: Any, **options: Any) -> Any:
            return oracle_gap(predictions, references, documents, **options)


def oracle_gap(
    predictions: list[str], references: list[str], documents: list[str], **options: Any
) -> dict[str, float | list[float | None]]:
    """Return mean recall of systems and oracles, the share that systems reach, and that of each text.

    Options are those of `optsum.solve`; the summary is cut at ``max_length`` words, as the oracle is.
    """
    options = {"metric": "rouge-1", **options}
    words = options.get("max_length")
    shares: list[float | None] = []
    systems = oracles = 0.0
    for number, (summary, reference, document) in enumerate(zip(predictions, references, documents, strict=True)):
        topic = {"id": str(number), "documents": [document], "references": [reference]}
        best = optsum.solve(optsum.as_topic(topic, flat="texts"), **options).objective or 0.0
        reached = optsum.rouge(summary, [reference], metric=options["metric"], max_words=words).recall
        shares.append(reached / best if best else None)
        systems, oracles = systems + reached, oracles + best
    number = max(len(shares), 1)
    return {
        "system": systems / number,
        "oracle": oracles / number,
        "share": systems / oracles if oracles else 0.0,
        "shares": shares,
    }


if __name__ == "__main__":
    text = "The bridge closed on Monday. Repairs take 14 months. Shop owners are angry. It is 90 years old."
    summary = "The bridge closed for 14 months and shop owners are angry."
    found = oracle_gap(["The bridge closed on Monday."], [summary], [text], max_length=10)
    print(f"system {found['system']:.4f}, oracle {found['oracle']:.4f}, share {found['share']:.4f}")
