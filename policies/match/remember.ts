/** Enough for the images and paths of one rule; beyond that it starts anew rather than grow. */
const ANSWERS_MAX = 500;
/** No real image or path is longer; what is made up to fill memory is not kept. */
const TEXT_CHARACTERS_MAX = 512;

/** A pure function of a text that remembers its answers: the same few images and paths come again and again. */
export function remembering<Answer>(answer: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, { readonly answer: Answer }>();
  return (text) => {
    if (text.length > TEXT_CHARACTERS_MAX) return answer(text);
    let found = known.get(text);
    if (found === undefined) {
      found = { answer: answer(text) };
      if (known.size >= ANSWERS_MAX) known.clear();
      known.set(text, found);
    }
    return found.answer;
  };
}
