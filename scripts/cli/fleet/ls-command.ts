import { byVersion, type RouterAccess } from '../../../functions/core/gitlab/runners.ts';
import { EXIT, type TerminalIo } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { toggle } from '../../terminal/flags.ts';
import { type Paint, paintWhen } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { readFleet } from './read-fleet.ts';
import {
  needsChange,
  REMEDIES,
  type RunnerRegistration,
  type RunnerReport,
  reportOf,
} from './runner-findings.ts';

/** Output of `--json`. */
interface FleetJson {
  readonly runners: readonly RunnerReport[];
  readonly unreadable: number;
  /** There are more runners than were looked at. */
  readonly cut: boolean;
}

const fleetLs = command({
  name: 'fleet ls',
  about: `Lists all runners of GitLab with the processes that work under their tokens (managers): how they were registered, their
versions, and whether these know the job router. GitLab does not report whether FF_USE_JOB_ROUTER is set. It shows how a runner was
registered only by whether the runner has a creator. Makes two calls for each runner; changes nothing.`,
  flags: {
    ...neededGitLab(),
    check: toggle('exit 2 if a runner cannot use the router or has to be registered again'),
  },
  examples: ['tollgate fleet ls --gitlab https://gitlab.example.com --token-file token --check'],
  exits: { 0: 'listed', 1: 'GitLab does not answer', 2: 'with --check: a runner needs a change' },
  run: async ({ flags: values }, io) => {
    const listing = await readFleet(readGitLabPlace(values, io), progressOf('calls', io));
    const reports = listing.runners.map((each) => reportOf(each, io.nowMs()));
    const { unreadable, cut } = listing;
    const result: FleetJson = { runners: reports, unreadable, cut };
    if (values.json) io.out(`${JSON.stringify(result)}\n`);
    else io.out(fleetText(result, io));
    return values.check && reports.some(needsChange) ? EXIT.wouldReject : EXIT.ok;
  },
});

export const commands = [fleetLs];

const COLUMNS = [
  { title: 'runner', align: 'right' },
  { title: 'state' },
  { title: 'registered by' },
  { title: 'managers', align: 'right' },
  { title: 'version' },
  { title: 'job router' },
  { title: 'description' },
] as const;

const REGISTRATIONS: Readonly<Record<RunnerRegistration, string>> = {
  registration_token: 'registration token',
  authentication_token: 'glrt- token',
  not_told: 'not told',
};

const ROUTERS: Readonly<Record<RouterAccess, string>> = {
  none: 'no',
  environment: 'by environment',
  feature_flag: 'by feature flag',
  unknown: 'not told',
};

function fleetText({ runners, unreadable, cut }: FleetJson, io: TerminalIo): string {
  if (runners.length === 0)
    return `GitLab has no runner that this token may see.\n${noteText(unreadable, cut)}`;
  const paint = paintWhen(io.colours);
  const rows = runners.map((each) => [
    String(each.id),
    each.paused ? `${each.status}, paused` : each.status,
    REGISTRATIONS[each.registration],
    String(each.managers.length),
    versionsText(each),
    routersText(each, paint),
    each.description,
  ]);
  return `${table(COLUMNS, rows, io.columns, paint.dim)}\n${remediesText(runners)}${noteText(unreadable, cut)}`;
}

function versionsText({ managers }: RunnerReport): string {
  const versions = managers.flatMap(({ version }) => version ?? []).sort(byVersion);
  const [oldest, newest] = [versions[0] ?? '-', versions.at(-1) ?? '-'];
  return oldest === newest ? oldest : `${oldest} to ${newest}`;
}

function routersText({ managers }: RunnerReport, paint: Paint): string {
  const supports = [...new Set(managers.map(({ router }) => router))];
  const text = supports.map((each) => ROUTERS[each]).join(', ');
  return supports.includes('none') ? paint.bad(text) : text === '' ? '-' : text;
}

const IDS_SHOWN_MAX = 20;

/** One line per remedy with the runners it is for: a fleet has more runners than things to do. */
function remediesText(runners: readonly RunnerReport[]): string {
  const lines = REMEDIES.flatMap(({ code, remedy }) => {
    const ids = runners.filter(({ findings }) => findings.includes(code)).map(({ id }) => id);
    if (ids.length === 0) return [];
    const more = ids.length > IDS_SHOWN_MAX ? ` and ${ids.length - IDS_SHOWN_MAX} more` : '';
    return [`- ${ids.slice(0, IDS_SHOWN_MAX).join(', ')}${more}: ${remedy}`];
  });
  return lines.length === 0 ? '' : `Runners that\n${lines.join('\n')}\n`;
}

const noteText = (unreadable: number, cut: boolean): string =>
  [
    ...(unreadable > 0
      ? [`${unreadable} entries of GitLab's answers could not be read and are left out.\n`]
      : []),
    ...(cut ? ['There are more runners than these: only so many are looked at.\n'] : []),
  ].join('');
