import { type Message, subjectLine } from '../notify/notify.ts';
import { crossingId, shortId } from './announced.ts';
import { crossingHeadline, crossingJson, crossingText, type Telling } from './crossing-text.ts';
import type { ToldCrossing } from './watched.ts';

/** Each takes at most 3 KB in all its forms, so that a message stays below half of what SNS takes. */
export const CROSSINGS_PER_MESSAGE_MAX = 40;

/**
 * Several crossings in one message, those nearest to their limit first.
 *
 * @param crossings - of one owner; at least one, at most {@link CROSSINGS_PER_MESSAGE_MAX}.
 */
export function digest(crossings: readonly ToldCrossing[], telling: Telling): Message {
  const sorted = [...crossings].sort((one, other) => shareOf(other) - shareOf(one));
  const [first] = sorted;
  const headline =
    first !== undefined && sorted.length === 1
      ? crossingHeadline(first)
      : `${sorted.length} CI limits reached a threshold`;
  const id = idOf(crossings);
  return {
    subject: subjectLine(`Tollgate: ${headline}`),
    text: `${sorted.map((each) => crossingText(each, telling)).join('\n\n')}\n`,
    json: JSON.stringify({
      kind: 'thresholds',
      version: 1,
      id,
      crossings: sorted.map((each) => crossingJson(each, telling)),
    }),
    id,
    ...(first !== undefined && {
      attributes: {
        owner: first.to.owner,
        kind: 'thresholds',
        severity: sorted.some(isReached) ? 'warning' : 'info',
      },
    }),
  };
}

/** The whole of a limit: from here on jobs are stopped, or would be. */
const isReached = ({ crossing, limitAmount }: ToldCrossing): boolean => crossing.level.amount >= limitAmount;

/** Nothing is further past its limit than what has a limit of 0. */
const shareOf = ({ crossing, limitAmount }: ToldCrossing): number =>
  limitAmount === 0 ? Number.MAX_VALUE : crossing.level.amount / limitAmount;

/** Hashes the crossings alone: numbers and forecasts differ when a message has to be sent again. */
const idOf = (crossings: readonly ToldCrossing[]): string =>
  shortId(JSON.stringify(crossings.map((each) => crossingId(each)).sort()));
