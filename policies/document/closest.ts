/** More than this is another word, not a typing error. */
const EDITS_MAX = 2;
/** No key of ours is longer; a longer word is not compared. */
const CHARACTERS_MAX = 40;

/** The word that was probably meant, for "did you mean …?". */
export function closest(word: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = EDITS_MAX + 1;
  for (const each of words) {
    // Half of a short word is not a typing error either: `on` is not `id`.
    const edits = editDistance(word.toLowerCase(), each);
    if (edits < bestEdits && edits * 2 < each.length) [best, bestEdits] = [each, edits];
  }
  return best;
}

/** Characters to add, remove, change or swap with their neighbour, counted row by row. */
function editDistance(from: string, to: string): number {
  if (from.length > CHARACTERS_MAX) return Number.POSITIVE_INFINITY;
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let up = 0; up < from.length; up += 1) {
    const next = [up + 1];
    for (let at = 0; at < to.length; at += 1) {
      const change = (row[at] ?? 0) + (from[up] === to[at] ? 0 : 1);
      const swapped = up > 0 && at > 0 && from[up] === to[at - 1] && from[up - 1] === to[at];
      const swap = swapped ? (before[at - 1] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
