// n-grams: what of the references a selection covers, counted as the search counts.

/** Return all n-grams of tokens, each with the places of its tokens, but those with a token of no reference. */
function gramsOf(tokens, component) {
  const found = [];
  const add = (places) => {
    if (places.every((place) => tokens[place] >= 0)) {
      found.push({ key: places.map((place) => tokens[place]).join(" "), places });
    }
  };
  if (component.skip !== undefined) {
    tokens.forEach((_, place) => add([place]));
    for (let first = 0; first < tokens.length; first += 1) {
      const last = Math.min(tokens.length - 1, first + component.skip + 1);
      for (let second = first + 1; second <= last; second += 1) add([first, second]);
    }
    return found;
  }
  const size = component.size ?? 1;
  for (let first = 0; first + size <= tokens.length; first += 1) {
    add(Array.from({ length: size }, (_, more) => first + more));
  }
  return found;
}

function countKeys(lists, component, distinct) {
  const counts = new Map();
  for (const tokens of lists) {
    for (const { key } of gramsOf(tokens, component)) {
      counts.set(key, distinct ? 1 : (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

/** Return which sentences a selection has, each with the set of its parts, or null where it is whole. */
function chosenOf(selection, text) {
  const chosen = new Map();
  for (const unit of selection ?? []) {
    if (Array.isArray(unit)) {
      if (!chosen.has(unit[0])) chosen.set(unit[0], new Set());
      chosen.get(unit[0]).add(unit[1]);
    } else {
      chosen.set(text?.names ? text.names.indexOf(unit) : unit, null);
    }
  }
  return chosen;
}

/** Return the tokens of a sentence that are kept, all if `parts` is null. */
function keptTokens(sentence, parts) {
  const [, , tokens, owners] = sentence;
  return parts === null || owners === undefined ? tokens : tokens.filter((_, place) => parts.has(owners[place + 1]));
}

/**
 * Hold a selection against the references.
 *
 * Returns for each reference its texts (the reference, or each of its sentences), each with its n-grams: `key`,
 * `places` (of tokens in the text) and `state`: 0 covered, 1 in the source but not covered, 2 in no source sentence.
 */
function judge(text, setting, component, selection, only) {
  const chosen = chosenOf(selection, text);
  const kept = [...chosen.entries()]
    .filter(([number]) => text.sentences[number] !== undefined)
    .sort(([one], [other]) => one - other)
    .map(([number, parts]) => keptTokens(text.sentences[number], parts));
  const summary = countKeys(setting.joined ? [kept.flat()] : kept, component, setting.distinct);
  const all = countKeys(
    text.sentences.map((sentence) => sentence[2]),
    component,
    setting.distinct,
  );
  const totals = [0, 0, 0];
  const references = text.references.map((reference, number) => {
    if (only !== undefined && number !== only) return null;
    const sentences = reference.map((sentence) => sentence[2]);
    return (setting.apart ? sentences : [sentences.flat()]).map((tokens) => {
      const seen = new Map();
      return gramsOf(tokens, component).map((gram) => {
        const before = seen.get(gram.key) ?? 0;
        seen.set(gram.key, before + 1);
        const place = setting.distinct ? 0 : before;
        const has = summary.get(gram.key) ?? 0;
        const state = place < has ? 0 : place < (all.get(gram.key) ?? 0) ? 1 : 2;
        if (!setting.distinct || before === 0) totals[state] += 1;
        return { ...gram, copy: before, state };
      });
    });
  });
  return { references, totals };
}

/** Return the state of each token of a text: the best of the n-grams that it is in. */
function tokenStates(grams, length) {
  const states = new Array(length).fill(2);
  for (const gram of grams) {
    for (const place of gram.places) states[place] = Math.min(states[place], gram.state);
  }
  return states;
}
