import { relative } from 'node:path';
import { systemClock } from '../../../functions/core/environment/index.ts';
import type { Command, ExitCode, TerminalIo } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { askHostOnTerminal } from './ask-host.ts';
import { openSecretStore } from './secret-store.ts';
import { type SetupReport, setupCourse } from './setup-course.ts';
import {
  administrationAt,
  readCourse,
  SETUP_FLAGS,
  SETUP_FLAGS_HELP,
  type SetupDeps,
} from './setup-flags.ts';
import { exitOf, linesText, nextText } from './setup-text.ts';

export const REAL_SETUP: SetupDeps = {
  administrationAt,
  storeAt: openSecretStore,
  clock: systemClock,
  askHost: askHostOnTerminal,
};

const EXITS = 'Exit codes: 0 nothing is wrong, 1 GitLab does not answer, 2 something is wrong, 3 wrong usage';

export const setupCommandOn = (deps: SetupDeps): Command => ({
  name: 'gitlab setup',
  summary:
    'Sets GitLab up for Tollgate: controller in dry run, scope, token, webhooks; again as often as you like',
  help: `tollgate gitlab setup --gitlab <url> --token-file <file> [flags]

Looks at the version, the licence, the flags and the router; makes or adopts the runner controller, in dry run; makes its token and
puts it where the relays read it, without showing it; gives the controller its scope, and every top-level group its webhook. What is
there is left as it is. Stopped at any point, the same command goes on; a token whose value was lost is revoked and replaced.

  --dry-run            says what it would do, and changes nothing
${SETUP_FLAGS_HELP}

${EXITS}`,
  run: async (args, io) => {
    const { values } = readFlags(args, { ...SETUP_FLAGS, 'dry-run': 'switch' });
    const course = readCourse(values, values['dry-run'] ? 'plan' : 'change', io, deps);
    const report = await setupCourse(course);
    const place = course.store.place('router-token');
    const file =
      course.store.kind === 'folder' ? relative(io.cwd, place.slice(place.indexOf(':') + 1)) : undefined;
    return tellReport(report, course.place.baseUrl, file, values.json, io);
  },
});

export const statusCommandOf = (deps: SetupDeps): Command => ({
  name: 'gitlab status',
  summary:
    'Is GitLab still set up for Tollgate? What is right, wrong and unknown, webhooks that fail included',
  help: `tollgate gitlab status --gitlab <url> --token-file <file> [flags]

Reads everything back that tollgate gitlab setup makes, and changes nothing. With the same flags it says what that command would
have to mend. A token of scope read_api is enough.

${SETUP_FLAGS_HELP}

${EXITS}`,
  run: async (args, io) => {
    const { values } = readFlags(args, SETUP_FLAGS);
    const course = readCourse(values, 'look', io, deps);
    return tellReport(await setupCourse(course), course.place.baseUrl, undefined, values.json, io);
  },
});

function tellReport(
  report: SetupReport,
  gitlabUrl: string,
  tokenFile: string | undefined,
  json: boolean,
  io: TerminalIo,
): ExitCode {
  if (json) io.out(`${JSON.stringify({ gitlab: gitlabUrl, ...report })}\n`);
  else io.out(linesText(report.lines, paintWhen(io.colours)) + nextText(report, gitlabUrl, tokenFile));
  return exitOf(report.lines);
}

export const gitlabSetupCommand: Command = setupCommandOn(REAL_SETUP);
export const gitlabStatusCommand: Command = statusCommandOf(REAL_SETUP);
