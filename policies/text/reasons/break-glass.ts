import type { CodedReason } from '../../reason.ts';
import { fitted, oneLine, shortened } from '../plain-text.ts';
import type { ReasonText } from '../reason-text.ts';

const ID_CHARACTERS_MAX = 60;
const WHY_CHARACTERS_MAX = 200;

/** Rejects nobody: for the record, the owner, and whoever reviews it. */
export const breakGlass: ReasonText<CodedReason<'BREAK_GLASS'>> = {
  headline: ({ why }) =>
    fitted(why.replace(/[.\s]+$/, ''), (short) => `Admitted by break-glass, past its limits: ${short}.`),
  discreetHeadline: () => 'Admitted by break-glass.',
  line: ({ breakGlass: id, why }) =>
    `admitted by break-glass ${shortened(oneLine(id), ID_CHARACTERS_MAX)}: ${shortened(oneLine(why), WHY_CHARACTERS_MAX)}`,
  advice: () => ['The job counts in all its limits, its owners are told, and somebody reviews it.'],
  faultless: true,
};
