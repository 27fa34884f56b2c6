const UNITS: readonly (readonly [name: RegExp, seconds: number])[] = [
  [/^(s|secs?|seconds?)$/, 1],
  [/^(m|mins?|minutes?)$/, 60],
  [/^(h|hrs?|hours?)$/, 3_600],
  [/^(d|days?)$/, 86_400],
  [/^(w|wks?|weeks?)$/, 604_800],
  [/^(mo|mos|months?)$/, 2_592_000],
  [/^(y|yrs?|years?)$/, 31_557_600],
];

const CHARACTERS_MAX = 100;
const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/g;

export function parseDuration(text: string | number): number | undefined {
  if (String(text).length > CHARACTERS_MAX) return undefined;
  const words = String(text)
    .trim()
    .toLowerCase()
    .replaceAll(/\band\b|,/g, ' ');
  if (/^\d+$/.test(words)) return Number(words);
  const parts = [...words.matchAll(PART)];
  if (parts.length === 0 || words.replaceAll(PART, '').trim() !== '') return undefined;
  let seconds = 0;
  for (const [, amount, word = ''] of parts) {
    const unit = UNITS.find(([name]) => name.test(word))?.[1];
    if (unit === undefined) return undefined;
    seconds += Number(amount) * unit;
  }
  return Math.round(seconds);
}
