// The columns of a topic and their legend; the source: which sentences are chosen, by whom, and in how many optima.

function columnsOf(text) {
  shown.words = new Map();
  const only = shown.setting.best ? shown.view.results[shown.strategy]?.reference : undefined;
  shown.judged = shown.component
    ? judge(text, shown.setting, shown.component, shown.selection, only)
    : { references: [], totals: null };
  const columns = el(
    "div",
    { class: "columns" },
    sourceColumn(text),
    text.cover ? coverColumn(text) : referenceColumn(text),
  );
  listen(columns);
  return el("div", {}, legend(text), columns);
}

function legend(text) {
  const { selection, oracle, isOracle } = shown;
  if (!selection) return null;
  const sample = (kind, words) =>
    el("li", {}, el("span", { class: `sample ${kind}`, "aria-hidden": "true" }, KINDS[kind]?.sign ?? ""), words);
  const name = data.strategies[shown.strategy].name;
  const items =
    isOracle || !oracle
      ? [sample("chosen", "chosen")]
      : [
          sample("chosen", "chosen by both"),
          sample("missed", `oracle only, missed by ${name}`),
          sample("only", `${name} only`),
        ];
  if (text.sentences.some((sentence) => sentence[3]) && !isOracle)
    items.push(sample("lost", "part in the oracle only"), sample("kept", `part in ${name} only`));
  if (shown.view.optima?.shares)
    items.push(sample("share", `share of the ${shown.view.optima.near ? "selections" : "optima"} that hold it`));
  if (!text.cover && shown.component)
    items.push(
      sample("covered", "covered"),
      sample("left", "in the source, not covered"),
      sample("out", "in no source sentence"),
    );
  return el("ul", { class: "legend", "aria-label": "legend" }, items);
}

const KINDS = {
  chosen: { sign: "●", words: "chosen" },
  missed: { sign: "○", words: "in the optimum, missed" },
  only: { sign: "◐", words: "chosen, not in the optimum" },
  none: { sign: "", words: "" },
};

function sourceColumn(text) {
  const chosen = chosenOf(shown.selection, text);
  const oracle = shown.oracle === null ? chosen : chosenOf(shown.oracle, text);
  const shares = sharesOf(text);
  let first = 0;
  const documents = text.documents.length ? text.documents : [text.sentences.length];
  const lists = documents.flatMap((count, place) => {
    const items = text.sentences
      .slice(first, first + count)
      .map((_, offset) => sentenceItem(text, first + offset, chosen, oracle, shares));
    first += count;
    return [
      documents.length > 1 ? el("h4", {}, `Document ${place + 1}`) : null,
      el("ol", { class: "sentences" }, items),
    ];
  });
  const words = text.sentences.length ? counted(text.sentences.length, "sentence") : "";
  return el(
    "section",
    { class: "column source", "aria-labelledby": "source-heading", tabindex: 0 },
    el("h3", { id: "source-heading" }, "Source ", el("small", {}, words)),
    el("button", { type: "button", class: "jump", onclick: jump }, text.cover ? "to the cover ↓" : "to the references ↓"),
    lists,
  );
}

/** Go to the other column, where it stands below the source. */
function jump() {
  const other = document.querySelector(".columns > :last-child");
  other.scrollIntoView();
  other.focus({ preventScroll: true });
}

/** Return the share of the optima that hold each sentence: of its parts the largest. */
function sharesOf(text) {
  const shares = new Map();
  for (const [unit, share] of shown.view.optima?.shares ?? []) {
    const number = Array.isArray(unit) ? unit[0] : text.names ? text.names.indexOf(unit) : unit;
    shares.set(number, Math.max(share, shares.get(number) ?? 0));
  }
  return shown.view.optima?.shares ? shares : null;
}

function sentenceItem(text, number, chosen, oracle, shares) {
  const sentence = text.sentences[number];
  const kind = chosen.has(number) ? (oracle.has(number) ? "chosen" : "only") : oracle.has(number) ? "missed" : "none";
  const { sign, words } = KINDS[kind];
  const margin = el(
    "span",
    { class: "margin" },
    el("span", { class: "number" }, text.names ? String(text.names[number]) : String(number)),
    el("span", { class: "length" }, String(sentence[0])),
  );
  const told = [words];
  if (shares) {
    const share = shares.get(number) ?? 0;
    const bar = el("span", { class: "share" }, el("i"));
    bar.firstChild.style.height = `${100 * share}%`;
    const count = Number(shown.view.optima.count);
    const all = shown.view.optima.near ? `selections ${shown.view.optima.near}` : count === 1 ? "optimum" : "optima";
    const held =
      count < 1e6
        ? `in ${Math.round(share * count)} of ${count} ${all}`
        : `in ${(100 * share).toFixed(1)} % of the ${all}`;
    bar.setAttribute("title", held);
    told.push(held);
    margin.append(bar);
  }
  const parts = { own: chosen.get(number), oracle: oracle.get(number) };
  return el(
    "li",
    { class: `sentence ${kind}`, "data-sentence": number, tabindex: -1 },
    margin,
    el("span", { class: "sign", "aria-hidden": "true" }, sign),
    el("bdi", { class: "text" }, piecesOf(sentence, parts)),
    el("span", { class: "sr" }, told.filter(Boolean).join(", ")),
  );
}

/** Return the text of a sentence: tokens that a reference has can be pointed at, dropped parts are struck through. */
function piecesOf(sentence, parts) {
  const [, pieces, tokens, owners] = sentence;
  const split = pieces.map((piece, place) => {
    const token = place ? tokens[place - 1] : -1;
    if (token < 0) return piece;
    const [word, rest] = wordOf(piece);
    return [el("span", { class: "word", "data-token": token, "data-place": place - 1 }, word), rest];
  });
  if (!owners) return split.flat();
  const groups = [];
  split.forEach((piece, place) => {
    const last = groups.at(-1);
    if (last && last.owner === owners[place]) last.pieces.push(piece);
    else groups.push({ owner: owners[place], pieces: [piece] });
  });
  return groups
    .filter(({ pieces: inside }) => inside.flat().some((piece) => piece !== ""))
    .map(({ owner, pieces: inside }) => chunkOf(owner, inside.flat(), parts));
}

/** Return a part of a sentence: what is not kept is struck through, and underlined if the oracle keeps it. */
function chunkOf(owner, words, { own, oracle }) {
  if (!own && !oracle) return el("span", { class: "chunk" }, words);
  if (!own || !oracle) return el((own ?? oracle).has(owner) ? "span" : "del", { class: "chunk" }, words);
  const [kept, held] = [own.has(owner), oracle.has(owner)];
  const told =
    kept === held ? null : el("span", { class: "sr" }, kept ? " (not in the optimum) " : " (in the optimum) ");
  return el(
    kept ? "span" : "del",
    { class: kept === held ? "chunk" : kept ? "chunk kept" : "chunk lost" },
    words,
    told,
  );
}

/** Split a piece into the word that it begins with and what follows. */
function wordOf(piece) {
  const blank = piece.search(/\s/u);
  const head = blank < 0 ? piece : piece.slice(0, blank);
  const word = head.replace(/[^\p{L}\p{N}\p{M}]+$/u, "") || head;
  return [word, piece.slice(word.length)];
}
