/** Imports one parameter as one edit of limits. */
import { isDeepStrictEqual } from 'node:util';
import { problemText } from '../../policies/document/reading.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { limitFields } from '../../policies/limits/limit-fields.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import type { LedgerClock } from '../core/environment/index.ts';
import {
  type ApplyOutcome,
  type LimitEdit,
  type LimitFields,
  type LimitsDesk,
  readField,
  type SetLimit,
} from '../core/limits/index.ts';
import type { LimitsInForce } from '../core/rules/index.ts';
import { retried } from '../core/store/index.ts';
import type { ImportedVersions } from './imported-versions.ts';
import { readParameterValue, type WantedLimit } from './parameter-value.ts';
import type { Parameters, ParameterVersion } from './parameters.ts';

export interface ImportDeps {
  /** Path of the parameters without a slash at the end: `/tollgate/prod/limits`. */
  readonly path: string;
  readonly parameters: Parameters;
  readonly imported: ImportedVersions;
  readonly desk: Pick<LimitsDesk, 'live' | 'apply'>;
  /** In force until a first set is live: the first edit edits these. */
  readonly packed: LimitsInForce;
  readonly policy: Policy;
  readonly clock: Pick<LedgerClock, 'monotonicMs' | 'sleep' | 'nowMs'>;
  readonly random: () => number;
}

export type ImportOutcome =
  /** This version was imported already, or the parameter is gone and its limits were removed. */
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'imported' }
  /** Nothing of the parameter took effect. */
  | {
      readonly outcome: 'refused';
      readonly version: number | undefined;
      readonly problems: readonly string[];
    };

/** Name of the source in the change log. */
const SOURCE = 'ssm';
/** Other edits are rare, and an import of a file takes a second. */
const TRIES_MAX = 5;
const PAUSE_MS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;
const PROBLEMS_MAX = 5;

/**
 * Imports a parameter.
 *
 * 1. Read the newest version of the parameter, and the last imported version.
 *
 * 2. If they are equal, stop: a repeated event makes no edit.
 *
 * 3. Apply the parameter's limits; remove those that only the last version had.
 *
 * 4. Store the version. If this fails, the next run finds the limits correct and makes no edit.
 *
 * @throws {Error} the edit may be made or not; run again.
 */
export async function importParameter(
  group: number,
  directory: Directory,
  deps: ImportDeps,
): Promise<ImportOutcome> {
  const { path, parameters, imported, desk, packed, policy, clock, random } = deps;
  const name = `${path}/${group}`;
  const [parameter, last] = await Promise.all([parameters.read(name), imported.read(group)]);
  if (isSameVersion(parameter, last)) return { outcome: 'unchanged' };
  const version = parameter?.version;
  const importOnce = async (): Promise<ImportOutcome | 'stale'> => {
    const live = await desk.live();
    const inForce = live ?? packed;
    const read =
      parameter === undefined
        ? ({ ok: true, wanted: { limits: [], confirmed: true } } as const)
        : readParameterValue(group, parameter, { policy, directory, live: inForce.document });
    if (!read.ok) return { outcome: 'refused', version, problems: read.problems };
    const { limits, confirmed } = read.wanted;
    const edits = editsFor(group, limits, last?.limits ?? [], inForce.limits.bySubject.get(`group/${group}`));
    if (edits.length > 0) {
      const outcome = await desk.apply(edits, {
        actor: (parameter?.editor ?? `Parameter Store ${name}`).slice(0, ACTOR_CHARACTERS_MAX),
        // IAM decides who may write the parameter. What no role may do stays forbidden.
        rights: [{ role: 'finance' }],
        why: `SSM parameter ${name} ${version === undefined ? 'deleted' : `version ${version}`}`,
        source: SOURCE,
        base: live?.pointer.set,
        // Every run would file it again.
        filing: 'never',
        confirmed,
      });
      if (outcome.outcome === 'stale') return 'stale';
      const problems = problemsOf(outcome);
      if (problems !== undefined) return { outcome: 'refused', version, problems };
    }
    await imported.write(group, parameter && { ...parameter, limits: limits.map(({ limit }) => limit.id) });
    return { outcome: 'imported' };
  };
  const result = await retried(importOnce, (each) => each === 'stale', {
    ...{ clock, random, triesMax: TRIES_MAX, pauseMsMax: () => PAUSE_MS_MAX },
  });
  if (result !== 'stale') return result;
  const problem =
    'limits were edited elsewhere at the same time; the next run, within five minutes, tries again';
  return { outcome: 'refused', version, problems: [problem] };
}

type Version = Pick<ParameterVersion, 'version' | 'modifiedAtMs'>;

/** Two absent versions are the same. */
export const isSameVersion = (a: Version | undefined, b: Version | undefined): boolean =>
  a?.version === b?.version && a?.modifiedAtMs === b?.modifiedAtMs;

/** @param named - ids that the last imported version named. */
function editsFor(
  group: number,
  wanted: readonly WantedLimit[],
  named: readonly string[],
  standing: readonly Limit[] = [],
): readonly LimitEdit[] {
  const byId = new Map(standing.map((each) => [each.id, each]));
  const sets = wanted.flatMap((want) => {
    const there = byId.get(want.limit.id);
    return there !== undefined && isSameLimit(there, want.limit) ? [] : setEdits(group, want, there);
  });
  const removals = named
    .filter((id) => byId.has(id) && !wanted.some(({ limit }) => limit.id === id))
    .map((limit) => ({ kind: 'remove', subject: `group/${group}`, limit }) as const);
  return [...sets, ...removals];
}

/** Makes the limit what the entry says. @param there - the limit of this id that is live. */
function setEdits(group: number, want: WantedLimit, there: Limit | undefined): readonly LimitEdit[] {
  const { kind, per, id } = want.limit;
  if (there === undefined || (there.kind === kind && there.per === per))
    return [setEdit(group, want, there !== undefined)];
  // The unit and the period of a limit cannot be edited: it becomes another limit of the same name.
  return [{ kind: 'remove', subject: `group/${group}`, limit: id }, setEdit(group, want, false)];
}

function setEdit(group: number, { entry, limit }: WantedLimit, isThere: boolean): SetLimit {
  // A field that is not in the value is not in the limit, either.
  const written = limitFields.flatMap(({ name }): [string, unknown][] => {
    const value = readField(name, entry[name]);
    if (value !== undefined && value !== null) return [[name, value]];
    return isThere ? [[name, null]] : [];
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

/** Compares what two limits say, without grants and carried amounts. */
const isSameLimit = (a: Limit, b: Limit): boolean => isDeepStrictEqual(written(a), written(b));

const written = ({
  grants: _grants,
  earlierGrants: _earlier,
  opening: _opening,
  overdrawn: _overdrawn,
  ...limit
}: Limit): object => limit;

/** Says why an edit was not made; undefined: it was. */
function problemsOf(outcome: Exclude<ApplyOutcome, { outcome: 'stale' }>): readonly string[] | undefined {
  switch (outcome.outcome) {
    case 'live':
    case 'unchanged':
      return undefined;
    case 'invalid':
      return outcome.problems.slice(0, PROBLEMS_MAX).map(problemText);
    case 'forbidden':
      return outcome.denied.slice(0, PROBLEMS_MAX).map(({ row, needs }) => {
        return `${row.subject} ${row.limit} ${row.field}: only ${needs.join(' or ')} may do this; Parameter Store edits as finance`;
      });
    case 'needs_confirmation': {
      const rows = outcome.rows
        .slice(0, PROBLEMS_MAX)
        .map((row) => `${row.subject} ${row.limit}: ${row.from} becomes ${row.to} ${row.unit ?? ''}`.trim());
      const said = [...rows, ...outcome.lockout.slice(0, PROBLEMS_MAX)];
      return [`needs to be confirmed: write confirm: true into the value (${said.join('; ')})`];
    }
    case 'needs_approval':
      return [
        'lets jobs go more than half as far again, so somebody else must approve it: make this change in the console or with tollgate budget, where a request is filed',
      ];
  }
}
