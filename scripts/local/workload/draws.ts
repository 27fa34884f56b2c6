/** A log-normal sample by its median (Box–Muller). */
export const logNormal = (median: number, sigma: number, random: () => number): number =>
  median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

export const between = (least: number, most: number, random: () => number): number =>
  least + (most - least) * random();
