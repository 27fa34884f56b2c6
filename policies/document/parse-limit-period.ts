import {
  FISCAL_KINDS,
  type FiscalKind,
  type FiscalStart,
  isFiscal,
  isFiscalStart,
} from '../limits/fiscal.ts';
import type { Limit } from '../limits/limit.ts';
import { PERIOD_KINDS, type PeriodKind } from '../limits/period.ts';
import { isZone } from '../limits/zone.ts';
import type { LimitKind } from '../units/unit.ts';
import { isAtOnce } from '../units/unit.ts';
import type { Reading } from './reading.ts';

export const PERIOD_KEYS = ['per', 'zone', 'fiscal_start'] as const;

/** Reads `per`, `zone` and `fiscal_start` of a limit; undefined: it needs a period and has none. */
export function readPeriod(
  reading: Reading,
  kind: LimitKind,
  defaultStart: FiscalStart,
): Pick<Limit, 'per' | 'zone' | 'fiscalStart'> | undefined {
  if (isAtOnce(kind)) {
    for (const key of PERIOD_KEYS) refuseAtOnce(reading.at(key), key, kind);
    return { zone: 'UTC' };
  }
  const per = reading.at('per').oneOf('a period', PERIOD_KINDS);
  const zone = readZone(reading.at('zone'), per) ?? 'UTC';
  const fiscalStart = readOwnStart(reading.at('fiscal_start'), per) ?? defaultStart;
  if (per === undefined) return undefined;
  return { per, zone, ...(isYearly(per) && isFiscal(per, fiscalStart) && { fiscalStart }) };
}

/** `04-06`; the fiscal year begins on 6 April. Nothing there: undefined. */
export function readFiscalStart(reading: Reading): FiscalStart | undefined {
  if (!reading.isThere) return undefined;
  return reading.text(
    'the day the fiscal year begins, as MM-DD and at most the 28th, e.g. "04-06"',
    isFiscalStart,
  );
}

function refuseAtOnce(reading: Reading, key: (typeof PERIOD_KEYS)[number], kind: LimitKind): void {
  if (!reading.isThere) return;
  const how = { per: 'not per period', zone: 'in no zone', fiscal_start: 'in no year' }[key];
  const are = kind.endsWith('s') ? 'are' : 'is';
  reading.expected(`nothing: ${kind} ${are} counted at once, ${how}`);
}

function readZone(reading: Reading, per: PeriodKind | undefined): string | undefined {
  if (!reading.isThere) return undefined;
  if (per === 'minute' || per === 'hour')
    return reading.expected(`nothing: every ${per} begins with UTC's, whatever the zone`);
  if (per === 'once') return reading.expected('nothing: what is counted once begins in no zone');
  return reading.text('a zone such as Europe/Berlin or UTC', isZone);
}

function readOwnStart(reading: Reading, per: PeriodKind | undefined): FiscalStart | undefined {
  if (reading.isThere && per !== undefined && !isYearly(per))
    return reading.expected(`nothing: only ${FISCAL_KINDS.join(', ')} have a fiscal start`);
  return readFiscalStart(reading);
}

const isYearly = (per: PeriodKind): per is FiscalKind =>
  (FISCAL_KINDS as readonly PeriodKind[]).includes(per);
