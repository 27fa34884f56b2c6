import type { CheckedJob } from '../../checked-job.ts';
import { readZone } from '../../document/parse-entry.ts';
import { readMatch } from '../../document/parse-match.ts';
import { Reading } from '../../document/reading.ts';
import type { Match } from '../../match/match.ts';
import type { Check, KnownNames, StatelessRuleKind } from '../rule-kind.ts';
import type { GroupFrozenReason } from './freeze-text.ts';
import { frozenUntilMs } from './freeze-window.ts';
import { readFreezeWindows } from './freeze-window-reading.ts';

/** Stands on the page of every job it stops. */
const WHY_CHARACTERS_MAX = 200;

/** Nothing starts in what the rule matches during its windows, or, without any, as long as the rule is there. */
export const freeze: StatelessRuleKind<GroupFrozenReason> = {
  class: 'capacity',
  keys: ['windows', 'zone', 'why'],
  read: readFreeze,
};

function readFreeze(reading: Reading, names: KnownNames): Check<GroupFrozenReason> {
  const zone = readZone(reading, names.zone) ?? names.zone;
  const windows = readFreezeWindows(reading.at('windows'), zone);
  const why = readWhy(reading.at('why'));
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

const readWhy = (reading: Reading): string | undefined =>
  reading.isThere ? reading.text(`a text of at most ${WHY_CHARACTERS_MAX} characters`, isWhy) : undefined;

const isWhy = (text: string): boolean => text.trim() !== '' && text.length <= WHY_CHARACTERS_MAX;

const LABEL_CHARACTERS_MAX = 120;

/**
 * What a matching rule freezes, for people: `everything`, `group acme/payments`, `group acme, runner class gpu`. Told in
 * the job's own terms: the other groups and projects the rule names are not the reader's business.
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
