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
  type Counted,
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
    ...readMargins(reading, { kind, amount }),
    ...readCarry(reading, { kind, amount, per, subject }),
    ...readCohort(reading, { kind, amount }, subject),
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

const WAIT_SECONDS_MAX = 60;

function readWait(reading: Reading, kind: LimitKind): number | undefined {
  if (!isAwaitable(kind))
    return reading.refuse(`is on a limit of ${kind}; only ${kindsText(isAwaitable)} can be waited for`);
  // Stored limits may still say `up to 20s`.
  const seconds = readDurationSeconds(reading.asText.replace(/^up to /, ''));
  return seconds !== undefined && seconds <= WAIT_SECONDS_MAX
    ? seconds * 1_000
    : reading.expected(`how long a job waits for room, such as 20s, at most ${WAIT_SECONDS_MAX}s`);
}

const kindsText = (is: (kind: LimitKind) => boolean): string => listText(LIMIT_KINDS.filter(is), 'and');

const NOT_OF_CAPS = ['carry', 'overdraft', 'cohort', 'thresholds', 'when_unreachable'] as const;

function refuseOnCap(reading: Reading, subject: string, per: Limit['per']): void {
  const cap = capOf(subject);
  if (cap === undefined) return;
  for (const key of NOT_OF_CAPS)
    reading.optional(key, (each) => each.refuse(`is on a limit for each ${cap.kind}, which has none`));
  const ends = endsByItself(subject);
  if (per !== undefined && (per === 'once') !== ends)
    reading.at('per').expected(ends ? `once: each ${cap.kind} ends by itself` : 'a period that ends');
}

function readKind(reading: Reading): LimitKind | undefined {
  const [kind, ...more] = LIMIT_KINDS.filter((each) => reading.at(each).isThere);
  if (kind !== undefined && more.length === 0) return kind;
  return reading.refuse(
    `has ${[kind, ...more].join(' and ') || 'no number'}; expected one of ${LIMIT_KINDS.join(', ')}`,
  );
}

const SUBJECT_KEYS = ['group', 'project', 'runner_class', 'runner', 'user'] as const;
const PLACE_KEYS = ['group', 'project'] as const;

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
  of: Counted,
  subject: string,
): Pick<Limit, 'cohort' | 'borrow' | 'borrowShare' | 'lend' | 'lendShare'> {
  const { kind, amount } = of;
  const cohort = reading.at('cohort');
  if (!cohort.isThere) {
    for (const key of ['borrow', 'lend'])
      reading.optional(key, (each) => each.refuse('needs a cohort, such as `cohort: ci`'));
    return {};
  }
  if (!isAtOnce(kind) || !subject.startsWith('group/') || amount === 'unlimited')
    return cohort.refuse(`is only for limits of one group with an amount, of ${kindsText(isAtOnce)}`) ?? {};
  for (const key of ['soft', 'grace'])
    reading.optional(key, (each) => each.expected('nothing on a limit in a cohort: it borrows instead'));
  const name = readName(cohort);
  if (name === undefined || amount === undefined) return {};
  const part = (key: string, most: number) =>
    reading.optional(key, (each) =>
      each.value === 0 || each.value === '0' ? { units: 0, share: undefined } : readMargin(each, of, most),
    );
  const borrow = part('borrow', Number.MAX_SAFE_INTEGER - amount);
  const lend = part('lend', amount);
  return {
    cohort: name,
    ...withoutAbsent({
      borrow: borrow?.share === undefined ? borrow?.units : undefined,
      borrowShare: borrow?.share,
      lend: lend?.share === undefined ? lend?.units : undefined,
      lendShare: lend?.share,
    }),
  };
}
