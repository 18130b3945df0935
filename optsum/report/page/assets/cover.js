// Covers: the alternatives of each abstract sentence, with lines to the sentences of the one that is chosen; with a
// budget the claims that the selection supports, those that it misses, and those that nothing supports.

const CLAIMS = {
  covered: { sign: "● ", words: "supported" },
  left: { sign: "○ ", words: "missed" },
  out: { sign: "", words: "no passage supports it" },
};

function coverColumn(text) {
  const chosen = chosenOf(shown.selection, text);
  const budget = !shown.setting.minimizes;
  const sentences = text.references[0] ?? [];
  const counts = { covered: 0, left: 0, out: 0 };
  const items = text.cover.map((alternatives, number) => {
    const held = heldBy(text, alternatives, chosen);
    const state = held >= 0 ? "covered" : alternatives.length ? "left" : "out";
    counts[state] += 1;
    const sets = alternatives.map((each, place) =>
      el(
        "li",
        { class: place === held ? "set held" : "set" },
        el("span", { "aria-hidden": "true" }, place === held ? "● " : "○ "),
        each.join(", "),
        place === held ? el("span", { class: "sr" }, " (chosen)") : null,
      ),
    );
    const needed = held < 0 ? "" : alternatives[held].map((name) => numberOf(text, name)).join(" ");
    const name = budget ? `claim ${text.claims[number]}` : `abstract sentence ${number + 1}`;
    const words = sentences[number]?.[1].join("");
    const worth = text.weights && text.weights[number] !== 1 ? ` worth ${text.weights[number]}` : "";
    return el(
      "li",
      { class: budget ? `abstract ${state}` : "abstract", "data-needs": needed, "data-claim": number, tabindex: -1 },
      budget ? el("span", { class: "sign", "aria-hidden": "true" }, CLAIMS[state].sign) : null,
      el("bdi", {}, words ?? name),
      budget && worth ? el("small", {}, worth) : null,
      el("ul", { class: "sets", "aria-label": budget ? "what supports it" : "alternatives" }, sets),
      alternatives.length ? null : el("span", { class: "note" }, budget ? CLAIMS.out.words : "no alternative"),
      budget && held < 0 && alternatives.length ? el("span", { class: "note" }, CLAIMS.left.words) : null,
    );
  });
  const told = budget
    ? `supported ${counts.covered}, missed ${counts.left}, by no passage ${counts.out}`
    : counted(text.cover.length, "sentence");
  return el(
    "section",
    { class: "column references", "aria-labelledby": "references-heading", tabindex: 0 },
    el("h3", { id: "references-heading" }, budget ? "Claims " : "Abstract ", el("small", { id: "totals" }, told)),
    el("ol", { class: "abstracts" }, items),
  );
}

/** Return which alternative is chosen whole; -1 if none is. */
const heldBy = (text, alternatives, chosen) =>
  alternatives.findIndex((each) => each.every((name) => chosen.has(numberOf(text, name))));

/** Mark the claims, or abstract sentences, that a source sentence supports, by itself or with others. */
function markSupported(root, text, number) {
  unmark(root);
  root.querySelector("svg.lines")?.remove();
  root.querySelector(`[data-sentence="${number}"]`).classList.add("at");
  const held = text.cover.map((sets) => sets.filter((each) => each.some((name) => numberOf(text, name) === number)));
  const alone = held.filter((sets) => sets.some((each) => each.length === 1)).length;
  const all = held.filter((sets) => sets.length).length;
  held.forEach((sets, claim) => {
    if (sets.length) root.querySelector(`[data-claim="${claim}"]`).classList.add("has");
  });
  const what = shown.setting.minimizes ? "abstract sentence" : "claim";
  say(`supports ${counted(alone, what)}${all > alone ? ` and with others ${all - alone} more` : ""}`);
}

const numberOf = (text, name) => (text.names ? text.names.indexOf(name) : name);

/** Mark the source sentences that an abstract sentence is made from, and draw lines to those in sight. */
function markNeeds(root, item) {
  unmark(root);
  root.querySelector("svg.lines")?.remove();
  const numbers = item.dataset.needs.split(" ").filter(Boolean);
  const sentences = numbers.map((number) => root.querySelector(`[data-sentence="${number}"]`)).filter(Boolean);
  item.classList.add("at");
  for (const sentence of sentences) sentence.classList.add("has");
  say(
    numbers.length
      ? `${shown.setting.minimizes ? "made from" : "supported by"} ${counted(numbers.length, "source sentence")}: ${numbers.join(", ")}`
      : shown.setting.minimizes
        ? "no alternative is chosen whole"
        : "the selection does not support it",
  );
  const frame = root.getBoundingClientRect();
  const column = root.querySelector(".source").getBoundingClientRect();
  const stacked = column.right > root.querySelector(".references").getBoundingClientRect().left + 8;
  if (stacked) return; // there is nothing between
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "lines");
  svg.setAttribute("aria-hidden", "true");
  const to = item.getBoundingClientRect();
  for (const sentence of sentences) {
    const from = sentence.getBoundingClientRect();
    const y = Math.min(Math.max(from.top + from.height / 2, column.top), column.bottom);
    const [x1, y1, x2, y2] = [from.right - frame.left, y - frame.top, to.left - frame.left, to.top + 12 - frame.top];
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`);
    svg.append(path);
  }
  root.append(svg);
}
