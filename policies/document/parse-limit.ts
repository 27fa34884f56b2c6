import { CAP_KINDS, capOf, capSubject, endsByItself, isCap } from '../limits/cap.ts';
import { type Limit, OUTAGE_POLICIES } from '../limits/limit.ts';
import { limitFields } from '../limits/limit-fields.ts';
import { subjectKey } from '../limits/limits.ts';
import type { FiscalStart } from '../limits/period.ts';
import { MODES } from '../mode.ts';
import { isAtOnce, isAwaitable, isSpent, LIMIT_KINDS, type LimitKind, UNIT_OF } from '../unit.ts';
import { isName, NAME_EXPECTED, readTexts, readValidity } from './parse-entry.ts';
import {
  readAmount,
  readCarry,
  readLimitThresholds,
  readMargin,
  readMargins,
  readPeriod,
} from './parse-limit-period.ts';
import { isRecord, type Reading } from './reading.ts';
import { readDurationSeconds } from './values.ts';

export const LIMIT_KEYS: readonly string[] = ['id', ...LIMIT_KINDS, ...limitFields.map(({ name }) => name)];

/** Defaults for limits that do not set these fields. */
export interface LimitDefaults {
  readonly fiscalStart: FiscalStart;
  /** For budgets: money and minutes. */
  readonly thresholds?: readonly number[] | undefined;
}

/** Reads the limit itself; `on` was read by the caller. */
export function readLimit(reading: Reading, subject: string, defaults: LimitDefaults): Limit | undefined {
  const { fiscalStart } = defaults;
  const kind = readKind(reading);
  if (kind === undefined) return undefined;
  const amount = readAmount(reading.at(kind), kind);
  const margins = readMargins(reading, kind, amount);
  const period = readPeriod(reading, kind, fiscalStart);
  const carry = readCarry(reading, { kind, amount, per: period?.per, subject });
  const mode = reading.at('mode').isThere ? reading.at('mode').oneOf('a mode', MODES) : 'enforce';
  const whenUnreachable = reading.at('when_unreachable').isThere
    ? reading.at('when_unreachable').oneOf('what becomes of jobs while it cannot be asked', OUTAGE_POLICIES)
    : undefined;
  const waitMs = readWait(reading.at('wait'), kind);
  const cohort = readCohort(reading, kind, amount, subject);
  const id = reading.at('id').isThere
    ? reading.at('id').text(NAME_EXPECTED, isName)
    : `${kind}-${period?.per ?? 'now'}`;
  const validity = readValidity(reading, period?.zone);
  refuseOnCap(reading, subject, period?.per);
  const own = readLimitThresholds(reading.at('thresholds'), kind, period?.per);
  const thresholds =
    own?.thresholds ??
    (isCap(subject)
      ? []
      : isSpent(kind) && period?.per !== 'minute' && period?.per !== 'hour'
        ? defaults.thresholds
        : undefined);
  if (amount === undefined || period === undefined || mode === undefined || id === undefined)
    return undefined;
  return {
    id,
    subject,
    kind,
    unit: UNIT_OF[kind],
    amount,
    ...margins,
    ...carry,
    ...period,
    mode,
    ...(whenUnreachable !== undefined && { whenUnreachable }),
    ...(waitMs !== undefined && { waitMs }),
    ...cohort,
    ...validity,
    ...readTexts(reading),
    ...(thresholds !== undefined && { thresholds }),
    ...(own?.forecastThresholds !== undefined && { forecastThresholds: own.forecastThresholds }),
  };
}

/** The router is not known to wait longer. */
const WAIT_SECONDS_MAX = 60;
const WAIT_EXPECTED = `how long a job waits for room, such as 20s, at most ${WAIT_SECONDS_MAX}s`;

/** Reads `20s` or `up to 20s`. */
function readWait(reading: Reading, kind: LimitKind): number | undefined {
  if (!reading.isThere) return undefined;
  if (!isAwaitable(kind)) {
    const kinds = LIMIT_KINDS.filter(isAwaitable);
    return reading.refuse(
      `is on a limit of ${kind}, of which no room comes back within seconds; only ${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)} can be waited for`,
    );
  }
  const secondsOf = (text: string): number | undefined => readDurationSeconds(text.replace(/^up to /, ''));
  const text = reading.text(WAIT_EXPECTED, (each) => (secondsOf(each) ?? Infinity) <= WAIT_SECONDS_MAX);
  return text === undefined ? undefined : (secondsOf(text) ?? 0) * 1_000;
}

/** Fields that make no sense for one limit per pipeline. */
const NOT_OF_CAPS = ['carry', 'overdraft', 'cohort', 'thresholds', 'when_unreachable'] as const;

function refuseOnCap(reading: Reading, subject: string, per: Limit['per']): void {
  const cap = capOf(subject);
  if (cap === undefined) return;
  for (const key of NOT_OF_CAPS)
    if (reading.at(key).isThere)
      reading.at(key).refuse(`is on a limit for each ${cap.kind}, which has none; take it out`);
  if (per === undefined || (per === 'once') === endsByItself(subject)) return;
  reading
    .at('per')
    .expected(
      endsByItself(subject)
        ? `once: it counts as long as the ${cap.kind} goes on`
        : `a period that ends: each ${cap.kind} counts anew then`,
    );
}

function readKind(reading: Reading): LimitKind | undefined {
  const [kind, ...more] = LIMIT_KINDS.filter((each) => reading.at(each).isThere);
  if (kind === undefined)
    return reading.refuse(
      `has no number; expected one of ${LIMIT_KINDS.slice(0, -1).join(', ')} or ${LIMIT_KINDS.at(-1)}`,
    );
  if (more.length > 0)
    return reading.refuse(`has ${kind} and ${more.join(' and ')}; write one limit for each`);
  return kind;
}

const SUBJECT_KEYS = ['group', 'project', 'runner_class', 'runner', 'user'] as const;
const PLACE_KEYS = ['group', 'project'] as const;

/** Reads the subject of a limit, or `{each: pipeline}`, optionally with `group: 101` or `project: 7`. */
export function readLimitSubject(reading: Reading, runnerClasses: readonly string[]): string | undefined {
  if (!isRecord(reading.value) || !reading.at('each').isThere) return readSubject(reading, runnerClasses);
  if (!reading.object(['each', ...PLACE_KEYS])) return undefined;
  const kind = reading.at('each').oneOf('what each has by itself', CAP_KINDS);
  const places = PLACE_KEYS.filter((key) => reading.at(key).isThere);
  const [place] = places;
  if (places.length > 1) return reading.expected('at most one of group and project beside each');
  const id = place === undefined ? undefined : reading.at(place).integer(`GitLab's id of the ${place}`, 1);
  if (kind === undefined || (place !== undefined && id === undefined)) return undefined;
  return capSubject(
    place === undefined || id === undefined
      ? subjectKey({ kind: 'instance' })
      : subjectKey({ kind: place, id }),
    kind,
  );
}

/** Reads `instance`, `{group: 101}`, `{project: 7}`, `{runner_class: large}`, `{runner: 41}` or `{user: 5}` into a subject's key. */
export function readSubject(reading: Reading, runnerClasses: readonly string[]): string | undefined {
  if (reading.value === 'instance') return subjectKey({ kind: 'instance' });
  if (!isRecord(reading.value)) {
    return reading.expected(
      'instance, {group: 101}, {project: 7}, {runner_class: large}, {runner: 41} or {user: 5}',
    );
  }
  if (!reading.object(SUBJECT_KEYS)) return undefined;
  const [key, ...more] = SUBJECT_KEYS.filter((each) => reading.at(each).isThere);
  if (key === undefined || more.length > 0)
    return reading.expected(`exactly one of ${SUBJECT_KEYS.join(', ')}`);
  if (key === 'runner_class') {
    const name = reading.at(key).oneOf('a runner class of the policy', runnerClasses);
    return name === undefined ? undefined : subjectKey({ kind: 'runner-class', name });
  }
  const id = reading.at(key).integer(`GitLab's id of the ${key}`, 1);
  return id === undefined ? undefined : subjectKey({ kind: key, id });
}

/** Reads `cohort: ci`, `borrow: 5` and `lend: 50%`. */
function readCohort(
  reading: Reading,
  kind: LimitKind,
  amount: number | 'unlimited' | undefined,
  subject: string,
): Pick<Limit, 'cohort' | 'borrow' | 'borrowShare' | 'lend' | 'lendShare'> {
  const [cohort, borrow, lend] = [reading.at('cohort'), reading.at('borrow'), reading.at('lend')];
  if (!cohort.isThere) {
    for (const each of [borrow, lend])
      if (each.isThere)
        each.refuse('needs a cohort, such as `cohort: ci`: the limits it borrows from and lends to');
    return {};
  }
  if (!isAtOnce(kind)) {
    const kinds = LIMIT_KINDS.filter(isAtOnce);
    cohort.refuse(
      `is on a limit of ${kind}, which is not given back; only ${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)} can be lent`,
    );
    return {};
  }
  if (!subject.startsWith('group/'))
    cohort.refuse('is on a limit of no single group: only groups lend and borrow');
  for (const each of ['soft', 'grace'] as const)
    if (reading.at(each).isThere)
      reading.at(each).expected('nothing on a limit in a cohort: it borrows instead');
  if (amount === 'unlimited')
    cohort.refuse('is on an unlimited limit, which has nothing to lend and no need to borrow');
  const name = cohort.text(NAME_EXPECTED, isName);
  if (name === undefined || typeof amount !== 'number') return {};
  const borrowing = readPart(borrow, kind, amount);
  const lending = readPart(lend, kind, amount);
  if (amount + (borrowing?.units ?? 0) > Number.MAX_SAFE_INTEGER)
    borrow.expected('less: limit and loan together are too large to count');
  if (lending !== undefined && lending.units > amount) lend.expected('at most as much as the limit itself');
  return {
    cohort: name,
    ...(borrowing !== undefined &&
      (borrowing.share === undefined ? { borrow: borrowing.units } : { borrowShare: borrowing.share })),
    ...(lending !== undefined &&
      (lending.share === undefined ? { lend: lending.units } : { lendShare: lending.share })),
  };
}

/** `0` is nothing. */
const readPart = (reading: Reading, kind: LimitKind, amount: number): ReturnType<typeof readMargin> =>
  reading.value === 0 || reading.value === '0' ? { units: 0 } : readMargin(reading, kind, amount);
