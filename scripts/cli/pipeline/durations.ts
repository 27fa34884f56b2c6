const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  mo: 2_592_000,
  y: 31_557_600,
};

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(s|secs?|seconds?)$/, 's'],
  [/^(m|mins?|minutes?)$/, 'm'],
  [/^(h|hrs?|hours?)$/, 'h'],
  [/^(d|days?)$/, 'd'],
  [/^(w|wks?|weeks?)$/, 'w'],
  [/^(mo|mos|months?)$/, 'mo'],
  [/^(y|yrs?|years?)$/, 'y'],
];

/** No duration that people write is longer. */
const CHARACTERS_MAX = 100;

/** Reads a GitLab duration (`1h 30m`, `60 minutes`, `3600`) as whole seconds; undefined if it is none. */
export function parseDuration(text: string | number): number | undefined {
  if (String(text).length > CHARACTERS_MAX) return undefined;
  const words = String(text)
    .trim()
    .toLowerCase()
    .replaceAll(/\band\b|,/g, ' ');
  if (/^\d+$/.test(words)) return Number(words);
  const parts = [...words.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)];
  const rest = words.replaceAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g, '').trim();
  if (parts.length === 0 || rest !== '') return undefined;
  let seconds = 0;
  for (const [, amount, word = ''] of parts) {
    const unit = WORDS.find(([pattern]) => pattern.test(word))?.[1];
    if (unit === undefined) return undefined;
    seconds += Number(amount) * (SECONDS[unit] ?? 0);
  }
  return Math.round(seconds);
}
