import { readDecimal } from './decimal.ts';
import { LIMIT_KINDS, type Limit, type LimitKind, UNIT_OF } from './limits.ts';
import { MODES } from './mode.ts';
import { isName, NAME_EXPECTED } from './name.ts';
import { PERIOD_KINDS, type PeriodKind } from './period.ts';
import type { Reading } from './reading.ts';
import { isZone } from './zone.ts';

export const LIMIT_KEYS: readonly string[] = ['id', ...LIMIT_KINDS, 'per', 'zone', 'mode', 'owner'];

const OWNER_CHARACTERS_MAX = 100;
/** How many of our units one written unit has. */
const PER_WHOLE: Readonly<Record<LimitKind, number>> = { money: 1_000_000, minutes: 60, jobs: 1 };

/** Reads the limit itself; `on` was read by the caller. */
export function readLimit(reading: Reading, subject: string): Limit | undefined {
  const kind = readKind(reading);
  if (kind === undefined) return undefined;
  const amount = readAmount(reading.at(kind), kind);
  const per = readPer(reading.at('per'), kind);
  const zone = readZone(reading.at('zone'), kind);
  const mode = reading.at('mode').isThere ? reading.at('mode').oneOf('a mode', MODES) : 'enforce';
  const id = reading.at('id').isThere
    ? reading.at('id').text(NAME_EXPECTED, isName)
    : `${kind}-${per ?? 'now'}`;
  const owner = reading.at('owner').isThere
    ? reading.at('owner').text(`a name of at most ${OWNER_CHARACTERS_MAX} characters`, isOwner)
    : undefined;
  if (amount === undefined || mode === undefined || id === undefined) return undefined;
  if (kind !== 'jobs' && per === undefined) return undefined;
  return {
    id,
    subject,
    kind,
    unit: UNIT_OF[kind],
    amount,
    zone: zone ?? 'UTC',
    mode,
    ...(per !== undefined && { per }),
    ...(owner !== undefined && { owner }),
  };
}

function readKind(reading: Reading): LimitKind | undefined {
  const [kind, ...more] = LIMIT_KINDS.filter((each) => reading.at(each).isThere);
  if (kind === undefined) return reading.refuse('has no number; expected one of money, minutes or jobs');
  if (more.length > 0)
    return reading.refuse(`has ${kind} and ${more.join(' and ')}; write one limit for each`);
  return kind;
}

function readAmount(reading: Reading, kind: LimitKind): number | 'unlimited' | undefined {
  if (reading.value === 'unlimited') return 'unlimited';
  const read = readDecimal(reading.value, PER_WHOLE[kind]);
  if (read.ok) return read.amount;
  const number = kind === 'jobs' ? 'a whole number such as 20' : read.expected;
  return reading.expected(`${number}; 0 blocks, 'unlimited' lifts the limit`);
}

function readPer(reading: Reading, kind: LimitKind): PeriodKind | undefined {
  if (kind !== 'jobs') return reading.oneOf('a period', PERIOD_KINDS);
  return reading.isThere ? reading.expected('nothing: jobs are counted at once, not per period') : undefined;
}

function readZone(reading: Reading, kind: LimitKind): string | undefined {
  if (!reading.isThere) return undefined;
  if (kind === 'jobs') return reading.expected('nothing: jobs are counted at once, in no zone');
  return reading.text('a zone such as Europe/Berlin or UTC', isZone);
}

const isOwner = (text: string): boolean => text.trim() !== '' && text.length <= OWNER_CHARACTERS_MAX;
