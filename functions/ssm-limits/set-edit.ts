import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../policies/document/reading.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import type { LimitEdit, LimitFields, SetLimit } from '../core/limits/desk/limit-edit.ts';
import type { WantedLimit } from './parameter-value.ts';

/** A field that is not in the value is not in the limit, either. */
const FIELDS = [
  'per',
  'zone',
  'fiscal_start',
  'soft',
  'grace',
  'carry',
  'overdraft',
  'mode',
  'thresholds',
  'owner',
  'contact',
  'cost_center',
  'from',
  'until',
  'reason',
] as const satisfies readonly (keyof LimitFields)[];

/** Makes the limit what the entry says, whatever it was. @param there - the limit of this id that is live. */
export function setEdits(group: number, want: WantedLimit, there: Limit | undefined): readonly LimitEdit[] {
  const { kind, per, id } = want.limit;
  if (there === undefined || (there.kind === kind && there.per === per))
    return [setEdit(group, want, there !== undefined)];
  // What a limit counts cannot be edited: it is another one of the same name.
  return [{ kind: 'remove', subject: `group/${group}`, limit: id }, setEdit(group, want, false)];
}

function setEdit(group: number, { entry, limit }: WantedLimit, isThere: boolean): SetLimit {
  const written = FIELDS.flatMap((field): [string, unknown][] => {
    const value = field === 'carry' && isRecord(entry.carry) ? entry.carry.max : entry[field];
    if (value !== undefined && value !== null) return [[field, value]];
    return isThere ? [[field, null]] : [];
  });
  return {
    kind: 'set',
    subject: `group/${group}`,
    limit: limit.id,
    unit: limit.kind,
    // The entry was read as a limit, so its fields have the types of one.
    ...(Object.fromEntries([['amount', entry[limit.kind]], ...written]) as LimitFields),
  };
}

/** Whether two limits say the same; what was granted on them or came over is nothing they say. */
export const isSame = (a: Limit, b: Limit): boolean => isDeepStrictEqual(said(a), said(b));

const said = ({ grants: _grants, opening: _opening, overdrawn: _overdrawn, ...limit }: Limit): object =>
  limit;
