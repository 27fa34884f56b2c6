/** `100 %` only where every job was asked about: rounded down, to a tenth. */
export function coverageShareText(share: number | undefined): string {
  if (share === undefined) return '–';
  const tenths = Math.floor(share * 1_000 + 1e-9);
  return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)} %`;
}
