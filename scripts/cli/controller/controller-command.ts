import { systemClock } from '../../../functions/core/environment/index.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { SPAN_HELP } from '../report/span.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { type Confirmation, confirmOnTerminal } from '../truth/confirm.ts';
import { GITLAB_FLAGS, type GitLabPlace, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { readStanding, type StandingFlags } from './read-standing.ts';
import {
  createRunnerControllers,
  type RunnerController,
  type RunnerControllers,
} from './runner-controllers.ts';
import { type ControllerStanding, doubts, refusal } from './standing.ts';
import { canaryText, controllerStandingJson, MEANS, standingText } from './standing-text.ts';
import { whichController } from './which-controller.ts';

export type OpenControllers = (place: GitLabPlace) => RunnerControllers;

interface ControllerDeps {
  /** Tests replace GitLab, the ledger and the confirmation. */
  readonly controllersAt: OpenControllers;
  readonly open: OpenLedger;
  readonly confirm: Confirmation;
}

const FLAGS = { ...GITLAB_FLAGS, controller: 'text' } as const;
const FLAGS_HELP = `  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds an administrator's token; scope read_api to look, api to change
  --controller <id>    number of the runner controller; not needed where GitLab has only one
  --json               the controller as one JSON object`;
const EXITS = 'Exit codes: 0 done, 1 GitLab does not answer, 3 wrong usage';

const STANDING_FLAGS = { ...FLAGS, since: 'text', ...LEDGER_FLAGS, ...RULES_FLAGS } as const;
const STANDING_FLAGS_HELP = `${FLAGS_HELP}
  --since <time>       the recorded jobs that are asked again: 24h, 7d, a day   (default: 24h)
                       ${SPAN_HELP}
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}`;

export const statusCommandOn = (deps: ControllerDeps): Command => ({
  name: 'controller status',
  summary: 'Does GitLab obey Tollgate now? The state of the runner controller, and what arming would do',
  help: `tollgate controller status --gitlab <url> --token-file <file> [flags]

Whether GitLab asks and obeys (enabled), asks and runs every job (dry_run) or does not ask (disabled). Which runners' jobs it asks
about (scopes): without a scope it asks about none. Which relays were heard lately and with which descriptors, if the ledger
has their heartbeats; GitLab itself knows only whether the token was used within the last hour. And which of the
last jobs would have failed, had it been armed.

${STANDING_FLAGS_HELP}

Exit codes: 0 done, 1 GitLab or the ledger that was named does not answer, 3 wrong usage or invalid documents`,
  run: async (args, io) => {
    const { values } = readFlags(args, STANDING_FLAGS);
    const { standing } = await stand(values, io, deps);
    return tellStanding(standing, values.json, io);
  },
});

export const enableCommandOn = (deps: ControllerDeps): Command => ({
  name: 'controller enable',
  summary: 'Arms Tollgate: from now on GitLab fails the jobs that are rejected',
  help: `tollgate controller enable --gitlab <url> --token-file <file> [flags]

Sets the runner controller to enabled. It refuses where the controller has no scope, because GitLab would then ask about no job;
and where no relay is there, because GitLab would fail every job it asks about. It asks first where recorded jobs would have
failed, and where something is not known: scopes, relays, descriptors, or the jobs of the last hours. It warns where tollgate gitlab
canary has not proven both answers, and asks where it has found the contrary.

${STANDING_FLAGS_HELP}
  --without-relay      arms even though no relay is there
  --require-canary     refuses unless both answers are proven on this version of GitLab with the descriptors of the relays
  --yes                does not ask

Exit codes: 0 armed, 1 GitLab or the ledger that was named does not answer, 2 refused, nothing was changed, 3 wrong usage or
invalid documents`,
  run: async (args, io) => {
    const { values } = readFlags(args, {
      ...STANDING_FLAGS,
      'without-relay': 'switch',
      'require-canary': 'switch',
      yes: 'switch',
    });
    const { controllers, standing } = await stand(values, io, deps);
    const refused = refusal(standing);
    if (refused !== undefined && !(refused === 'no_relay' && values['without-relay'])) {
      if (values.json) io.out(`${JSON.stringify(controllerStandingJson(standing))}\n`);
      io.err(`${REFUSALS[refused](standing.controller.id)}\n`);
      return EXIT.wouldReject;
    }
    const isProven = standing.canary.known && standing.canary.value.severity === 'ok';
    if (!isProven && values['require-canary']) {
      if (values.json) io.out(`${JSON.stringify(controllerStandingJson(standing))}\n`);
      io.err(`Nothing was changed: ${canaryText(standing)}.\n`);
      return EXIT.wouldReject;
    }
    if (!isProven && standing.canary.known) io.err(`Warning: ${canaryText(standing)}.\n`);
    if (!(await agreed(standing, values, io, deps.confirm))) {
      io.err('Nothing was changed.\n');
      return EXIT.wouldReject;
    }
    const controller = await controllers.set(standing.controller.id, 'enabled');
    return tellStanding(
      { ...standing, controller: { ...standing.controller, ...stateOf(controller) } },
      values.json,
      io,
    );
  },
});

/** GitLab's answer to a change need not say whether it is connected. */
const stateOf = ({ state }: RunnerController): Pick<RunnerController, 'state'> => ({ state });

const REFUSALS: Readonly<Record<NonNullable<ReturnType<typeof refusal>>, (id: number) => string>> = {
  no_scope: (id) =>
    `Nothing was changed: the controller has no scope, so GitLab would ask about no job, and nothing would be armed. Give it one first: glab runner-controller scope create ${id} --instance`,
  no_relay: () =>
    'Nothing was changed: no relay is there, and an enabled controller without one fails every job GitLab would ask about. ' +
    'Start the relay first (its log says "connected"), or add --without-relay.',
};

/** @throws {UsageError} without a terminal to confirm. */
async function agreed(
  standing: ControllerStanding,
  flags: { readonly yes: boolean; readonly json: boolean; readonly 'without-relay': boolean },
  io: TerminalIo,
  confirm: Confirmation,
): Promise<boolean> {
  const open = doubts(standing, { relay: !flags['without-relay'] });
  if (flags.yes || open.length === 0) return true;
  if (!flags.json) io.err(standingText(standing, paintWhen(false), io.columns));
  const answer = await confirm(`Arm, although ${open.join('; and ')}?`);
  if (answer === undefined)
    throw new UsageError(`nobody can be asked here; add --yes to arm although ${open.join('; and ')}`);
  return answer;
}

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

async function stand(values: Given & StandingFlags, io: TerminalIo, { controllersAt, open }: ControllerDeps) {
  const { controllers, controller } = await find(values, io, controllersAt);
  return { controllers, standing: await readStanding({ controller, controllers, flags: values, open }, io) };
}

async function find(values: Given, io: TerminalIo, open: OpenControllers) {
  const controllers = open(readGitLabPlace(values, io));
  const id =
    values.controller === undefined
      ? undefined
      : readWhole('controller', values.controller, 1, Number.MAX_SAFE_INTEGER);
  return { controllers, controller: await whichController(controllers, id) };
}

function tell(controller: RunnerController, json: boolean, io: TerminalIo): ExitCode {
  const { id, description, state } = controller;
  const named = description === '' ? '' : ` "${printable(description)}"`;
  io.out(
    json
      ? `${JSON.stringify(controller)}\n`
      : `Runner controller ${id}${named} is ${state}: ${MEANS[state]}.\n`,
  );
  return EXIT.ok;
}

function tellStanding(standing: ControllerStanding, json: boolean, io: TerminalIo): ExitCode {
  if (json) io.out(`${JSON.stringify(controllerStandingJson(standing))}\n`);
  else io.out(standingText(standing, paintWhen(io.colours), io.columns));
  return EXIT.ok;
}

const openControllers: OpenControllers = ({ baseUrl, token, fetch }) =>
  createRunnerControllers({ baseUrl, token: async () => token, fetch, clock: systemClock });

const REAL: ControllerDeps = {
  controllersAt: openControllers,
  open: openLedger,
  confirm: confirmOnTerminal,
};

export const statusCommand: Command = statusCommandOn(REAL);
export const enableCommand: Command = enableCommandOn(REAL);
export const dryRunCommand: Command = dryRunCommandOn(openControllers);
export const disableCommand: Command = disableCommandOn(openControllers);
