const ANSWERS_MAX = 500;
/** No real image or path is longer; a text made up to fill memory is not stored. */
const TEXT_CHARACTERS_MAX = 512;

/** A pure function of a text that remembers its results: the same few images and paths come again and again. */
export function memoize<Answer>(answer: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) =>
    text.length > TEXT_CHARACTERS_MAX
      ? answer(text)
      : memoizeIn(known, text, ANSWERS_MAX, () => answer(text));
}

export function memoizeIn<Key, Answer>(
  known: Map<Key, Answer>,
  key: Key,
  answersMax: number,
  answer: () => Answer,
): Answer {
  const before = known.get(key);
  if (before !== undefined || known.has(key)) return before as Answer;
  const now = answer();
  if (known.size >= answersMax) known.clear();
  known.set(key, now);
  return now;
}

/** A pure function of an object that remembers its result for as long as the object lives. */
export function perObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let known = made.get(key);
    if (known === undefined) {
      known = { value: make(key) };
      made.set(key, known);
    }
    return known.value;
  };
}
