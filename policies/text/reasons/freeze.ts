import { relativeText } from '../duration-text.ts';
import { fitted, HEADLINE_CHARACTERS_MAX } from '../fitting.ts';
import { instantText } from '../instant-text.ts';
import { oneLine, shortened } from '../plain-text.ts';
import type { ReasonText, Told } from '../reason-text.ts';
import { untilText } from '../until-text.ts';

const LABEL_CHARACTERS_MAX = 100;
const WHY_CHARACTERS_MAX = 200;
/** Less of an explanation explains nothing. */
const WHY_CHARACTERS_MIN = 15;

type Frozen = Told<'GROUP_FROZEN'>;

/** Somebody decided that nothing starts for a while. */
export const groupFrozen: ReasonText<Frozen> = {
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
function explained(said: string, reason: Frozen): string {
  const room = HEADLINE_CHARACTERS_MAX - said.length - '. .'.length;
  const why = whyOf(reason, Math.max(WHY_CHARACTERS_MIN, room));
  return why === '' ? `${said}.` : `${said}. ${why}.`;
}

const whyOf = ({ why }: Frozen, charactersMax: number): string =>
  why === undefined ? '' : cutAtEnd(oneLine(why).replace(/[.\s]+$/, ''), charactersMax);

const cutAtEnd = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).trimEnd()}…`;
