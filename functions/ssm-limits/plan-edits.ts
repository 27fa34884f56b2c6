/**
 * From what a parameter says to edits. The last edit of a limit wins, wherever it was made: a parameter's counts from its time
 * of modification. The unit is a limit with all its fields.
 */

import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../policies/document/reading.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LimitEdit, LimitFields, SetLimit } from '../core/limits/index.ts';
import type { LimitsInForce } from '../core/rules/index.ts';
import type { ElsewhereLookup } from './edits-elsewhere.ts';
import type { OwnedLimit, ParameterMark, SsmLimitEntry } from './marks.ts';
import { parseEntries, type WantedLimit, type WantedLimits } from './parameter-value.ts';

/** A parameter whose version is not in force yet, or that is gone. */
export interface ChangedParameter {
  readonly group: number;
  readonly name: string;
  /** Undefined: it is gone. */
  readonly version?: ParameterVersion;
  /** What was remembered of it before this run. */
  readonly mark: ParameterMark | undefined;
}

interface ParameterVersion {
  readonly version: number;
  readonly modifiedAtMs: number;
  readonly wanted: WantedLimits;
}

export interface ParameterPlan {
  readonly parameter: ChangedParameter;
  readonly edits: readonly LimitEdit[];
  /** Remembered before the edits are made: whoever finds them made knows whose they are. */
  readonly before: readonly OwnedLimit[];
  /** Remembered after the edits are made. */
  readonly after: readonly OwnedLimit[];
  /** Limits that stay as they are, and why. */
  readonly kept: readonly KeptLimit[];
}

export interface KeptLimit {
  readonly limit: string;
  readonly why: string;
}

interface PlanDeps {
  readonly changedElsewhere: ElsewhereLookup;
  readonly policy: Policy;
  readonly live: LimitsInForce;
}

/** @throws {LimitsError} */
export async function planEdits(parameter: ChangedParameter, deps: PlanDeps): Promise<ParameterPlan> {
  const { group, version, mark } = parameter;
  const standing = new Map(
    (deps.live.limits.bySubject.get(`group/${group}`) ?? []).map((each) => [each.id, each]),
  );
  const owned = new Map((mark?.owned ?? []).map((each) => [each.id, each]));
  const edits: LimitEdit[] = [];
  const before: OwnedLimit[] = [];
  const after: OwnedLimit[] = [];
  const kept: KeptLimit[] = [];

  for (const want of version?.wanted.limits ?? []) {
    const { id } = want.limit;
    const there = standing.get(id);
    const mine = owned.get(id);
    const ours = entryOf(there, mine, group, deps);
    if (there === undefined || !isSameLimit(there, want.limit)) {
      const who = ours === undefined ? await editedBy(want, there ?? mine, parameter, deps) : undefined;
      if (who !== undefined) {
        kept.push({ limit: id, why: `${who} changed it after the parameter was written` });
        continue;
      }
      edits.push(...setEdits(group, want, there));
    }
    const created = there === undefined || (ours !== undefined && mine?.created === true);
    after.push({ id, created, entries: [want.entry] });
    // As it was and as it will be: an edit whose answer is lost may have been made or not.
    before.push({ id, created, entries: ours === undefined ? [want.entry] : [ours, want.entry] });
  }
  const wanted = new Set((version?.wanted.limits ?? []).map(({ limit }) => limit.id));
  for (const mine of owned.values()) {
    const there = standing.get(mine.id);
    if (wanted.has(mine.id) || there === undefined) continue;
    if (entryOf(there, mine, group, deps) === undefined)
      kept.push({ limit: mine.id, why: 'it was changed elsewhere since' });
    else if (!mine.created) kept.push({ limit: mine.id, why: 'it was there before the parameter' });
    else {
      edits.push({ kind: 'remove', subject: `group/${group}`, limit: mine.id });
      before.push(mine);
    }
  }
  return { parameter, edits, before, after, kept };
}

/** The entry that a live limit came from; undefined: it is not there, or somebody else changed it since. */
const entryOf = (
  limit: Limit | undefined,
  mine: OwnedLimit | undefined,
  group: number,
  { policy, live }: PlanDeps,
): SsmLimitEntry | undefined =>
  limit === undefined
    ? undefined
    : mine?.entries.find((entry) => {
        const parsed = parseEntries(group, [entry], { policy, live: live.document });
        return 'limits' in parsed && parsed.limits.some((each) => isSameLimit(each, limit));
      });

/**
 * Who edited a limit last, if it was not the parameter.
 *
 * @param trace - undefined: nothing shows that there ever was such a limit. Then somebody must be known to have taken it out;
 * else somebody may have changed it, and it is not ours to overwrite until nobody is known to have.
 */
async function editedBy(
  { limit }: WantedLimit,
  trace: unknown,
  { group, version }: ChangedParameter,
  { changedElsewhere }: PlanDeps,
): Promise<string | undefined> {
  const found = await changedElsewhere(group, limit.id, version?.modifiedAtMs ?? 0);
  if (found.changed === 'yes') return found.actor;
  return found.changed === 'unknown' && trace !== undefined ? 'somebody, perhaps,' : undefined;
}

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
  'when_unreachable',
  'wait',
  'cohort',
  'borrow',
  'lend',
  'thresholds',
  'owner',
  'contact',
  'cost_center',
  'from',
  'until',
  'reason',
] as const satisfies readonly (keyof LimitFields)[];

/** Makes the limit what the entry says, whatever it was. @param there - the limit of this id that is live. */
function setEdits(group: number, want: WantedLimit, there: Limit | undefined): readonly LimitEdit[] {
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
const isSameLimit = (a: Limit, b: Limit): boolean => isDeepStrictEqual(said(a), said(b));

const said = ({
  grants: _grants,
  earlierGrants: _earlier,
  opening: _opening,
  overdrawn: _overdrawn,
  ...limit
}: Limit): object => limit;
