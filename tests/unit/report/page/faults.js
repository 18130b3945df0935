// Looks at the page as it stands, and returns what is wrong with it for those who listen to it or see badly.

const name = (each) => each.getAttribute("aria-label") ?? each.textContent.trim();
const seen = (each) => each.checkVisibility?.() ?? true;
const faults = [];
for (const each of document.querySelectorAll("button, a, select, input")) {
  const labelled = name(each) || document.querySelector(`label[for="${each.id}"]`);
  if (seen(each) && !labelled) faults.push(`no name: ${each.outerHTML}`);
}
for (const each of document.querySelectorAll("[aria-labelledby], [aria-describedby], [aria-controls]")) {
  for (const kind of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
    for (const id of (each.getAttribute(kind) ?? "").split(" ").filter(Boolean)) {
      if (seen(each) && !document.getElementById(id)) faults.push(`${kind} of nothing: ${id}`);
    }
  }
}
const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
for (const id of new Set(ids)) if (ids.filter((each) => each === id).length > 1) faults.push(`twice: ${id}`);
let level = 0;
for (const each of document.querySelectorAll("h1, h2, h3, h4")) {
  const own = Number(each.tagName[1]);
  if (seen(each) && own > level + 1) faults.push(`skips a level: ${each.textContent}`);
  if (seen(each)) level = own;
}
for (const each of document.querySelectorAll("svg")) {
  if (each.getAttribute("aria-hidden") !== "true" && each.getAttribute("role") !== "img") faults.push("svg of no role");
}
for (const each of document.querySelectorAll("table"))
  if (!each.querySelector("th[scope]")) faults.push("table without th");
const light = (color) => {
  const parts = color.match(/[\d.]+/g).map((part) => Number(part) / 255);
  const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const back = (each) => {
  for (let at = each; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (!color.startsWith("rgba") || color.endsWith(", 1)")) return color;
  }
  return "rgb(255, 255, 255)";
};
for (const each of document.querySelectorAll("body *")) {
  const written = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!written || !seen(each) || each.closest(".sr, svg, :disabled, [hidden]")) continue;
  const [one, other] = [light(getComputedStyle(each).color), light(back(each))];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${each.outerHTML.slice(0, 80)}`);
}
return [...new Set(faults)];
