// Covers: the alternatives of each abstract sentence, with lines to the sentences of the one that is chosen.

function coverColumn(text) {
  const chosen = chosenOf(shown.selection, text);
  const sentences = text.references[0] ?? [];
  const items = text.cover.map((alternatives, number) => {
    const held = alternatives.findIndex((each) => each.every((name) => chosen.has(numberOf(text, name))));
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
    const words = sentences[number]?.[1].join("") ?? `abstract sentence ${number + 1}`;
    return el(
      "li",
      { class: "abstract", "data-needs": needed, tabindex: -1 },
      el("bdi", {}, words),
      el("ul", { class: "sets", "aria-label": "alternatives" }, sets),
      alternatives.length ? null : el("span", { class: "note" }, "no alternative"),
    );
  });
  return el(
    "section",
    { class: "column references", "aria-labelledby": "references-heading", tabindex: 0 },
    el("h3", { id: "references-heading" }, "Abstract ", el("small", {}, counted(text.cover.length, "sentence"))),
    el("ol", { class: "abstracts" }, items),
  );
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
      ? `made from ${counted(numbers.length, "source sentence")}: ${numbers.join(", ")}`
      : "no alternative is chosen whole",
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
