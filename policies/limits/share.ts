/** Shares are written to a thousandth of a percent; this many parts are the whole. */
export const SHARE_PARTS = 100_000;

/** Exact, rounded down to whole units. May be past the safe integers if the share is more than the whole. */
export const shareOf = (amount: number, parts: number): number =>
  Number((BigInt(amount) * BigInt(parts)) / BigInt(SHARE_PARTS));
