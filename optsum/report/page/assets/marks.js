// Pointing: what a sentence covers of the references, and which sentences have a word.

/** Take away what pointing has marked. */
function unmark(root) {
  for (const each of root.querySelectorAll(".lit, .hollow, .has, .at"))
    each.classList.remove("lit", "hollow", "has", "at");
}

/**
 * Mark what a source sentence covers: first copies solid, copies beyond the clip hollow.
 *
 * A chosen sentence comes after the chosen ones before it; one that is not chosen after all of them, so that solid is
 * what it would add.
 */
function markSentence(root, shown, number) {
  unmark(root);
  const { text, setting, component, selection } = shown;
  if (text?.cover) markSupported(root, text, number);
  if (!text || text.cover || !component) return;
  const chosen = chosenOf(selection, text);
  const own = keptTokens(text.sentences[number], chosen.get(number) ?? null);
  const places = ownPlaces(text.sentences[number], chosen.get(number) ?? null);
  const before = [...chosen.entries()].filter(
    ([other]) => text.sentences[other] && other !== number && (!chosen.has(number) || other < number),
  );
  const counts = countKeys(
    before.map(([other, parts]) => keptTokens(text.sentences[other], parts)),
    component,
    setting.distinct,
  );
  const [first, beyond] = [new Set(), new Set()];
  const keys = new Map();
  for (const gram of gramsOf(own, component)) keys.set(gram.key, [...(keys.get(gram.key) ?? []), gram.places]);
  let [added, copies] = [0, 0];
  shown.judged.references.forEach((texts, reference) =>
    texts?.forEach((grams, part) => {
      for (const gram of grams) {
        const mine = keys.get(gram.key)?.length;
        if (!mine) continue;
        const start = counts.get(gram.key) ?? 0;
        const end = setting.distinct ? 1 : start + mine;
        const copy = setting.distinct ? 0 : gram.copy;
        const solid = copy >= start && copy < end;
        if (solid) added += 1;
        else if (copy < start) copies += 1;
        else continue;
        for (const place of gram.places)
          shown.words.get(`${reference}/${part}/${place}`)?.classList.add(solid ? "lit" : "hollow");
        if (solid) keys.get(gram.key)[copy - start]?.forEach((place) => first.add(places[place]));
      }
    }),
  );
  for (const list of keys.values())
    for (const place of list.flat()) if (!first.has(places[place])) beyond.add(places[place]);
  const sentence = root.querySelector(`[data-sentence="${number}"]`);
  sentence.classList.add("at");
  for (const place of first) sentence.querySelector(`[data-place="${place}"]`)?.classList.add("lit");
  for (const place of beyond) sentence.querySelector(`[data-place="${place}"]`)?.classList.add("hollow");
  const verb = chosen.has(number) ? "covers" : "would add";
  say(`sentence ${number} ${verb} ${counted(added, "n-gram")}${copies ? `; ${copies} more are covered already` : ""}`);
}

/** Return the places in the sentence of the tokens that `keptTokens` returns. */
function ownPlaces(sentence, parts) {
  const [, , tokens, owners] = sentence;
  const all = tokens.map((_, place) => place);
  return parts === null || owners === undefined ? all : all.filter((place) => parts.has(owners[place + 1]));
}

/** Mark every source sentence that has a word, and the word in it. */
function markWord(root, token) {
  unmark(root);
  const found = root.querySelectorAll(`.source [data-token="${token}"]`);
  const sentences = new Set();
  for (const word of found) {
    word.classList.add("lit");
    const sentence = word.closest("[data-sentence]");
    sentence.classList.add("has");
    sentences.add(sentence);
  }
  for (const word of root.querySelectorAll(`.references [data-token="${token}"]`)) word.classList.add("lit");
  say(sentences.size ? `in ${counted(sentences.size, "source sentence")}` : "in no source sentence");
}
