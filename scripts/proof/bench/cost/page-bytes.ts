/** Reads and writes of a visit are exact, its bytes are about right: a word on a page is no other cost. */
import type { DeskCosts } from '../../../cli/cost/units.ts';

/** Pages with so much more on them cost a thousand visits a tenth of a cent. */
const PAGE_BYTES_OFF_MAX = 0.05;

/** @returns what was counted, with the bytes that are written down wherever they are about right. */
export function withBytesAsWritten(
  counted: DeskCosts['byGroups'],
  written: DeskCosts['byGroups'],
): DeskCosts['byGroups'] {
  const bytesOf = new Map(written.map(({ groups, visitBytes }) => [groups, visitBytes]));
  return counted.map((row) => {
    const bytes = bytesOf.get(row.groups) ?? Number.NaN;
    return Math.abs(row.visitBytes / bytes - 1) < PAGE_BYTES_OFF_MAX ? { ...row, visitBytes: bytes } : row;
  });
}
