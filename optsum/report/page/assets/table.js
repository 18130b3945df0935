// The table of topics: sorted, filtered, written down as far as it is looked at.

const table = { sort: null, down: false, text: "", only: new Set(), setting: -1, order: [], shown: 0 };
const STEP = 60;

const heuristics = data.strategies.map((_, place) => place).filter((place) => !data.strategies[place].exact);
const several = data.settings.length > 1;

const missedBy = (line) => {
  const result = line.results[data.missed];
  return Boolean(result && line.proven && result[1] !== null && result[3] !== 1);
};
const FILTERS = {
  ...(heuristics.length && {
    missed: { label: `missed by ${data.strategies[data.missed]?.name ?? ""}`, test: missedBy },
  }),
  open: { label: "not proven", test: (line) => !line.proven && !line.error },
  error: {
    label: "error",
    test: (line) => Boolean(line.error) || line.results.some((each) => each && each[0] === "error"),
  },
};

const secondsOf = (line) => line.results.find((each) => each !== null)?.[4];

const texts = data.settings.some((each) => each.texts);

const COLUMNS = [
  { name: texts ? "topic" : "problem", text: true, of: (line) => line.id },
  ...(several ? [{ name: "setting", text: true, of: (line) => data.settings[line.setting].label }] : []),
  { name: texts ? "sentences" : "units", size: true, of: (line) => line.sentences },
  { name: "words", size: true, of: (line) => line.words },
  { name: data.settings.every((each) => each.minimizes) ? "minimum" : texts ? "oracle" : "optimum", of: (line) => line.value },
  ...heuristics.map((place) => ({
    name: data.strategies[place].name,
    strategy: place,
    of: (line) => line.results[place]?.[2],
  })),
  { name: "optima", of: (line) => (line.optima ? Number(line.optima[0]) : undefined) },
  { name: "time", of: secondsOf },
];

function prepareTable() {
  const search = el("input", {
    type: "search",
    id: "filter",
    placeholder: "filter topics",
    autocomplete: "off",
    oninput: (event) => {
      table.text = event.target.value.toLowerCase();
      fillTable();
    },
  });
  const buttons = Object.entries(FILTERS).map(([name, { label, test }]) => {
    const count = data.topics.filter(test).length;
    return el(
      "button",
      {
        type: "button",
        "aria-pressed": "false",
        "data-filter": name,
        disabled: count === 0,
        onclick: (event) => toggle(name, event.currentTarget),
      },
      `${label} (${count})`,
    );
  });
  const choice = several
    ? el(
        "select",
        { "aria-label": "setting", onchange: (event) => ((table.setting = Number(event.target.value)), fillTable()) },
        el("option", { value: -1 }, "all settings"),
        data.settings.map((setting, place) => el("option", { value: place }, setting.label)),
      )
    : null;
  document
    .getElementById("controls")
    .append(
      el("label", { for: "filter", class: "sr" }, "filter topics"),
      search,
      ...buttons,
      choice ?? "",
      el("button", { type: "button", id: "csv", onclick: () => save(csvOf(), "topics.csv", "text/csv") }, "save as CSV"),
      el("p", { id: "count", role: "status" }),
    );
  const head = COLUMNS.map((column, place) =>
    el(
      "th",
      { scope: "col", class: column.text ? null : column.size ? "n size" : "n", "data-column": place },
      el(
        "button",
        { type: "button", onclick: () => sortBy(place) },
        column.strategy === undefined ? null : keyOf(column.strategy),
        el("bdi", {}, column.name),
      ),
    ),
  );
  document
    .getElementById("table")
    .append(
      el(
        "table",
        { class: "topics" },
        el("caption", { class: "sr" }, "Topics"),
        el("thead", {}, el("tr", {}, head)),
        el("tbody", { id: "lines" }),
      ),
      el("div", { id: "more" }),
    );
  new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && addLines(STEP), {
    rootMargin: "600px",
  }).observe(document.getElementById("more"));
  addEventListener("beforeprint", () => addLines(Infinity));
  fillTable();
}

/** Return the topics on show as CSV, in the order of the table. */
function csvOf() {
  const cell = (value) => {
    const text = value === undefined || value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const head = [...COLUMNS.map((column) => column.name), "error"];
  const lines = table.order.map((place) => {
    const line = data.topics[place];
    const values = line.error ? [line.id, ...COLUMNS.slice(1).map(() => null)] : COLUMNS.map((each) => each.of(line));
    return [...values, line.error];
  });
  return [head, ...lines].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function toggle(name, button) {
  const on = !table.only.delete(name);
  if (on) table.only.add(name);
  button.setAttribute("aria-pressed", String(on));
  fillTable();
}

function sortBy(place) {
  if (table.sort === place) table.down = !table.down;
  else {
    table.sort = place;
    table.down = !COLUMNS[place].text && COLUMNS[place].strategy === undefined; // the lowest ratio is the one to look at
  }
  fillTable();
}

/** Return the topics on show, in order; errors stand first, and what is missing last. */
function linesOnShow() {
  const lines = data.topics
    .map((_, place) => place)
    .filter((place) => {
      const line = data.topics[place];
      const found = `${line.id}\n${line.error ?? ""}`.toLowerCase().includes(table.text);
      return (
        found &&
        (table.setting < 0 || line.setting === table.setting) &&
        [...table.only].every((name) => FILTERS[name].test(line))
      );
    });
  if (table.sort === null) return lines;
  const { of, text } = COLUMNS[table.sort];
  const sign = table.down ? -1 : 1;
  return lines.sort((one, other) => {
    const [left, right] = [data.topics[one], data.topics[other]];
    if (Boolean(left.error) !== Boolean(right.error)) return left.error ? -1 : 1;
    const [a, b] = [of(left), of(right)];
    if (a === undefined || a === null || b === undefined || b === null)
      return Number(a === undefined || a === null) - Number(b === undefined || b === null) || one - other;
    return sign * (text ? a.localeCompare(b, "en", { numeric: true }) : a - b) || one - other;
  });
}

function fillTable() {
  table.order = linesOnShow();
  table.shown = 0;
  document.getElementById("lines").replaceChildren();
  const all = data.topics.length;
  document.getElementById("count").textContent =
    table.order.length === all ? counted(all, data.kind) : `${table.order.length} of ${counted(all, data.kind)}`;
  for (const head of document.querySelectorAll("#table th")) {
    const here = Number(head.dataset.column) === table.sort;
    if (here) head.setAttribute("aria-sort", table.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  addLines(STEP);
}

function addLines(count) {
  const end = Math.min(table.order.length, table.shown + count);
  const lines = table.order.slice(table.shown, end).map(lineOf);
  table.shown = end;
  document.getElementById("lines").append(...lines);
}

function lineOf(place) {
  const line = data.topics[place];
  const name = el("th", { scope: "row" }, el("a", { href: addressOf(place), title: line.id }, el("bdi", {}, line.id)));
  if (line.error) {
    return el(
      "tr",
      { class: "error", "data-topic": place },
      name,
      el("td", { colspan: COLUMNS.length - 1 }, el("strong", {}, "error: "), el("bdi", {}, line.error)),
    );
  }
  const setting = data.settings[line.setting];
  const cells = COLUMNS.slice(1).map((column) => {
    if (column.text) return el("td", {}, column.of(line));
    if (column.strategy !== undefined) return ratioCell(line, column.strategy);
    if (column.name === "optima")
      return el(
        "td",
        { class: "n" },
        line.optima
          ? `${line.optima[1] ? "" : "≥ "}${short(line.optima[0])}${line.optima[2] ? ` ${line.optima[2]}` : ""}`
          : "–",
      );
    if (column.name === "time") return el("td", { class: "n" }, time(column.of(line)));
    if (column.size) return el("td", { class: "n size" }, String(column.of(line) ?? "–"));
    if (column.of(line) === undefined) return el("td", { class: "n" }, "–");
    const bound =
      line.proven || line.bound === undefined
        ? ""
        : ` ${setting.minimizes ? "≥" : "≤"} ${objective(line.bound, setting)}`;
    return el(
      "td",
      { class: "n" },
      objective(line.value, setting),
      bound ? el("span", { class: "bound" }, bound) : null,
    );
  });
  return el("tr", { "data-topic": place }, name, cells);
}

/** Return a cell with the ratio as a bar and a number; a bar that is full says the optimum was reached. */
function ratioCell(line, strategy) {
  const result = line.results[strategy];
  if (!result) return el("td", { class: "n" }, "–");
  if (result[2] === null) return el("td", { class: "n" }, result[0].replace("_", " "));
  const bar = el("span", { class: `bar s${strategy % data.styles}`, "aria-hidden": "true" }, el("i"));
  bar.firstChild.style.width = `${100 * result[2]}%`;
  const sign = result[3] === 1 ? "" : result[3] === 2 ? "≥ " : "";
  return el(
    "td",
    { class: `n ratio${result[3] === 1 ? " reached" : ""}` },
    bar,
    el("span", { class: "value" }, `${sign}${fixed(result[2])}`),
  );
}
