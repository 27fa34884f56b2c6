import type { Limit } from '../limits/limit.ts';
import type { Reading } from './reading.ts';

/** What people may write about a limit, and how long it may be: limits are read with every admission. */
const OWNER_CHARACTERS_MAX = 100;
const CONTACT_CHARACTERS_MAX = 200;
const COST_CENTER_CHARACTERS_MAX = 100;
const REASON_CHARACTERS_MAX = 500;

/** Reads `owner`, `contact`, `cost_center` and `reason`. */
export function readTexts(reading: Reading): Pick<Limit, 'owner' | 'contact' | 'costCenter' | 'reason'> {
  const owner = readOwner(reading);
  const contact = readTextField(reading.at('contact'), 'where to reach the owner,', CONTACT_CHARACTERS_MAX);
  const costCenter = readTextField(reading.at('cost_center'), 'a cost center', COST_CENTER_CHARACTERS_MAX);
  const reason = readTextField(reading.at('reason'), 'a reason', REASON_CHARACTERS_MAX);
  return {
    ...(owner !== undefined && { owner }),
    ...(contact !== undefined && { contact }),
    ...(costCenter !== undefined && { costCenter }),
    ...(reason !== undefined && { reason }),
  };
}

export const readOwner = (reading: Reading): string | undefined =>
  readTextField(reading.at('owner'), 'a name', OWNER_CHARACTERS_MAX);

/** Nothing there: undefined. */
export const readTextField = (reading: Reading, what: string, charactersMax: number): string | undefined =>
  reading.isThere ? neededText(reading, what, charactersMax) : undefined;

export const neededText = (reading: Reading, what: string, charactersMax: number): string | undefined =>
  reading.text(
    `${what} of at most ${charactersMax} characters`,
    (text) => text.trim() !== '' && text.length <= charactersMax,
  );
