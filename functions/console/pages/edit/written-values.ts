import { readWrittenAmount, readWrittenDay } from '../../../../policies/document/written.ts';
import { isMoney, LIMIT_KINDS } from '../../../../policies/units/unit.ts';
import type { Values } from '../parts/form-field.tsx';

const AMOUNTS = ['amount', 'soft', 'carry', 'borrow', 'lend'] as const;
const DAYS = ['from', 'until'] as const;

/**
 * Converts numbers and days as people write them to texts of limits.yaml. Unchanged values stay; ambiguous
 * ones are reported at their field.
 */
export function writtenValues(
  values: Values,
  was: Values,
  currency: string,
  problems: Map<string, string>,
): Values {
  const read: Record<string, string> = {};
  const kind = LIMIT_KINDS.find((each) => each === (values.unit ?? was.unit ?? LIMIT_KINDS[0]));
  for (const name of [...AMOUNTS, ...DAYS]) {
    const text = values[name];
    if (!text || text === was[name]) continue;
    const written = (DAYS as readonly string[]).includes(name)
      ? readWrittenDay(text)
      : readWrittenAmount(text, {
          currency,
          isMoney: kind !== undefined && isMoney(kind),
          was: name === 'amount' ? was.amount : undefined,
        });
    if (written.ok) read[name] = written.text;
    else problems.set(name, `${written.message}.`);
  }
  return { ...values, ...read };
}
