import { systemClock } from '../../../functions/ledger/system-clock.ts';
import type { ControllerState } from '../../../functions/watchdog/controller.ts';
import { type Command, type DeskIo, EXIT, type ExitCode } from '../command.ts';
import { readFlags, readWhole } from '../flags.ts';
import { GITLAB_FLAGS, type GitLabPlace, readGitLabPlace } from '../truth/gitlab-flags.ts';
import {
  createRunnerControllers,
  type RunnerController,
  type RunnerControllers,
} from './runner-controllers.ts';
import { whichController } from './which-controller.ts';

export type OpenControllers = (place: GitLabPlace) => RunnerControllers;

const FLAGS = { ...GITLAB_FLAGS, controller: 'text' } as const;
const FLAGS_HELP = `  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds an administrator's token; scope read_api to look, api to change
  --controller <id>    number of the runner controller; not needed where GitLab has only one
  --json               the controller as one JSON object`;
const EXITS = 'Exit codes: 0 done, 1 GitLab does not answer, 3 wrong usage';

/** What becomes of jobs in each state, while a relay answers and when none does. */
const MEANS: Readonly<Record<ControllerState, string>> = {
  enabled: 'GitLab asks and obeys. Without a relay it fails every job it would ask about',
  dry_run: 'GitLab asks and follows no answer: every job runs, with or without a relay',
  disabled: 'GitLab does not ask: every job runs',
};

export const statusCommandOn = (open: OpenControllers): Command => ({
  name: 'controller status',
  summary: 'Does GitLab obey Tollgate now? The state of the runner controller',
  help: `tollgate controller status --gitlab <url> --token-file <file> [flags]

Whether GitLab asks and obeys (enabled), asks and runs every job (dry_run) or does not ask (disabled), and whether a relay
is connected.

${FLAGS_HELP}

${EXITS}`,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const { controller } = await find(values, io, open);
    return tell(controller, values.json, io);
  },
});

export const enableCommandOn = (open: OpenControllers): Command => ({
  name: 'controller enable',
  summary: 'Arms Tollgate: from now on GitLab fails the jobs that are rejected',
  help: `tollgate controller enable --gitlab <url> --token-file <file> [flags]

Sets the runner controller to enabled. While no relay is connected it refuses, because GitLab would fail every job it asks
about.

${FLAGS_HELP}
  --without-relay      arms even though GitLab sees no relay

Exit codes: 0 armed, 1 GitLab does not answer, 2 refused: no relay is connected, 3 wrong usage`,
  run: async (args, io) => {
    const { values } = readFlags(args, { ...FLAGS, 'without-relay': 'switch' });
    const { controllers, controller } = await find(values, io, open);
    if (controller.connected !== true && !values['without-relay']) {
      io.err(`${NOT_CONNECTED}\n`);
      return EXIT.wouldReject;
    }
    return tell(await controllers.set(controller.id, 'enabled'), values.json, io);
  },
});

const NOT_CONNECTED =
  'Nothing was changed: GitLab sees no relay, and an enabled controller without one fails every job it would ask about. ' +
  'Start the relay first (its log says "connected"), or add --without-relay.';

/** Both disarm; they differ in whether GitLab goes on asking. */
const disarmCommandOn = (
  name: 'dry-run' | 'disable',
  state: 'dry_run' | 'disabled',
  summary: string,
  open: OpenControllers,
): Command => ({
  name: `controller ${name}`,
  summary,
  help: `tollgate controller ${name} --gitlab <url> --token-file <file> [flags]

Sets the runner controller to ${state}. ${MEANS[state]}.

${FLAGS_HELP}

${EXITS}`,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const { controllers, controller } = await find(values, io, open);
    return tell(await controllers.set(controller.id, state), values.json, io);
  },
});

export const dryRunCommandOn = (open: OpenControllers): Command =>
  disarmCommandOn(
    'dry-run',
    'dry_run',
    'Disarms Tollgate: every job runs, and Tollgate goes on being asked',
    open,
  );

export const disableCommandOn = (open: OpenControllers): Command =>
  disarmCommandOn('disable', 'disabled', 'Disarms Tollgate: every job runs, and nobody is asked', open);

type Given = {
  readonly [Name in keyof typeof FLAGS]: string | undefined;
};

async function find(values: Given, io: DeskIo, open: OpenControllers) {
  const controllers = open(readGitLabPlace(values, io));
  const id =
    values.controller === undefined
      ? undefined
      : readWhole('controller', values.controller, 1, Number.MAX_SAFE_INTEGER);
  return { controllers, controller: await whichController(controllers, id) };
}

function tell(controller: RunnerController, json: boolean, io: DeskIo): ExitCode {
  const { id, description, state, connected } = controller;
  const relay =
    connected === undefined ? '' : connected ? ' A relay is connected.' : ' No relay is connected.';
  const named = description === '' ? '' : ` "${description}"`;
  io.out(
    json
      ? `${JSON.stringify(controller)}\n`
      : `Runner controller ${id}${named} is ${state}: ${MEANS[state]}.${relay}\n`,
  );
  return EXIT.ok;
}

const openControllers: OpenControllers = ({ baseUrl, token }) =>
  createRunnerControllers({ baseUrl, token: async () => token, fetch, clock: systemClock });

export const statusCommand: Command = statusCommandOn(openControllers);
export const enableCommand: Command = enableCommandOn(openControllers);
export const dryRunCommand: Command = dryRunCommandOn(openControllers);
export const disableCommand: Command = disableCommandOn(openControllers);
