// Pointing, keys and the address, and the first look.

/** Listen to a topic's columns: what is pointed at or focused is marked. */
function listen(root) {
  const point = (target) => {
    const word = target.closest?.(".references .word");
    const item = target.closest?.("[data-needs]");
    const sentence = target.closest?.("[data-sentence]");
    if (word) markWord(root, word.dataset.token);
    else if (item) markNeeds(root, item);
    else if (sentence) markSentence(root, shown, Number(sentence.dataset.sentence));
  };
  root.addEventListener("pointerover", (event) => point(event.target));
  root.addEventListener("focusin", (event) => point(event.target));
  root.addEventListener("pointerleave", () => {
    unmark(root);
    root.querySelector("svg.lines")?.remove();
  });
  for (const [column, items, keys] of [
    [".source", ".sentence", ["ArrowUp", "ArrowDown"]],
    [".references", ".word, .abstract", ["ArrowLeft", "ArrowRight"]],
  ]) {
    const section = root.querySelector(column);
    section?.addEventListener("keydown", (event) => rove(event, section, items, keys));
  }
}

/** Move the focus among the items of a column, which is one stop of the tab key. */
function rove(event, section, items, [back, forth]) {
  const step = event.key === forth ? 1 : event.key === back ? -1 : 0;
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const all = [...section.querySelectorAll(items)].filter((each) => each.checkVisibility());
  if (!all.length) return;
  event.preventDefault();
  const now = all.indexOf(document.activeElement);
  const next = all[now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, now + step))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

/** Show another strategy or optimum of a topic, or another topic. */
function goTo(topic, strategy, optimum, focus) {
  const address = addressOf(topic, strategy, optimum);
  history.replaceState(null, "", address);
  return showTopic(topic, strategy, optimum, focus);
}

async function follow() {
  const asked = readAddress();
  if (asked.topic >= 0) {
    try {
      await showTopic(asked.topic, asked.strategy, asked.optimum);
    } catch (error) {
      document
        .getElementById("topic")
        .replaceChildren(
          el("p", { class: "note" }, `This topic cannot be shown: ${error.message}.`),
          el("a", { href: "#" }, "all topics"),
        );
    }
    return;
  }
  const before = shown.topic;
  shown.asks += 1;
  document.getElementById("topic").hidden = true;
  document.getElementById("overview").hidden = false;
  document.title = document.querySelector("h1").textContent;
  shown.topic = -1;
  if (before >= 0) {
    const line = document.querySelector(`tr[data-topic="${before}"]`);
    line?.scrollIntoView({ block: "center" });
    line?.querySelector("a")?.focus({ preventScroll: true });
  }
}

const KEYS = [
  ["j, k", "next, previous topic"],
  ["n, p", "next, previous chosen sentence"],
  ["h, l", "earlier, later optimum; shorter, longer summary of a frontier"],
  ["1 to 9", "strategy"],
  ["↑, ↓", "sentences of the source"],
  ["←, →", "words of the references, when they have the focus"],
  ["/", "filter the topics"],
  ["Esc", "all topics"],
  ["?", "this help"],
];

function help() {
  const dialog = document.getElementById("help");
  if (!dialog.firstChild) {
    dialog.append(
      el("h2", { id: "help-heading" }, "Keys"),
      el(
        "dl",
        {},
        KEYS.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]),
      ),
      el(
        "p",
        { class: "note" },
        "Sentences are numbered from 0, as in the rows. Pointing at a sentence shows what it covers of the references: " +
          "first copies solid, copies beyond the clip hollow. Pointing at a word of a reference shows every source " +
          "sentence that has it.",
      ),
      el("form", { method: "dialog" }, el("button", { autofocus: true }, "Close")),
    );
  }
  dialog.showModal();
}

function press(event) {
  const typing = event.target.closest?.("input, select, textarea, dialog");
  if (event.key === "Escape" && !event.target.closest?.("dialog")) {
    if (shown.topic >= 0) location.hash = "";
    else if (typing) event.target.blur();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const turn = (step) => {
    if (shown.topic < 0 || shown.listed.length < 2) return;
    goTo(shown.topic, shown.strategy, (shown.optimum + step + shown.listed.length) % shown.listed.length);
  };
  const move = (step) => {
    if (!table.order.length) return;
    const place = table.order.indexOf(shown.topic);
    const next =
      shown.topic < 0
        ? step > 0
          ? 0
          : table.order.length - 1
        : (place + step + table.order.length) % table.order.length;
    location.hash = addressOf(table.order[next], shown.topic < 0 ? undefined : shown.strategy);
  };
  const digit = Number(event.key) - 1;
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "l") turn(1);
  else if (event.key === "h") turn(-1);
  else if ((event.key === "n" || event.key === "p") && shown.topic >= 0) toChosen(event.key === "n" ? 1 : -1);
  else if (event.key === "?") help();
  else if (event.key === "/") {
    if (shown.topic >= 0) location.hash = "";
    setTimeout(() => document.getElementById("filter").focus());
  } else if (digit >= 0 && digit < data.strategies.length && shown.topic >= 0) {
    if (shown.view.results[digit]) goTo(shown.topic, digit, shown.asked);
  } else return;
  event.preventDefault();
}

prepareTable();
addEventListener("hashchange", follow);
addEventListener("keydown", press);
follow();
document.documentElement.dataset.ready = "true";
