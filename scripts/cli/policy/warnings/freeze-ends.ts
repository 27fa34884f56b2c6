import { readInstant } from '../../../../policies/document/values.ts';
import { entriesAt, entriesOf, entryOf, rulesZone, type Warning, type WrittenDocuments } from './warning.ts';

/** Freezes that are over: all their windows end in the past. Weekly ones (with days) never end. */
export function freezeEnds({ policyDocument, nowMs }: WrittenDocuments): readonly Warning[] {
  return entriesAt(policyDocument, 'rules').flatMap((rule, order): Warning[] => {
    const windows = entriesOf(rule.windows).map(entryOf);
    if (rule.kind !== 'freeze' || windows.length === 0) return [];
    const zone = typeof rule.zone === 'string' ? rule.zone : rulesZone(policyDocument);
    const isOver = windows.every(({ days, until }) => {
      const endMs = typeof until === 'string' ? readInstant(until, 'end', zone) : undefined;
      return days === undefined && endMs !== undefined && endMs <= nowMs;
    });
    if (!isOver) return [];
    return [
      { path: ['rules', order, 'windows'], message: `the freeze ${String(rule.id)} is over; take it out` },
    ];
  });
}
