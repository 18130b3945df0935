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
    el("div", { class: "reading" }, summaryPanel(summaryOf(text)), sourceColumn(text)),
    shown.setting.texts ? (text.cover ? coverColumn(text) : referenceColumn(text)) : null,
  );
  listen(columns);
  return columns;
}

/** Return the sentences on show as [number, text]: of compressions the parts that are kept. */
function summaryOf(text) {
  if (!shown.selection) return [];
  return [...chosenOf(shown.selection, text).entries()]
    .filter(([number]) => text.sentences[number])
    .sort(([one], [other]) => one - other)
    .map(([number, parts]) => {
      const [, pieces, , owners] = text.sentences[number];
      const kept = owners && parts ? pieces.filter((_, place) => parts.has(owners[place])) : pieces;
      return [number, kept.join("").trim()];
    });
}

/** Return the summary as text, each sentence with a way to where it stands. */
function summaryPanel(sentences) {
  if (!sentences.length) return null;
  const items = sentences.map(([number, words]) =>
    el(
      "li",
      {},
      number === null
        ? null
        : el(
            "button",
            { type: "button", class: "to", "data-to": number, "aria-label": `to sentence ${nameOf(number)}` },
            nameOf(number),
          ),
      el("bdi", {}, unnamed(number, words)),
    ),
  );
  const all = sentences.map(([, words]) => words).join("\n");
  const panel = el(
    "section",
    { class: "summary", "aria-labelledby": "summary-heading" },
    el(
      "h3",
      { id: "summary-heading" },
      shown.setting.texts ? "Summary " : "Selection ",
      el("small", {}, counted(sentences.length, nounOf())),
      el("button", { type: "button", id: "copy", onclick: (event) => copy(all, event.currentTarget) }, "copy"),
    ),
    el("ol", {}, items),
  );
  panel.addEventListener("click", (event) => {
    const asked = event.target.closest("[data-to]");
    if (asked) toSentence(document.querySelector(`[data-sentence="${asked.dataset.to}"]`));
  });
  return panel;
}

const nounOf = () => (shown.setting.texts ? "sentence" : "unit");

/** Return words; nothing where they are only the number that stands beside them. */
const unnamed = (number, words) => (!shown.setting.texts && words === nameOf(number) ? "" : words);

const nameOf = (number) => String(shown.text?.names ? shown.text.names[number] : number);

/** Show a sentence of the source, whose column scrolls by itself where the columns stand side by side. */
function toSentence(item) {
  if (!item) return;
  for (let fold = item.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "center" });
}

/** Begin at the first sentence that is chosen; where the columns are stacked the summary stands first anyway. */
function toFirst(root) {
  const column = root.querySelector(".source");
  const first = column?.querySelector(".chosen, .only");
  if (!first || column.scrollHeight <= column.clientHeight) return;
  const above = first.getBoundingClientRect().top - column.getBoundingClientRect().top;
  column.scrollTop += Math.max(0, above - column.clientHeight / 4);
}

/** Go to the next chosen sentence, or to the one before. */
function toChosen(step) {
  const all = [...document.querySelectorAll(".source .chosen, .source .only")];
  if (!all.length) return;
  const now = Number(document.activeElement?.dataset?.sentence ?? -1);
  const numbers = all.map((each) => Number(each.dataset.sentence));
  const after = step > 0 ? numbers.findIndex((each) => each > now) : numbers.findLastIndex((each) => each < now);
  toSentence(all[after >= 0 ? after : step > 0 ? 0 : all.length - 1]);
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
    const items = folded(
      text.sentences
        .slice(first, first + count)
        .map((_, offset) => sentenceItem(text, first + offset, chosen, oracle, shares)),
    );
    first += count;
    return [
      documents.length > 1 ? el("h4", {}, `Document ${place + 1}`) : null,
      el("ol", { class: "sentences" }, items),
    ];
  });
  const words = text.sentences.length ? counted(text.sentences.length, nounOf()) : "";
  return el(
    "section",
    { class: "column source", "aria-labelledby": "source-heading", tabindex: 0 },
    el("h3", { id: "source-heading" }, shown.setting.texts ? "Source " : "Units ", el("small", {}, words)),
    shown.setting.texts ? el("button", { type: "button", class: "jump", onclick: jump }, jumpsTo(text)) : null,
    lists,
  );
}

const RUN = 12;
const AROUND = 2;

/** Return items with long runs of those that nobody has chosen folded, but for some around each that is chosen. */
function folded(items) {
  const found = [];
  let run = [];
  const close = (last) => {
    const before = found.length ? AROUND : 0;
    const after = last ? 0 : AROUND;
    if (run.length - before - after < RUN || (last && !found.length)) found.push(...run);
    else {
      const inside = run.slice(before, run.length - after);
      const [one, other] = [inside[0], inside.at(-1)].map((each) => nameOf(Number(each.dataset.sentence)));
      const title = el("summary", {}, `${counted(inside.length, nounOf())}, ${one} to ${other}`);
      found.push(...run.slice(0, before));
      found.push(el("li", { class: "fold" }, el("details", {}, title, el("ol", { class: "sentences" }, inside))));
      found.push(...run.slice(run.length - after));
    }
    run = [];
  };
  for (const item of items) {
    if (item.classList.contains("none")) run.push(item);
    else {
      close(false);
      found.push(item);
    }
  }
  close(true);
  return found;
}

function jumpsTo(text) {
  if (!text.cover) return "to the references ↓";
  return shown.setting.minimizes ? "to the cover ↓" : "to the claims ↓";
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
    el("bdi", { class: "text" }, unnamed(number, sentence[1].join("")) && piecesOf(sentence, parts)),
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
