// What everything else stands on: the data, elements made of text alone, and topics unpacked when they are looked at.

const data = JSON.parse(document.getElementById("data").textContent);

const SVG = "http://www.w3.org/2000/svg";

/** Return an element. Strings become text, so that nothing of the data is ever read as HTML. */
function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return the mark of a strategy: its colour, dashes and shape, as in the charts. */
function keyOf(strategy) {
  const style = strategy % data.styles;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `key s${style}`);
  svg.setAttribute("viewBox", "0 0 26 12");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", "M0 6H26");
  line.setAttribute("class", `line s${style}`);
  const mark = document.createElementNS(SVG, "use");
  mark.setAttribute("href", `#mark-${style}`);
  mark.setAttribute("transform", "translate(13 6)");
  svg.append(line, mark);
  return svg;
}

const fixed = (value, digits = 4) => (value === undefined || value === null ? "–" : value.toFixed(digits));

/** Return an objective as people read it: the size of a cover is a whole number, and so may be others that are no ratio. */
const objective = (value, setting) =>
  (setting.minimizes || !setting.texts) && Number.isInteger(value) ? String(value) : fixed(value);

function time(seconds) {
  if (seconds === undefined || seconds === null) return "–";
  if (seconds < 0.9995) return `${(seconds * 1e3).toFixed(seconds < 0.09995 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 99.95 ? 1 : 0)} s`;
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Return a count of any size, which comes as digits, with four of them at most. */
function short(digits) {
  if (digits.length <= 6) return digits;
  return `${digits[0]}.${digits[1]}e${digits.length - 1}`;
}

const unpacked = new Map();

/** Return what there is to look at of a topic. */
async function viewOf(topic) {
  const block = Math.floor(topic / data.perBlock);
  if (!unpacked.has(block)) {
    if (unpacked.size >= 12) unpacked.delete(unpacked.keys().next().value);
    unpacked.set(block, unpack(document.getElementById(`block-${block}`).textContent));
  }
  return (await unpacked.get(block))[topic % data.perBlock];
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

/** Copy text, and say so on the button that asked for it. */
async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    button.textContent = "not allowed here";
  }
  say(button.textContent);
  setTimeout(() => (button.textContent = before), 1500);
}

/** Save text as a file, which is made here. */
function save(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Say something to those who listen to the page. */
function say(text) {
  document.getElementById("live").textContent = text;
}

// The address: which topic, strategy and optimum are on show.

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const id = asked.get("topic");
  if (id === null) return { topic: -1 };
  const setting = Number(asked.get("setting") ?? -1);
  const topic = data.topics.findIndex((each) => each.id === id && (setting < 0 || each.setting === setting));
  const strategy = data.strategies.findIndex((each) => each.name === asked.get("strategy"));
  const optimum = Number(asked.get("optimum") ?? 0) - 1;
  return { topic, strategy, optimum: optimum >= 0 ? optimum : null };
}

function addressOf(topic, strategy, optimum) {
  const line = data.topics[topic];
  const asked = new URLSearchParams({ topic: line.id });
  if (data.settings.length > 1) asked.set("setting", line.setting);
  if (strategy !== undefined && strategy >= 0) asked.set("strategy", data.strategies[strategy].name);
  if (optimum !== undefined && optimum !== null) asked.set("optimum", optimum + 1);
  return `#${asked}`;
}
