import { EXIT, type TerminalIo } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { toggle } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { right, table } from '../../terminal/table.ts';
import { neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { readFleet } from './read-fleet.ts';
import { FINDINGS, type RunnerReport, reportOf, versionsText } from './runner-findings.ts';

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
  run: async ({ flags }, io) => {
    const { runners, ...rest } = await readFleet(readGitLabPlace(flags, io), progressOf('calls', io));
    const reports = runners.map((each) => reportOf(each, io.nowMs()));
    // The runner bypasses admission, or stops working with a coming GitLab.
    const needsChange = reports.some(
      ({ findings }) => findings.includes('router_unsupported') || findings.includes('registration_token'),
    );
    const notes = [
      rest.unreadable > 0 &&
        `${rest.unreadable} entries of GitLab's answers could not be read and are left out.`,
      rest.cut && 'There are more runners than these: only so many are looked at.',
    ];
    const noteText = notes.flatMap((line) => (line === false ? [] : `${line}\n`)).join('');
    print(io, flags, { runners: reports, ...rest }, () => fleetText(reports, io) + noteText);
    return flags.check && needsChange ? EXIT.wouldReject : EXIT.ok;
  },
});

export const commands = [fleetLs];

const REGISTRATIONS: Readonly<Record<RunnerReport['registration'], string>> = {
  registration_token: 'registration token',
  authentication_token: 'glrt- token',
  not_told: 'not told',
};

const ROUTERS: Readonly<Record<RunnerReport['managers'][number]['router'], string>> = {
  none: 'no',
  environment: 'by environment',
  feature_flag: 'by feature flag',
  unknown: 'not told',
};

const IDS_SHOWN_MAX = 20;

/** A row per runner, then a line per remedy: a fleet has more runners than things to do. */
function fleetText(reports: readonly RunnerReport[], io: TerminalIo): string {
  if (reports.length === 0) return 'GitLab has no runner that this token may see.\n';
  const paint = paintWhen(io.colours);
  const titles = [right('runner'), 'state', 'registered by', right('managers'), 'version', 'job router'];
  const rows = reports.map((report) => {
    const routers = [...new Set(report.managers.map(({ router }) => router))];
    const text = routers.map((each) => ROUTERS[each]).join(', ') || '-';
    return [
      String(report.id),
      report.paused ? `${report.status}, paused` : report.status,
      REGISTRATIONS[report.registration],
      String(report.managers.length),
      versionsText(report),
      routers.includes('none') ? paint.bad(text) : text,
      report.description,
    ];
  });
  const remedies = FINDINGS.flatMap(({ code, remedy }) => {
    const ids = reports.filter(({ findings }) => findings.includes(code)).map(({ id }) => id);
    if (ids.length === 0 || remedy === undefined) return [];
    const more = ids.length > IDS_SHOWN_MAX ? ` and ${ids.length - IDS_SHOWN_MAX} more` : '';
    return `- ${ids.slice(0, IDS_SHOWN_MAX).join(', ')}${more}: ${remedy}\n`;
  });
  const list = table([...titles, 'description'], rows, io.columns, paint.dim);
  return `${list}\n${remedies.length === 0 ? '' : `Runners that\n${remedies.join('')}`}`;
}
