// The references: which of their words are covered, could be, or are out of reach.

function referenceColumn(text) {
  const { totals, references } = shown.judged;
  const components = shown.setting.components;
  const approximate = shown.component && shown.component.size === undefined && shown.component.skip === undefined;
  const heading = totals && !approximate ? `covered ${totals[0]}, left ${totals[1]}, out of reach ${totals[2]}` : "";
  const choice =
    components.length > 1
      ? el(
          "select",
          { "aria-label": "n-grams", id: "component", onchange: (event) => choose(components[event.target.value]) },
          components.map((each, place) =>
            el("option", { value: place, selected: each === shown.component }, each.name),
          ),
        )
      : null;
  const blocks = text.references.map((reference, number) =>
    referenceBlock(text, reference, number, references[number]),
  );
  return el(
    "section",
    { class: "column references", "aria-labelledby": "references-heading", tabindex: 0 },
    el(
      "h3",
      { id: "references-heading" },
      text.references.length === 1 ? "Reference " : "References ",
      el("small", { id: "totals" }, heading),
      choice,
    ),
    approximate
      ? el(
          "p",
          { class: "note" },
          `${shown.component.name} is not made of neighbouring words: single words in common are marked.`,
        )
      : null,
    blocks,
  );
}

function choose(component) {
  shown.component = component;
  goTo(shown.topic, shown.strategy, shown.asked, "#component");
}

const STATES = ["covered", "left", "out"];

function referenceBlock(text, reference, number, judged) {
  const whole = !shown.setting.apart;
  let first = 0;
  const sentences = reference.map((sentence, place) => {
    const [, pieces, tokens] = sentence;
    const part = whole ? 0 : place;
    const start = whole ? first : 0;
    first += tokens.length;
    const length = whole ? reference.reduce((sum, each) => sum + each[2].length, 0) : tokens.length;
    const states = judged ? tokenStates(judged[part] ?? [], length) : null;
    const words = pieces.map((piece, at) => {
      if (!at) return piece;
      const [word, rest] = wordOf(piece);
      const state = states ? STATES[states[start + at - 1]] : "uncounted";
      const span = el("span", { class: `word ${state}`, "data-token": tokens[at - 1], tabindex: -1 }, word);
      shown.words.set(`${number}/${part}/${start + at - 1}`, span);
      return [span, rest];
    });
    return el("li", {}, el("bdi", {}, words.flat()));
  });
  const title =
    text.references.length > 1
      ? el(
          "h4",
          {},
          `Reference ${number + 1}`,
          judged || !shown.judged.totals ? null : el("small", {}, " not the one that counts"),
        )
      : null;
  return el("div", { class: "reference" }, title, el("ul", {}, sentences));
}
