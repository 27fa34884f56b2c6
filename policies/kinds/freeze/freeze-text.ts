import { instantText, relativeText, untilText } from '../../text/edge-text.ts';
import { fitted, HEADLINE_CHARACTERS_MAX, oneLine, shortened } from '../../text/plain-text.ts';
import type { ReasonText } from '../../text/reason-text.ts';

export interface GroupFrozenReason {
  readonly code: 'GROUP_FROZEN';
  /** What is frozen, for people: `everything`, `runner class gpu`, `group acme/payments`. */
  readonly frozenLabel: string;
  /** When it opens again, Unix ms; absent: until somebody lifts it. */
  readonly untilMs?: number;
  readonly zone: string;
  readonly why?: string;
  readonly owner?: string;
}

const LABEL_CHARACTERS_MAX = 100;
const WHY_CHARACTERS_MAX = 200;
/** Less of an explanation explains nothing. */
const WHY_CHARACTERS_MIN = 15;

/** Somebody decided that nothing starts for a while. */
export const groupFrozen: ReasonText<GroupFrozenReason> = {
  headline: (reason, { nowMs }) =>
    fitted(reason.frozenLabel, (label, detail) => {
      const { untilMs, zone } = reason;
      if (untilMs === undefined) return explained(`CI is frozen for now: ${label}`, reason);
      return detail === 'instant'
        ? explained(`CI is frozen until ${untilText(untilMs, zone, nowMs)}: ${label}`, reason)
        : explained(`CI is frozen (opens ${relativeText(nowMs, untilMs)}): ${label}`, reason);
    }),
  discreetHeadline: () => 'CI is frozen for this job: it may not start now.',
  line: (reason) => {
    const { frozenLabel, untilMs, zone } = reason;
    const until = untilMs === undefined ? 'until somebody lifts it' : `until ${instantText(untilMs, zone)}`;
    const why = whyOf(reason, WHY_CHARACTERS_MAX);
    return `${shortened(oneLine(frozenLabel), LABEL_CHARACTERS_MAX)}: frozen ${until}${why === '' ? '' : `: ${why}`}`;
  },
  advice: ({ untilMs, zone }, { nowMs }) => [
    untilMs === undefined
      ? 'Retrying will fail again until somebody lifts the freeze.'
      : `Retrying now will fail again. It will work after ${untilText(untilMs, zone, nowMs)}.`,
    'If it cannot wait, ask the team that runs CI for an exemption.',
  ],
  faultless: true,
};

/** Adds as much of the reason as fits on the first line; all of it stands further down. */
function explained(said: string, reason: GroupFrozenReason): string {
  const room = HEADLINE_CHARACTERS_MAX - said.length - '. .'.length;
  const why = whyOf(reason, Math.max(WHY_CHARACTERS_MIN, room));
  return why === '' ? `${said}.` : `${said}. ${why}.`;
}

const whyOf = ({ why }: GroupFrozenReason, charactersMax: number): string =>
  why === undefined ? '' : cutAtEnd(oneLine(why).replace(/[.\s]+$/, ''), charactersMax);

const cutAtEnd = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).trimEnd()}…`;
