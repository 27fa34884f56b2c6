import type { FiscalStart } from '../limits/fiscal.ts';
import type { Limit } from '../limits/limit.ts';
import { MODES } from '../mode.ts';
import { isSpent, LIMIT_KINDS, type LimitKind, UNIT_OF } from '../units/unit.ts';
import { isName, NAME_EXPECTED } from './name.ts';
import {
  CARRY_KEYS,
  PERIOD_KEYS,
  readAmount,
  readCarry,
  readLimitThresholds,
  readMargins,
  readPeriod,
} from './parse-limit-period.ts';
import { readTexts } from './parse-limit-texts.ts';
import { readValidity, VALIDITY_KEYS } from './parse-validity.ts';
import type { Reading } from './reading.ts';

export const LIMIT_KEYS: readonly string[] = [
  'id',
  ...LIMIT_KINDS,
  'soft',
  'grace',
  ...CARRY_KEYS,
  ...PERIOD_KEYS,
  'mode',
  ...VALIDITY_KEYS,
  'owner',
  'contact',
  'cost_center',
  'reason',
  'thresholds',
];

/** What a document says once for all limits that do not say it themselves. */
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
  const id = reading.at('id').isThere
    ? reading.at('id').text(NAME_EXPECTED, isName)
    : `${kind}-${period?.per ?? 'now'}`;
  const validity = readValidity(reading, period?.zone);
  const thresholds =
    readLimitThresholds(reading.at('thresholds'), kind, period?.per) ??
    (isSpent(kind) && period?.per !== 'minute' && period?.per !== 'hour' ? defaults.thresholds : undefined);
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
    ...validity,
    ...readTexts(reading),
    ...(thresholds !== undefined && { thresholds }),
  };
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
