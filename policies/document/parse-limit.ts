import { CAP_KINDS, capOf, capSubject, endsByItself, isCap } from '../limits/cap.ts';
import { type Limit, OUTAGE_POLICIES } from '../limits/limit.ts';
import { limitFields } from '../limits/limit-fields.ts';
import { subjectKey } from '../limits/limits.ts';
import type { FiscalStart } from '../limits/period.ts';
import { MODES } from '../mode.ts';
import { listText } from '../text/plain-text.ts';
import { isAtOnce, isAwaitable, isSpent, LIMIT_KINDS, type LimitKind, UNIT_OF } from '../unit.ts';
import { withoutAbsent } from '../without-absent.ts';
import { gitlabId, LIMIT_TEXTS, readName, readValidity, word } from './parse-entry.ts';
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

export interface LimitDefaults {
  readonly fiscalStart: FiscalStart;
  /** For budgets: money and minutes. */
  readonly thresholds?: readonly number[] | undefined;
}

export function readLimit(reading: Reading, subject: string, defaults: LimitDefaults): Limit | undefined {
  const kind = readKind(reading);
  if (kind === undefined) return undefined;
  const amount = readAmount(reading.at(kind), kind);
  const period = readPeriod(reading, kind, defaults.fiscalStart);
  const per = period?.per;
  const mode = reading.at('mode').isThere ? reading.at('mode').oneOf('a mode', MODES) : 'enforce';
  const id = reading.at('id').isThere ? readName(reading.at('id')) : `${kind}-${per ?? 'now'}`;
  const own = reading.optional('thresholds', (each) => readLimitThresholds(each, kind, per));
  const isAnnounced = isSpent(kind) && per !== 'minute' && per !== 'hour';
  const byDefault = isCap(subject) ? [] : isAnnounced ? defaults.thresholds : undefined;
  const rest = {
    ...readMargins(reading, kind, amount),
    ...readCarry(reading, { kind, amount, per, subject }),
    ...readCohort(reading, kind, amount, subject),
    ...readValidity(reading, period?.zone),
    ...withoutAbsent({
      whenUnreachable: reading.optional(
        'when_unreachable',
        word('what becomes of jobs while it cannot be asked', OUTAGE_POLICIES),
      ),
      waitMs: reading.optional('wait', (each) => readWait(each, kind)),
      owner: reading.optional('owner', LIMIT_TEXTS.owner),
      contact: reading.optional('contact', LIMIT_TEXTS.contact),
      costCenter: reading.optional('cost_center', LIMIT_TEXTS.costCenter),
      reason: reading.optional('reason', LIMIT_TEXTS.reason),
      thresholds: own?.thresholds ?? byDefault,
      forecastThresholds: own?.forecastThresholds,
    }),
  };
  refuseOnCap(reading, subject, per);
  if (amount === undefined || period === undefined || mode === undefined || id === undefined)
    return undefined;
  return { id, subject, kind, unit: UNIT_OF[kind], amount, ...period, mode, ...rest };
}

/** The router is not known to wait longer. */
const WAIT_SECONDS_MAX = 60;

/** Reads `20s` or `up to 20s`. */
function readWait(reading: Reading, kind: LimitKind): number | undefined {
  if (!isAwaitable(kind))
    return reading.refuse(
      `is on a limit of ${kind}, of which no room comes back within seconds; only ${kindsText(isAwaitable)} can be waited for`,
    );
  const seconds = readDurationSeconds(reading.asText.replace(/^up to /, ''));
  return seconds !== undefined && seconds <= WAIT_SECONDS_MAX
    ? seconds * 1_000
    : reading.expected(`how long a job waits for room, such as 20s, at most ${WAIT_SECONDS_MAX}s`);
}

const kindsText = (is: (kind: LimitKind) => boolean): string => listText(LIMIT_KINDS.filter(is), 'and');

/** Fields that make no sense for one limit per pipeline. */
const NOT_OF_CAPS = ['carry', 'overdraft', 'cohort', 'thresholds', 'when_unreachable'] as const;

function refuseOnCap(reading: Reading, subject: string, per: Limit['per']): void {
  const cap = capOf(subject);
  if (cap === undefined) return;
  for (const key of NOT_OF_CAPS)
    if (reading.at(key).isThere)
      reading.at(key).refuse(`is on a limit for each ${cap.kind}, which has none; take it out`);
  const ends = endsByItself(subject);
  if (per !== undefined && (per === 'once') !== ends)
    reading
      .at('per')
      .expected(
        ends
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
  const found = reading.fields(
    { each: word('what each has by itself', CAP_KINDS) },
    { group: gitlabId('group'), project: gitlabId('project') },
  );
  const [place, ...more] = PLACE_KEYS.filter((key) => reading.at(key).isThere);
  if (more.length > 0) return reading.expected('at most one of group and project beside each');
  const id = place && found?.[place];
  if (found === undefined || (place !== undefined && id === undefined)) return undefined;
  const at = place === undefined || id === undefined ? 'instance' : subjectKey({ kind: place, id });
  return capSubject(at, found.each);
}

/** Reads `instance`, `{group: 101}`, `{project: 7}`, `{runner_class: large}`, `{runner: 41}` or `{user: 5}` into a subject's key. */
export function readSubject(reading: Reading, runnerClasses: readonly string[]): string | undefined {
  if (reading.value === 'instance') return 'instance';
  if (!isRecord(reading.value))
    return reading.expected(
      'instance, {group: 101}, {project: 7}, {runner_class: large}, {runner: 41} or {user: 5}',
    );
  if (!reading.object(SUBJECT_KEYS)) return undefined;
  const [key, ...more] = SUBJECT_KEYS.filter((each) => reading.at(each).isThere);
  if (key === undefined || more.length > 0)
    return reading.expected(`exactly one of ${SUBJECT_KEYS.join(', ')}`);
  if (key === 'runner_class') {
    const name = reading.at(key).oneOf('a runner class of the policy', runnerClasses);
    return name && subjectKey({ kind: 'runner-class', name });
  }
  const id = gitlabId(key)(reading.at(key));
  return id === undefined ? undefined : subjectKey({ kind: key, id });
}

function readCohort(
  reading: Reading,
  kind: LimitKind,
  amount: number | 'unlimited' | undefined,
  subject: string,
): Pick<Limit, 'cohort' | 'borrow' | 'borrowShare' | 'lend' | 'lendShare'> {
  const cohort = reading.at('cohort');
  const parts = [reading.at('borrow'), reading.at('lend')] as const;
  if (!cohort.isThere) {
    for (const each of parts)
      if (each.isThere)
        each.refuse('needs a cohort, such as `cohort: ci`: the limits it borrows from and lends to');
    return {};
  }
  if (!isAtOnce(kind)) {
    cohort.refuse(
      `is on a limit of ${kind}, which is not given back; only ${kindsText(isAtOnce)} can be lent`,
    );
    return {};
  }
  if (!subject.startsWith('group/'))
    cohort.refuse('is on a limit of no single group: only groups lend and borrow');
  for (const key of ['soft', 'grace'])
    if (reading.at(key).isThere)
      reading.at(key).expected('nothing on a limit in a cohort: it borrows instead');
  if (amount === 'unlimited')
    cohort.refuse('is on an unlimited limit, which has nothing to lend and no need to borrow');
  const name = readName(cohort);
  if (name === undefined || typeof amount !== 'number') return {};
  const [borrowing, lending] = parts.map((each) => {
    if (!each.isThere) return undefined;
    return each.value === 0 || each.value === '0' ? { units: 0 } : readMargin(each, kind, amount);
  });
  if (amount + (borrowing?.units ?? 0) > Number.MAX_SAFE_INTEGER)
    parts[0].expected('less: limit and loan together are too large to count');
  if (lending !== undefined && lending.units > amount)
    parts[1].expected('at most as much as the limit itself');
  return {
    cohort: name,
    ...(borrowing?.share === undefined
      ? withoutAbsent({ borrow: borrowing?.units })
      : { borrowShare: borrowing.share }),
    ...(lending?.share === undefined
      ? withoutAbsent({ lend: lending?.units })
      : { lendShare: lending.share }),
  };
}
