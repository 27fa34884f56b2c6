import type { CheckedJob } from '../checked-job.ts';
import { readZone, text } from '../document/parse-entry.ts';
import { readMatch } from '../document/parse-match.ts';
import { Reading } from '../document/reading.ts';
import type { Match } from '../match/match.ts';
import { instantText, relativeText, untilText } from '../text/edge-text.ts';
import { cutLine, fitted, oneLine, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import { frozenUntilMs, readFreezeWindows } from './freeze-window.ts';
import type { Check, KnownNames, StatelessRuleKind } from './rule-kind.ts';

const WHY_CHARACTERS_MAX = 200;

/** Nothing starts in what the rule matches during its windows, or, without any, as long as the rule is there. */
export const freeze: StatelessRuleKind<GroupFrozenReason> = {
  class: 'capacity',
  keys: ['windows', 'zone', 'why'],
  read: readFreeze,
};

function readFreeze(reading: Reading, names: KnownNames): Check<GroupFrozenReason> {
  const zone = readZone(reading, names.zone) ?? names.zone;
  const windows = reading.optional('windows', (each) => readFreezeWindows(each, zone));
  const why = reading.optional('why', text('a text', WHY_CHARACTERS_MAX));
  // Read a second time, for what it says only: problems were noted when the rule's own match was read.
  const labelOf = frozenLabelling(readMatch(Reading.of(reading.at('match').value), names.runnerClasses));
  return (job) => {
    const untilMs = windows === undefined ? Number.POSITIVE_INFINITY : frozenUntilMs(windows, job.nowMs);
    if (untilMs === undefined) return [];
    return [
      {
        code: 'GROUP_FROZEN',
        frozenLabel: labelOf(job),
        ...(untilMs !== Number.POSITIVE_INFINITY && { untilMs }),
        zone,
        ...(why !== undefined && { why }),
      },
    ];
  };
}

const LABEL_CHARACTERS_MAX = 120;

/**
 * Labels the frozen part for people: `everything`, `group acme/payments`, `group acme, runner class gpu`. It
 * names only the job's own groups and values, not other ones in the rule.
 */
function frozenLabelling(match: Match): (job: CheckedJob) => string {
  const { groups, projects, runnerClasses, runnerTags, runnerIds, refs, environments, sources } = match;
  const groupIds = new Set(groups?.flatMap((each) => ('id' in each ? [each.id] : [])));
  return ({ request, placement, runnerClass }) => {
    const parts: string[] = [];
    const add = (condition: unknown, label: string): void => {
      if (condition !== undefined) parts.push(label);
    };
    add(groups, groupLabel(groupIds, placement));
    add(projects, named('project', placement.projectPath ?? placement.projectId));
    add(runnerClasses, named('runner class', runnerClass.name));
    add(runnerTags ?? runnerIds, 'this runner');
    add(match.users, 'this user');
    add(match.protected, match.protected ? 'protected refs' : 'refs that are not protected');
    add(refs, named('ref', request.ref));
    add(environments, named('environment', request.environment));
    add(sources, named('pipeline source', request.pipelineSource));
    add(match.jobs, named('job', request.jobName));
    const label = parts.length === 0 ? 'everything' : parts.join(', ');
    return label.length > LABEL_CHARACTERS_MAX ? `${label.slice(0, LABEL_CHARACTERS_MAX - 1)}…` : label;
  };
}

/** The group the rule names by id, if it is one above the job; else the job's own. */
function groupLabel(ids: ReadonlySet<number>, { ancestors, ...own }: CheckedJob['placement']): string {
  const above = ancestors.find(({ id }) => ids.has(id));
  return named('group', above === undefined ? (own.groupPath ?? own.groupId) : (above.path ?? above.id));
}

const named = (what: string, name: string | number | undefined): string =>
  name === undefined ? `this ${what}` : `${what} ${name}`;

export interface GroupFrozenReason {
  readonly code: 'GROUP_FROZEN';
  readonly frozenLabel: string;
  /** End of the freeze, Unix ms. Absent: someone has to lift it. */
  readonly untilMs?: number;
  readonly zone: string;
  readonly why?: string;
  readonly owner?: string;
}

const LABEL_LINE_CHARACTERS_MAX = 100;

export const groupFrozen: ReasonText<GroupFrozenReason> = {
  headline: (reason, { nowMs }) =>
    fitted(reason.frozenLabel, (label) => {
      const { untilMs } = reason;
      const opens = untilMs === undefined ? 'for now' : `(opens ${relativeText(nowMs, untilMs)})`;
      return cutLine(`CI is frozen ${opens}: ${label}${whyText(reason)}.`);
    }),
  discreetHeadline: () => 'CI is frozen for this job: it may not start now.',
  line: (reason) => {
    const { frozenLabel, untilMs, zone } = reason;
    const until = untilMs === undefined ? 'until somebody lifts it' : `until ${instantText(untilMs, zone)}`;
    return `${shortened(oneLine(frozenLabel), LABEL_LINE_CHARACTERS_MAX)}: frozen ${until}${whyText(reason)}`;
  },
  advice: ({ untilMs, zone }, { nowMs }) => [
    untilMs === undefined
      ? 'Retrying will fail again until somebody lifts the freeze.'
      : `Retrying now will fail again. It will work after ${untilText(untilMs, zone, nowMs)}.`,
    'If it cannot wait, ask the team that runs CI for an exemption.',
  ],
  faultless: true,
};

const whyText = ({ why }: GroupFrozenReason): string =>
  why === undefined ? '' : `, because: ${shortened(oneLine(why).replace(/[.\s]+$/, ''), WHY_CHARACTERS_MAX)}`;
