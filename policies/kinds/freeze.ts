import type { CheckedJob } from '../checked-job.ts';
import { readZone, text } from '../document/parse-entry.ts';
import { Reading } from '../document/reading.ts';
import { type Match, readMatch } from '../match/match.ts';
import { instantText, relativeText, untilText } from '../text/edge-text.ts';
import { fitted, oneLine, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import { frozenUntilMs, readFreezeWindows } from './freeze-window.ts';
import type { StatelessRuleKind } from './rule-kind.ts';

const WHY_CHARACTERS_MAX = 200;

/** Nothing starts in what the rule matches during its windows, or, without any, as long as the rule is there. */
export const freeze: StatelessRuleKind<GroupFrozenReason> = {
  class: 'capacity',
  keys: ['windows', 'zone', 'why'],
  read(reading, names) {
    const zone = readZone(reading, names.zone) ?? names.zone;
    const windows = reading.optional('windows', (each) => readFreezeWindows(each, zone));
    const why = reading.optional('why', text('a text', WHY_CHARACTERS_MAX));
    // Read a second time, for what it says only: problems were noted when the rule's own match was read.
    const match = readMatch(Reading.of(reading.at('match').value), names.runnerClasses);
    return (job) => {
      const untilMs = windows === undefined ? Number.POSITIVE_INFINITY : frozenUntilMs(windows, job.nowMs);
      if (untilMs === undefined) return [];
      return [
        {
          code: 'GROUP_FROZEN',
          frozenLabel: labelFor(match, job),
          ...(untilMs !== Number.POSITIVE_INFINITY && { untilMs }),
          zone,
          ...(why !== undefined && { why }),
        },
      ];
    };
  },
};

/** Names the job's own group or runner class only, not other ones in the rule. */
function labelFor(match: Match, { placement, runnerClass }: CheckedJob): string {
  if (Object.keys(match).length === 0) return 'everything';
  const { groupPath, groupId = 'unknown' } = placement;
  const group = `group ${groupPath ?? groupId}`;
  return match.runnerClasses === undefined ? group : `${group}, runner class ${runnerClass.name}`;
}

export interface GroupFrozenReason {
  readonly code: 'GROUP_FROZEN';
  readonly frozenLabel: string;
  readonly untilMs?: number;
  /** Absent in a record that was cut to fit: its times are shown in UTC. */
  readonly zone?: string;
  readonly why?: string;
  readonly owner?: string;
}

const LABEL_LINE_CHARACTERS_MAX = 100;

export const groupFrozen: ReasonText<GroupFrozenReason> = {
  headline: (reason, { nowMs }) =>
    fitted(reason.frozenLabel, (label) => {
      const { untilMs } = reason;
      const opens = untilMs === undefined ? 'for now' : `(opens ${relativeText(nowMs, untilMs)})`;
      return `A freeze stops this job ${opens}: ${label}${whyText(reason)}.`;
    }),
  discreetHeadline: () => 'CI is frozen for this job: it may not start now.',
  line: (reason) => {
    const { frozenLabel, untilMs, zone = 'UTC' } = reason;
    const until = untilMs === undefined ? 'until it is lifted' : `until ${instantText(untilMs, zone)}`;
    return `${shortened(oneLine(frozenLabel), LABEL_LINE_CHARACTERS_MAX)}: frozen ${until}${whyText(reason)}`;
  },
  advice: ({ untilMs, zone = 'UTC' }, { nowMs }) => [
    untilMs === undefined
      ? 'Retries fail until the freeze is lifted.'
      : `Retrying now will fail again. It will work after ${untilText(untilMs, zone, nowMs)}.`,
    'If it cannot wait, ask the team that runs CI for an exemption.',
  ],
  faultless: true,
};

const whyText = ({ why }: GroupFrozenReason): string =>
  why === undefined ? '' : `, because: ${shortened(oneLine(why).replace(/[.\s]+$/, ''), WHY_CHARACTERS_MAX)}`;
