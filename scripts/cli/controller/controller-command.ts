/** `tollgate controller status`, `enable`, `dry-run` and `disable`. */
import { CANARY_DESCRIPTION, type ControllerState } from '../../../functions/core/gitlab/index.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type FlagValues, readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { SPAN_HELP } from '../report/span.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { confirmed } from '../truth/confirm.ts';
import { callsTo, GITLAB_FLAGS, readGitLabPlace } from '../truth/gitlab-flags.ts';
import {
  type ControllerStatus,
  readStatus,
  refusalOf,
  risksOf,
  type StatusFlags,
} from './controller-status.ts';
import {
  createRunnerControllers,
  type RunnerController,
  type RunnerControllers,
} from './runner-controllers.ts';
import { canaryText, MEANS, statusJson, statusText } from './status-text.ts';

const FLAGS = { ...GITLAB_FLAGS, controller: 'text' } as const;
const FLAGS_HELP = `  --gitlab <url>       GitLab, e.g. https://gitlab.example.com
  --token-file <file>  holds an administrator's token; scope read_api to look, api to change
  --controller <id>    number of the runner controller; not needed where GitLab has only one
  --json               the controller as one JSON object`;

const STATUS_FLAGS = { ...FLAGS, since: 'text', ...LEDGER_FLAGS, ...RULES_FLAGS } as const;
const STATUS_FLAGS_HELP = `${FLAGS_HELP}
  --since <time>       the recorded jobs that are asked again: 24h, 7d, a day   (default: 24h)
                       ${SPAN_HELP}
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}`;

/** @param open - tests open a ledger of their own. */
export const statusCommandOn = (open: OpenLedger): Command => ({
  name: 'controller status',
  summary: 'Does GitLab obey Tollgate now? The state of the runner controller, and what arming would do',
  help: `tollgate controller status --gitlab <url> --token-file <file> [flags]

Whether GitLab asks and obeys (enabled), asks and runs every job (dry_run) or does not ask (disabled). Which runners' jobs it asks
about (scopes): without a scope it asks about none. Which relays were heard lately and with which descriptors, if the ledger
has their heartbeats; GitLab itself knows only whether the token was used within the last hour. And which of the
last jobs would have failed, had it been armed.

${STATUS_FLAGS_HELP}

Exit codes: 0 done, 1 GitLab or the ledger that was named does not answer, 3 wrong usage or invalid documents`,
  run: async (args, io) => {
    const { values } = readFlags(args, STATUS_FLAGS);
    const { status } = await read(values, io, open);
    return printStatus(status, values.json, io);
  },
});

/** @param open - tests open a ledger of their own. */
export const enableCommandOn = (open: OpenLedger): Command => ({
  name: 'controller enable',
  summary: 'Arms Tollgate: from now on GitLab fails the jobs that are rejected',
  help: `tollgate controller enable --gitlab <url> --token-file <file> [flags]

Sets the runner controller to enabled. It refuses where the controller has no scope, because GitLab would then ask about no job;
and where no relay is there, because GitLab would fail every job it asks about. It asks first where recorded jobs would have
failed, and where something is not known: scopes, relays, descriptors, or the jobs of the last hours. It warns where tollgate gitlab
canary has not proven both answers, and asks where it has found the contrary.

${STATUS_FLAGS_HELP}
  --without-relay      arms even though no relay is there
  --require-canary     refuses unless both answers are proven on this version of GitLab with the descriptors of the relays
  --yes                does not ask

Exit codes: 0 armed, 1 GitLab or the ledger that was named does not answer, 2 refused, nothing was changed, 3 wrong usage or
invalid documents`,
  run: async (args, io) => {
    const { values } = readFlags(args, {
      ...STATUS_FLAGS,
      'without-relay': 'switch',
      'require-canary': 'switch',
      yes: 'switch',
    });
    const { controllers, status } = await read(values, io, open);
    const { controller, canary } = status;
    const refuse = (why: string): ExitCode => {
      if (values.json) io.out(`${JSON.stringify(statusJson(status))}\n`);
      io.err(`Nothing was changed: ${why}\n`);
      return EXIT.wouldReject;
    };
    const refusal = refusalOf(status);
    if (refusal !== undefined && !(refusal === 'no_relay' && values['without-relay']))
      return refuse(REFUSALS[refusal](controller.id));
    const isProven = canary.known && canary.value.severity === 'ok';
    if (!isProven && values['require-canary']) return refuse(`${canaryText(status)}.`);
    if (!isProven && canary.known) io.err(`Warning: ${canaryText(status)}.\n`);
    if (!(await isAgreed(status, values, io))) {
      io.err('Nothing was changed.\n');
      return EXIT.wouldReject;
    }
    // GitLab's answer to a change need not say whether the controller is connected.
    const { state } = await controllers.set(controller.id, 'enabled');
    return printStatus({ ...status, controller: { ...controller, state } }, values.json, io);
  },
});

const REFUSALS: Readonly<Record<NonNullable<ReturnType<typeof refusalOf>>, (id: number) => string>> = {
  no_scope: (id) =>
    `the controller has no scope, so GitLab would ask about no job, and nothing would be armed. Give it one first: glab runner-controller scope create ${id} --instance`,
  no_relay: () =>
    'no relay is there, and an enabled controller without one fails every job GitLab would ask about. ' +
    'Start the relay first (its log says "connected"), or add --without-relay.',
};

/** @throws {UsageError} without a terminal to confirm. */
async function isAgreed(
  status: ControllerStatus,
  flags: { readonly yes: boolean; readonly json: boolean; readonly 'without-relay': boolean },
  io: TerminalIo,
): Promise<boolean> {
  const risks = risksOf(status, { relay: !flags['without-relay'] }).join('; and ');
  if (flags.yes || risks === '') return true;
  if (!flags.json) io.err(statusText(status, paintWhen(false), io.columns));
  const answer = await confirmed(io, `Arm, although ${risks}?`);
  if (answer !== undefined) return answer;
  throw new UsageError(`nobody can be asked here; add --yes to arm although ${risks}`);
}

/** Both disarm; they differ in whether GitLab still asks. */
const disarmCommand = (
  name: 'dry-run' | 'disable',
  state: 'dry_run' | 'disabled',
  summary: string,
): Command => ({
  name: `controller ${name}`,
  summary,
  help: `tollgate controller ${name} --gitlab <url> --token-file <file> [flags]

Sets the runner controller to ${state}. ${MEANS[state]}.

${FLAGS_HELP}

Exit codes: 0 done, 1 GitLab does not answer, 3 wrong usage`,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const { controllers, controller } = await find(values, io);
    return printChanged(await controllers.set(controller.id, state), values.json, io);
  },
});

type Flags = FlagValues<typeof FLAGS>;

async function read(values: Flags & StatusFlags, io: TerminalIo, open: OpenLedger) {
  const { controllers, controller } = await find(values, io);
  return { controllers, status: await readStatus({ controller, controllers, flags: values, open }, io) };
}

async function find({ controller: wanted, ...flags }: Flags, io: TerminalIo) {
  const controllers = createRunnerControllers(callsTo(readGitLabPlace(flags, io)));
  const id = wanted === undefined ? undefined : readWhole('controller', wanted, 1, Number.MAX_SAFE_INTEGER);
  return { controllers, controller: await controllers.get(id ?? (await onlyController(controllers))) };
}

/**
 * Finds the only controller. The temporary one of a running canary is ignored.
 *
 * @throws {UsageError} if there are several, or none.
 */
async function onlyController(controllers: RunnerControllers): Promise<number> {
  const all = (await controllers.list()).filter(({ description }) => description !== CANARY_DESCRIPTION);
  const [only, ...others] = all;
  if (only === undefined) throw new UsageError('GitLab has no runner controller');
  if (others.length === 0) return only.id;
  const named = all.map(({ id, description, state }) => `${id} "${description}" ${state}`).join(', ');
  throw new UsageError(`--controller is missing: GitLab has several, ${named}`);
}

function printChanged(controller: RunnerController, json: boolean, io: TerminalIo): ExitCode {
  const { id, description, state } = controller;
  const named = description === '' ? '' : ` "${printable(description)}"`;
  if (json) io.out(`${JSON.stringify(controller)}\n`);
  else io.out(`Runner controller ${id}${named} is ${state}: ${MEANS[state satisfies ControllerState]}.\n`);
  return EXIT.ok;
}

function printStatus(status: ControllerStatus, json: boolean, io: TerminalIo): ExitCode {
  if (json) io.out(`${JSON.stringify(statusJson(status))}\n`);
  else io.out(statusText(status, paintWhen(io.colours), io.columns));
  return EXIT.ok;
}

export const statusCommand: Command = statusCommandOn(openLedger);
export const enableCommand: Command = enableCommandOn(openLedger);
export const dryRunCommand: Command = disarmCommand(
  'dry-run',
  'dry_run',
  'Disarms Tollgate: every job runs, and Tollgate goes on being asked',
);
export const disableCommand: Command = disarmCommand(
  'disable',
  'disabled',
  'Disarms Tollgate: every job runs, and nobody is asked',
);
