// A topic: its source and its references side by side, with what a strategy chose of the one and covers of the other.

const shown = { topic: -1, strategy: 0, optimum: 0 };

/** Show a topic; the address says which. Without an optimum it is the one that shares most with what the strategy chose. */
async function showTopic(topic, strategy, optimum, focus) {
  const view = await viewOf(topic);
  const changed = shown.topic !== topic;
  const line = data.topics[topic];
  const has = (place) => view.results[place]?.selection !== undefined;
  const fallback = data.strategies.findIndex((_, place) => has(place));
  const setting = data.settings[line.setting];
  if (changed) shown.component = setting.components[0];
  const listed = oraclesOf(view, line);
  Object.assign(shown, { topic, view, setting, text: view.text, listed });
  shown.strategy = strategy >= 0 && view.results[strategy] ? strategy : Math.max(0, fallback);
  shown.asked = optimum === null ? null : Math.min(optimum, Math.max(0, listed.length - 1));
  shown.optimum = shown.asked ?? nearest(listed, view.results[shown.strategy]?.selection);
  shown.oracle = listed[shown.optimum] ?? null;
  const exact = data.strategies[shown.strategy].exact && line.results[shown.strategy]?.[3] === 1;
  shown.isOracle = exact && shown.oracle !== null;
  shown.selection = shown.isOracle ? shown.oracle : (view.results[shown.strategy]?.selection ?? null);
  document.getElementById("overview").hidden = true;
  const root = document.getElementById("topic");
  root.hidden = false;
  document.title = `${line.id} – ${document.querySelector("h1").textContent}`;
  const scrolled = [...root.querySelectorAll(".column")].map((column) => column.scrollTop);
  root.replaceChildren(...topicParts(line));
  if (changed) scrollTo(0, 0);
  else [...root.querySelectorAll(".column")].forEach((column, place) => (column.scrollTop = scrolled[place] ?? 0));
  if (changed) root.querySelector("h2").focus({ preventScroll: true });
  else if (focus) root.querySelector(focus)?.focus();
}

/** Return the place of the selection that shares most with another one. */
function nearest(listed, selection) {
  const own = new Set((selection ?? []).map(String));
  const shared = listed.map((each) => each.filter((unit) => own.has(String(unit))).length / Math.max(1, own.size + each.length));
  return Math.max(0, shared.indexOf(Math.max(...shared)));
}

/** Return the optima that can be looked at, the one of the exact strategy's row first. */
function oraclesOf(view, line) {
  const own = data.strategies.map((_, place) => (line.results[place]?.[3] === 1 ? view.results[place]?.selection : undefined)).find(Boolean);
  const listed = view.optima?.listed ?? [];
  if (!own) return listed;
  const same = JSON.stringify(own);
  return [own, ...listed.filter((each) => JSON.stringify(each) !== same)];
}

function topicParts(line) {
  const { text } = shown;
  const place = table.order.indexOf(shown.topic);
  const go = (step) => (table.order.length ? addressOf(table.order[(place + step + table.order.length) % table.order.length], shown.strategy) : "#");
  return [
    el(
      "nav",
      { class: "crumbs", "aria-label": "topics" },
      el("a", { href: "#", id: "back" }, "← all topics"),
      place < 0 ? null : el("span", {}, `${place + 1} of ${table.order.length}`),
      el("a", { href: go(-1), id: "previous", "aria-label": "previous topic" }, "previous"),
      el("a", { href: go(1), id: "next", "aria-label": "next topic" }, "next"),
    ),
    el("h2", { tabindex: -1, id: "topic-heading" }, el("bdi", {}, line.id)),
    several ? el("p", { class: "note" }, shown.setting.label) : null,
    strategyTabs(line),
    el("div", { id: "panel", role: "tabpanel", "aria-labelledby": `tab-${shown.strategy}` }, valuesOf(line), text ? columnsOf(text) : summaryOnly()),
  ].filter(Boolean);
}

function strategyTabs(line) {
  const select = (strategy) => goTo(shown.topic, strategy, shown.asked, `#tab-${strategy}`);
  const tabs = data.strategies.map((strategy, place) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${place}`,
        "aria-selected": String(place === shown.strategy),
        "aria-controls": "panel",
        tabindex: place === shown.strategy ? 0 : -1,
        disabled: !shown.view.results[place],
        onclick: () => select(place),
      },
      keyOf(place),
      el("bdi", {}, strategy.name),
      line.results[place]?.[2] !== null && line.results[place]?.[2] !== undefined ? el("small", {}, fixed(line.results[place][2])) : null,
    ),
  );
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const open = tabs.filter((tab) => !tab.disabled);
    if (!step || !open.length) return;
    event.preventDefault();
    const next = open[(open.findIndex((tab) => tab.getAttribute("aria-selected") === "true") + step + open.length) % open.length];
    select(tabs.indexOf(next));
  };
  return el("div", { class: "tabs", role: "tablist", "aria-label": "strategies", onkeydown: move }, tabs);
}

/** Return the values of what is on show: fractions, lengths, and which optimum it is held against. */
function valuesOf(line) {
  const result = shown.view.results[shown.strategy] ?? {};
  const { setting } = shown;
  const parts = [];
  if (shown.view.optima?.near && !isOwn(result)) return el("div", { class: "values" }, el("p", {}, `a selection ${shown.view.optima.near} of the optimum ${objective(result.objective, setting)}`), optimumSwitch());
  if (result.error) return el("p", { class: "values error" }, el("strong", {}, "error: "), el("bdi", {}, result.error));
  if (result.objective === undefined) parts.push(el("strong", {}, line.results[shown.strategy]?.[0].replace("_", " ") ?? "–"));
  else parts.push(el("strong", {}, objective(result.objective, setting)));
  if (result.denominator) parts.push(`${result.numerator} of ${result.denominator} ${gramName(setting.components[0])}`);
  const ratio = line.results[shown.strategy]?.[2];
  if (line.results[shown.strategy]?.[3] === 1) parts.push(line.results[shown.strategy][0] === "optimal" ? "optimal, proven" : "reaches the optimum");
  else if (ratio !== null && ratio !== undefined) parts.push(`ratio ${line.proven ? "" : "≥ "}${fixed(ratio)}`);
  if (result.bound !== undefined && line.results[shown.strategy]?.[3] !== 1) parts.push(`proven bound ${objective(result.bound, setting)}`);
  if (result.termination) parts.push(`stopped by ${result.termination.replace("_", " ")}`);
  if (result.length !== undefined) parts.push(setting.unit ? `${result.length} ${setting.unit}` : `length ${result.length}`);
  parts.push(time(line.results[shown.strategy]?.[4]));
  return el("div", { class: "values" }, el("p", {}, parts.flatMap((part, place) => (place ? [" · ", part] : [part]))), optimumSwitch(), official(result));
}

function gramName(component) {
  if (component?.size === 1) return "words";
  if (component?.size === 2) return "bigrams";
  return component?.size ? `${component.size}-grams` : "n-grams";
}

function official(result) {
  const scores = Object.entries(result.rouge ?? {});
  if (!scores.length) return null;
  const texts = scores.map(([name, { recall, precision, f1 }]) => `${name.toUpperCase()} R ${fixed(recall)} P ${fixed(precision)} F ${fixed(f1)}`);
  return el("p", { class: "note" }, `official scores: ${texts.join(" · ")}`);
}

/** Return "optimum 1 of 20" with arrows; where none is proven nothing can be switched. */
function optimumSwitch() {
  const { listed, view, optimum } = shown;
  if (!listed.length) return null;
  const count = view.optima ? view.optima.count : String(listed.length);
  const complete = view.optima ? view.optima.complete : false;
  const all = view.optima ? `${complete ? "" : "at least "}${short(count)}` : "those found";
  const more = listed.length < Number(count) ? ` (${listed.length} listed)` : "";
  const arrow = (step, sign, name) =>
    listed.length < 2 ? null : el(
      "button",
      {
        type: "button",
        id: name,
        "aria-label": `${name} optimum`,
        onclick: () => goTo(shown.topic, shown.strategy, (optimum + step + listed.length) % listed.length, `#${name}`),
      },
      sign,
    );
  const kind = view.optima?.near ? `selection ${view.optima.near}` : "optimum";
  const what = shown.isOracle ? kind : `held against ${kind}`;
  return el("p", { class: "switch" }, arrow(-1, "‹", "earlier"), el("span", { id: "optimum", role: "status" }, ` ${what} ${optimum + 1} of ${all}${more} `), arrow(1, "›", "later"));
}

/** Return what is shown of rows without texts. */
function summaryOnly() {
  const result = shown.view.results[shown.strategy] ?? {};
  const own = isOwn(result);
  const units = (shown.selection ?? []).map((unit) => (Array.isArray(unit) ? unit.join(".") : String(unit)));
  return el(
    "section",
    { class: "alone" },
    el("h3", {}, "Summary"),
    result.summary && own ? el("ol", {}, result.summary.map((sentence) => el("li", {}, el("bdi", {}, sentence)))) : null,
    units.length ? el("p", { class: "note" }, `units: ${units.join(", ")}`) : null,
    el("p", { class: "note" }, "Source and references are not in these rows; --details writes them."),
  );
}

/** Return whether what is on show is what the row itself has chosen, and not another selection as good or nearly so. */
const isOwn = (result) => JSON.stringify(shown.selection) === JSON.stringify(result.selection ?? null);

function columnsOf(text) {
  shown.words = new Map();
  const only = shown.setting.best ? shown.view.results[shown.strategy]?.reference : undefined;
  shown.judged = shown.component ? judge(text, shown.setting, shown.component, shown.selection, only) : { references: [], totals: null };
  const columns = el("div", { class: "columns" }, sourceColumn(text), text.cover ? coverColumn(text) : referenceColumn(text));
  listen(columns);
  return el("div", {}, legend(text), columns);
}

function legend(text) {
  const { selection, oracle, isOracle } = shown;
  if (!selection) return null;
  const sample = (kind, words) => el("li", {}, el("span", { class: `sample ${kind}`, "aria-hidden": "true" }), words);
  const name = data.strategies[shown.strategy].name;
  const items = isOracle || !oracle ? [sample("chosen", "chosen")] : [sample("chosen", "chosen by both"), sample("missed", `oracle only, missed by ${name}`), sample("only", `${name} only`)];
  if (text.sentences.some((sentence) => sentence[3]) && !isOracle) items.push(sample("lost", "part in the oracle only"), sample("kept", `part in ${name} only`));
  if (shown.view.optima?.shares) items.push(sample("share", `share of the ${shown.view.optima.near ? "selections" : "optima"} that hold it`));
  if (!text.cover && shown.component) items.push(sample("covered", "covered"), sample("left", "in the source, not covered"), sample("out", "in no source sentence"));
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
    const items = text.sentences.slice(first, first + count).map((_, offset) => sentenceItem(text, first + offset, chosen, oracle, shares));
    first += count;
    return [documents.length > 1 ? el("h4", {}, `Document ${place + 1}`) : null, el("ol", { class: "sentences" }, items)];
  });
  const words = text.sentences.length ? counted(text.sentences.length, "sentence") : "";
  return el("section", { class: "column source", "aria-labelledby": "source-heading", tabindex: 0 }, el("h3", { id: "source-heading" }, "Source ", el("small", {}, words)), lists);
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
  const margin = el("span", { class: "margin" }, el("span", { class: "number" }, text.names ? String(text.names[number]) : String(number)), el("span", { class: "length" }, String(sentence[0])));
  const told = [words];
  if (shares) {
    const share = shares.get(number) ?? 0;
    const bar = el("span", { class: "share" }, el("i"));
    bar.firstChild.style.height = `${100 * share}%`;
    const count = Number(shown.view.optima.count);
    const all = shown.view.optima.near ? `selections ${shown.view.optima.near}` : count === 1 ? "optimum" : "optima";
    const held = count < 1e6 ? `in ${Math.round(share * count)} of ${count} ${all}` : `in ${(100 * share).toFixed(1)} % of the ${all}`;
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

/** Return a part of a sentence: one that is not kept is struck through, one that the oracle keeps alone is underlined too. */
function chunkOf(owner, words, { own, oracle }) {
  if (!own && !oracle) return el("span", { class: "chunk" }, words);
  if (!own || !oracle) return el((own ?? oracle).has(owner) ? "span" : "del", { class: "chunk" }, words);
  const [kept, held] = [own.has(owner), oracle.has(owner)];
  const told = kept === held ? null : el("span", { class: "sr" }, kept ? " (not in the optimum) " : " (in the optimum) ");
  return el(kept ? "span" : "del", { class: kept === held ? "chunk" : kept ? "chunk kept" : "chunk lost" }, words, told);
}

/** Split a piece into the word that it begins with and what follows. */
function wordOf(piece) {
  const blank = piece.search(/\s/u);
  const head = blank < 0 ? piece : piece.slice(0, blank);
  const word = head.replace(/[^\p{L}\p{N}\p{M}]+$/u, "") || head;
  return [word, piece.slice(word.length)];
}

function referenceColumn(text) {
  const { totals, references } = shown.judged;
  const components = shown.setting.components;
  const approximate = shown.component && shown.component.size === undefined && shown.component.skip === undefined;
  const heading = totals && !approximate ? `covered ${totals[0]}, left ${totals[1]}, out of reach ${totals[2]}` : "";
  const choice =
    components.length > 1
      ? el("select", { "aria-label": "n-grams", id: "component", onchange: (event) => choose(components[event.target.value]) }, components.map((each, place) => el("option", { value: place, selected: each === shown.component }, each.name)))
      : null;
  const blocks = text.references.map((reference, number) => referenceBlock(text, reference, number, references[number]));
  return el(
    "section",
    { class: "column references", "aria-labelledby": "references-heading", tabindex: 0 },
    el("h3", { id: "references-heading" }, text.references.length === 1 ? "Reference " : "References ", el("small", { id: "totals" }, heading), choice),
    approximate ? el("p", { class: "note" }, `${shown.component.name} is not made of neighbouring words: single words in common are marked.`) : null,
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
  const title = text.references.length > 1 ? el("h4", {}, `Reference ${number + 1}`, judged || !shown.judged.totals ? null : el("small", {}, " not the one that counts")) : null;
  return el("div", { class: "reference" }, title, el("ul", {}, sentences));
}
