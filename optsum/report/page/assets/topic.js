// A topic: its source and its references side by side, with what a strategy chose of the one and covers of the other.

const shown = { topic: -1, strategy: 0, optimum: 0, asks: 0 };

/** Show a topic. Without an optimum it is held against the one that shares most with what the strategy chose. */
async function showTopic(topic, strategy, optimum, focus) {
  const asked = (shown.asks += 1);
  const view = await viewOf(topic);
  if (asked !== shown.asks) return; // something else was asked for meanwhile
  const changed = shown.topic !== topic;
  const line = data.topics[topic];
  const has = (place) => view.results[place]?.selection !== undefined;
  const fallback = data.strategies.findIndex((_, place) => has(place));
  const setting = data.settings[line.setting];
  if (changed) shown.component = setting.components[0];
  Object.assign(shown, { topic, view, setting, text: view.text });
  shown.strategy = strategy >= 0 && view.results[strategy] ? strategy : Math.max(0, fallback);
  const steps = view.results[shown.strategy]?.steps;
  const listed = steps ? steps.map((step) => step.selection) : oraclesOf(view, line);
  shown.listed = listed;
  shown.asked = optimum === null ? null : Math.min(optimum, Math.max(0, listed.length - 1));
  shown.optimum = shown.asked ?? nearest(listed, view.results[shown.strategy]?.selection);
  shown.oracle = listed[shown.optimum] ?? null;
  shown.step = steps?.[shown.optimum];
  const exact = data.strategies[shown.strategy].exact && line.results[shown.strategy]?.[3] === 1;
  shown.isOracle = (steps || exact) && shown.oracle !== null;
  shown.selection = shown.isOracle ? shown.oracle : (view.results[shown.strategy]?.selection ?? null);
  document.getElementById("overview").hidden = true;
  const root = document.getElementById("topic");
  root.hidden = false;
  document.title = `${line.id} – ${document.querySelector("h1").textContent}`;
  const scrolled = [...root.querySelectorAll(".column")].map((column) => column.scrollTop);
  root.replaceChildren(...topicParts(line));
  if (changed) {
    scrollTo(0, 0);
    toFirst(root);
  } else [...root.querySelectorAll(".column")].forEach((column, place) => (column.scrollTop = scrolled[place] ?? 0));
  if (changed) root.querySelector("h2").focus({ preventScroll: true });
  else if (focus) root.querySelector(focus)?.focus();
}

/** Return the place of the selection that shares most with another one. */
function nearest(listed, selection) {
  const own = new Set((selection ?? []).map(String));
  const shared = listed.map(
    (each) => each.filter((unit) => own.has(String(unit))).length / Math.max(1, own.size + each.length),
  );
  return Math.max(0, shared.indexOf(Math.max(...shared)));
}

/** Return the optima that can be looked at, the one of the exact strategy's row first. */
function oraclesOf(view, line) {
  const own = data.strategies
    .map((_, place) => (line.results[place]?.[3] === 1 ? view.results[place]?.selection : undefined))
    .find(Boolean);
  const listed = view.optima?.listed ?? [];
  if (!own) return listed;
  const same = JSON.stringify(own);
  return [own, ...listed.filter((each) => JSON.stringify(each) !== same)];
}

function topicParts(line) {
  const { text } = shown;
  const place = table.order.indexOf(shown.topic);
  const go = (step) =>
    table.order.length
      ? addressOf(table.order[(place + step + table.order.length) % table.order.length], shown.strategy)
      : "#";
  return [
    el(
      "div",
      { class: "top" },
      el("h2", { tabindex: -1, id: "topic-heading" }, el("bdi", {}, line.id)),
      el(
        "nav",
        { class: "crumbs", "aria-label": "topics" },
        el("a", { href: "#", id: "back" }, "← all topics"),
        place < 0 ? null : el("span", {}, `${place + 1} of ${table.order.length}`),
        el("a", { href: go(-1), id: "previous", "aria-label": "previous topic" }, "previous"),
        el("a", { href: go(1), id: "next", "aria-label": "next topic" }, "next"),
      ),
    ),
    several ? el("p", { class: "note" }, shown.setting.label) : null,
    strategyTabs(line),
    el(
      "div",
      { id: "panel", role: "tabpanel", "aria-labelledby": `tab-${shown.strategy}` },
      valuesOf(line),
      text ? columnsOf(text) : summaryOnly(),
    ),
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
      line.results[place]?.[2] !== null && line.results[place]?.[2] !== undefined
        ? el("small", {}, fixed(line.results[place][2]))
        : null,
    ),
  );
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const open = tabs.filter((tab) => !tab.disabled);
    if (!step || !open.length) return;
    event.preventDefault();
    const next =
      open[(open.findIndex((tab) => tab.getAttribute("aria-selected") === "true") + step + open.length) % open.length];
    select(tabs.indexOf(next));
  };
  return el("div", { class: "tabs", role: "tablist", "aria-label": "strategies", onkeydown: move }, tabs);
}

/** Return the values of what is on show: fractions, lengths, and which optimum it is held against. */
function valuesOf(line) {
  const result = shown.view.results[shown.strategy] ?? {};
  const { setting, step } = shown;
  const parts = [];
  if (step && !isOwn(result)) {
    const proof = step.bound === undefined ? "optimal, proven" : `proven bound ${objective(step.bound, setting)}`;
    const values = ` · ${proof} · ${lengthOf(step.length)}`;
    return el(
      "div",
      { class: "values" },
      el("p", {}, el("strong", {}, objective(step.objective, setting)), values),
      optimumSwitch(),
      explained({}),
    );
  }
  if (shown.view.optima?.near && !isOwn(result))
    return el(
      "div",
      { class: "values" },
      el("p", {}, `a selection ${shown.view.optima.near} of the optimum ${objective(result.objective, setting)}`),
      optimumSwitch(),
    );
  if (result.error) return el("p", { class: "values error" }, el("strong", {}, "error: "), el("bdi", {}, result.error));
  if (result.objective === undefined)
    parts.push(el("strong", {}, line.results[shown.strategy]?.[0].replace("_", " ") ?? "–"));
  else parts.push(el("strong", {}, objective(result.objective, setting)));
  if (result.denominator) parts.push(`${result.numerator} of ${result.denominator} ${countedName(setting.components[0])}`);
  const ratio = line.results[shown.strategy]?.[2];
  if (line.results[shown.strategy]?.[3] === 1)
    parts.push(line.results[shown.strategy][0] === "optimal" ? "optimal, proven" : "reaches the optimum");
  else if (ratio !== null && ratio !== undefined) parts.push(`ratio ${line.proven ? "" : "≥ "}${fixed(ratio)}`);
  if (result.bound !== undefined && line.results[shown.strategy]?.[3] !== 1)
    parts.push(`proven bound ${objective(result.bound, setting)}`);
  if (result.termination) parts.push(`stopped by ${result.termination.replace("_", " ")}`);
  if (result.length !== undefined) parts.push(lengthOf(result.length));
  parts.push(time(line.results[shown.strategy]?.[4]));
  return el(
    "div",
    { class: "values" },
    el(
      "p",
      {},
      parts.flatMap((part, place) => (place ? [" · ", part] : [part])),
    ),
    optimumSwitch(),
    explained(result),
  );
}

/** Return the legend and the official scores, behind a question mark that stays open from topic to topic. */
function explained(result) {
  const inside = [shown.text ? legend(shown.text) : null, official(result)].filter(Boolean);
  if (!inside.length) return null;
  const mark = el("summary", { "aria-label": "legend and official scores", title: "legend and official scores" }, "?");
  const found = el("details", { class: "explained", open: shown.explained === true }, mark, inside);
  found.addEventListener("toggle", () => (shown.explained = found.open));
  return found;
}

const lengthOf = (length) => (shown.setting.unit ? `${length} ${shown.setting.unit}` : `length ${length}`);

/** Return what a fraction counts: claims, of weights their worth, or n-grams. */
function countedName(component) {
  if (!shown.text?.cover) return `${gramName(component)} of the references`;
  return shown.text.weights ? "of the claims' worth" : "claims";
}

function gramName(component) {
  if (component?.size === 1) return "words";
  if (component?.size === 2) return "bigrams";
  return component?.size ? `${component.size}-grams` : "n-grams";
}

function official(result) {
  const scores = Object.entries(result.rouge ?? {});
  if (!scores.length) return null;
  const texts = scores.map(
    ([name, { recall, precision, f1 }]) =>
      `${name.toUpperCase()} R ${fixed(recall)} P ${fixed(precision)} F ${fixed(f1)}`,
  );
  return el("p", { class: "note" }, `official scores: ${texts.join(" · ")}`);
}

/** Return "optimum 1 of 20", or a frontier's length, with arrows; where none is proven nothing can be switched. */
function optimumSwitch() {
  const { listed, view, optimum, step } = shown;
  if (!listed.length || (!view.optima && !step && listed.length === 1)) return null;
  const count = view.optima ? view.optima.count : String(listed.length);
  const complete = view.optima ? view.optima.complete : false;
  const all = view.optima ? `${complete ? "" : "at least "}${short(count)}` : "those found";
  const more = listed.length < Number(count) ? ` (${listed.length} listed)` : "";
  const arrow = (by, sign, name) =>
    listed.length < 2
      ? null
      : el(
          "button",
          {
            type: "button",
            id: name,
            "aria-label": `${name} ${step ? "length" : "optimum"}`,
            onclick: () => goTo(shown.topic, shown.strategy, (optimum + by + listed.length) % listed.length, `#${name}`),
          },
          sign,
        );
  const kind = view.optima?.near ? `selection ${view.optima.near}` : "optimum";
  const what = shown.isOracle ? kind : `held against ${kind}`;
  const range = step && (step.from === step.to ? step.from : `${step.from} to ${step.to}`);
  const text = step
    ? `maximum ${lengthOf(range)}, step ${optimum + 1} of ${listed.length}`
    : `${what} ${optimum + 1} of ${all}${more}`;
  return el(
    "p",
    { class: "switch" },
    arrow(-1, "‹", "earlier"),
    el("span", { id: "optimum", role: "status" }, ` ${text} `),
    arrow(1, "›", "later"),
  );
}

/** Return what is shown of rows without texts. */
function summaryOnly() {
  const result = shown.view.results[shown.strategy] ?? {};
  const own = isOwn(result);
  const units = (shown.selection ?? []).map((unit) => (Array.isArray(unit) ? unit.join(".") : String(unit)));
  return el(
    "section",
    { class: "alone" },
    result.summary && own
      ? summaryPanel(result.summary.map((sentence) => [null, sentence]))
      : el("h3", {}, shown.setting.texts ? "Summary" : "Selection"),
    units.length ? el("p", { class: "note" }, `units: ${units.join(", ")}`) : null,
    el("p", { class: "note" }, "Source and references are not in these rows: solve, compare, run, enumerate and frontier write them with --details."),
  );
}

/** Return whether what is on show is what the row itself has chosen, and not another selection as good or nearly so. */
const isOwn = (result) => JSON.stringify(shown.selection) === JSON.stringify(result.selection ?? null);
