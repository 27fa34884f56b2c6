import type { Reason } from '../reason.ts';
import { labelOf, limitName } from './limit-name.ts';
import { plain } from './plain-text.ts';
import { textsFor } from './reason-texts.ts';

/** One reason with its numbers, for the lines under the first. */
export const reasonLine = (reason: Reason, currency: string): string =>
  plain(textsFor(reason).line(reason, currency));

/** Names whose limit it is and leaves out its numbers. */
export const discreetReasonLine = (reason: Reason, currency: string): string =>
  'limitAmount' in reason ? `${labelOf(reason)}: ${limitName(reason)}` : reasonLine(reason, currency);
