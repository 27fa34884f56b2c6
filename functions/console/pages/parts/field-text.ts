import type { ChangeRow } from '../../../core/limits/desk/outcome.ts';
import { amount, type Telling } from './told.tsx';

/** A field's value as one text: `500.00 EUR`, `enforce`, `none`. */
export const fieldText = (value: ChangeRow['from'], unit: ChangeRow['unit'], telling: Telling): string =>
  typeof value === 'number' && unit !== undefined
    ? amount(value, unit, telling)
    : (value ?? 'none').toString();
