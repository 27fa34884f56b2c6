import { readWrittenAmount, readWrittenDay } from '../../../../policies/document/written.ts';
import { limitFields } from '../../../../policies/limits/limit-fields.ts';
import { isMoney, LIMIT_KINDS } from '../../../../policies/units/unit.ts';
import type { Values } from '../parts/form-field.tsx';

const namesOf = (wanted: string): readonly string[] =>
  limitFields.flatMap(({ name, type }) => (type === wanted ? [name] : []));
const AMOUNTS = ['amount', ...namesOf('part')];
const DAYS = namesOf('day');

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
    const written = DAYS.includes(name)
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
