/** Draws a log-normal sample by its median (Box–Muller). */
export const logNormal = (median: number, sigma: number, random: () => number): number =>
  median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

export const between = (least: number, most: number, random: () => number): number =>
  least + (most - least) * random();

/** Returns the same number for the same text. */
export function checksum(text: string): number {
  let sum = 0;
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
