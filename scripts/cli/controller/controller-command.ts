import type { AdminAnswer } from '../../../functions/core/gitlab/admin-calls.ts';
import {
  type AdminController,
  CANARY_DESCRIPTION,
  createGitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { type ControllerState, readControllerScopes } from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import type { RestCallDeps } from '../../../functions/core/gitlab/rest-call.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { orElse, text, toggle, type ValuesOf } from '../../terminal/flags.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { SPAN_HELP } from '../report/span.ts';
import { RULES_FLAGS } from '../rules-flags.ts';
import { agreedTo } from '../truth/confirm.ts';
import { CONTROLLER_FLAG, callsTo, neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import {
  type ControllerStatus,
  canaryText,
  MEANS,
  readStatus,
  refusalOf,
  risksOf,
  stateText,
  statusJson,
  statusText,
} from './controller-status.ts';

const FLAGS = {
  ...neededGitLab("holds an administrator's token; scope read_api to look, api to change"),
  controller: CONTROLLER_FLAG,
};
const STATUS_FLAGS = {
  ...FLAGS,
  since: orElse(
    text('<time>', `the recorded jobs that are decided again: 24h, 7d, a day. ${SPAN_HELP}`),
    '24h',
  ),
  ...TABLE_FLAGS,
  ...RULES_FLAGS,
};
const JSON_HELP = 'the controller as one JSON object';
const AT = '--gitlab https://gitlab.example.com --token-file admin-token';

const controllerStatus = command({
  name: 'controller status',
  about: `Shows whether GitLab asks and obeys (enabled), asks and runs every job (dry_run) or does not ask (disabled), and about which
runners' jobs it asks (scopes): without a scope it asks about none. Lists the relays that sent heartbeats lately, with their
descriptors; GitLab itself knows only whether the token was used within the last hour. Shows which of the last jobs would have
failed, had it been armed.`,
  flags: STATUS_FLAGS,
  json: JSON_HELP,
  examples: [`tollgate controller status ${AT} --since 7d`],
  exits: {
    1: 'GitLab or the ledger that was named does not answer',
    3: 'wrong usage or invalid documents',
  },
  run: async ({ flags }, io) => {
    const { status } = await read(flags, io);
    return printStatus(status, flags.json, io);
  },
});

const controllerEnable = command({
  name: 'controller enable',
  about: `Sets the runner controller to enabled: from now on GitLab fails the jobs that are rejected. Refuses if the controller has no
scope, because GitLab would then ask about no job, and if no relay is there, because GitLab would fail every job it asks about. Asks
first if recorded jobs would have failed, and if something is unknown: scopes, relays, descriptors, or the jobs of the last hours.
Warns if tollgate gitlab canary has not proven both answers, and asks if it found the contrary.`,
  flags: {
    ...STATUS_FLAGS,
    'require-canary': toggle(
      'refuses unless both answers are proven on this version of GitLab with the descriptors of the relays',
    ),
    yes: toggle('does not ask'),
  },
  json: JSON_HELP,
  examples: [`tollgate controller enable ${AT} --require-canary`],
  exits: {
    0: 'armed',
    1: 'GitLab or the ledger that was named does not answer',
    2: 'refused, nothing was changed',
    3: 'wrong usage or invalid documents',
  },
  run: async ({ flags }, io) => {
    const { controllers, status } = await read(flags, io);
    const { controller, canary } = status;
    const refuse = (why: string): ExitCode => {
      if (flags.json) io.out(`${JSON.stringify(statusJson(status))}\n`);
      io.err(`Nothing was changed: ${why}\n`);
      return EXIT.wouldReject;
    };
    const refusal = refusalOf(status);
    if (refusal !== undefined) return refuse(REFUSALS[refusal].replace('<id>', `${controller.id}`));
    const isProven = canary.known && canary.value.severity === 'ok';
    if (!isProven && flags['require-canary']) return refuse(`${canaryText(status)}.`);
    if (!isProven && canary.known) io.err(`Warning: ${canaryText(status)}.\n`);
    const risks = risksOf(status).join('; and ');
    if (!flags.yes && risks !== '') {
      if (!flags.json) io.err(statusText(status, false, io.columns));
      const remedy = `there is no terminal to ask; add --yes to arm although ${risks}`;
      if (!(await agreedTo(io, `Arm, although ${risks}?`, remedy))) return EXIT.wouldReject;
    }
    // GitLab's answer to a change need not say whether the controller is connected.
    const { state } = await controllers.set(controller.id, 'enabled');
    return printStatus({ ...status, controller: { ...controller, state } }, flags.json, io);
  },
});

const REFUSALS = {
  no_scope:
    'the controller has no scope, so GitLab would ask about no job, and nothing would be armed. Give it one first: glab runner-controller scope create <id> --instance',
  no_relay:
    'no relay is there, and an enabled controller without one fails every job GitLab would ask about. Start the relay first: its log says "connected".',
} as const;

const disarming = (name: 'controller dry-run' | 'controller disable', state: 'dry_run' | 'disabled') =>
  command({
    name,
    about: `Sets the runner controller to ${state}. ${MEANS[state]}.`,
    flags: FLAGS,
    json: JSON_HELP,
    examples: [`tollgate ${name} ${AT}`],
    exits: { 1: 'GitLab does not answer' },
    run: async ({ flags }, io) => {
      const { controllers, controller } = await find(flags, io);
      const changed = await controllers.set(controller.id, state);
      return print(io, flags, changed, () => stateText(changed));
    },
  });

export const commands = [
  controllerStatus,
  controllerEnable,
  disarming('controller dry-run', 'dry_run'),
  disarming('controller disable', 'disabled'),
];

async function read(flags: ValuesOf<typeof STATUS_FLAGS>, io: TerminalIo) {
  const { controllers, controller } = await find(flags, io);
  return { controllers, status: await readStatus(controller, controllers, flags, io) };
}

/** The only controller; the temporary one of a running canary is ignored. @throws {UsageError} if there are several, or none */
async function find({ controller: wanted, ...flags }: ValuesOf<typeof FLAGS>, io: TerminalIo) {
  const controllers = createRunnerControllers(callsTo(readGitLabPlace(flags, io)));
  if (wanted !== undefined) return { controllers, controller: await controllers.get(wanted) };
  const all = (await controllers.list()).filter(({ description }) => description !== CANARY_DESCRIPTION);
  const [only, ...others] = all;
  if (only === undefined) throw new UsageError('GitLab has no runner controller');
  const named = all.map(({ id, description, state }) => `${id} "${description}" ${state}`).join(', ');
  if (others.length > 0) throw new UsageError(`--controller is missing: GitLab has several, ${named}`);
  // The list does not say whether it is connected.
  return { controllers, controller: await controllers.get(only.id) };
}

const printStatus = (status: ControllerStatus, json: boolean, io: TerminalIo): ExitCode =>
  print(io, { json }, statusJson(status), () => statusText(status, io.colours, io.columns));

/** One of GitLab's runner controllers; `connected` is undefined in lists and before 18.10. */
export type RunnerController = AdminController;
export type RunnerControllers = ReturnType<typeof createRunnerControllers>;

/** Needs an administrator's token, `api` for changes. @throws {GitLabError} `gitlab_unreadable` also where there is none of this number */
export function createRunnerControllers(deps: RestCallDeps) {
  const admin = createGitLabAdministration(deps);
  return {
    list: async () => orFailure(await admin.controllers()),
    get: async (id: number) => orFailure(await admin.controller(id)),
    version: async (): Promise<string | undefined> => {
      const metadata = await admin.metadata();
      return metadata.ok ? metadata.value.version : undefined;
    },
    scopes: (id: number) => readControllerScopes(id, deps),
    set: async (id: number, state: ControllerState): Promise<RunnerController> => {
      const changed = orFailure(await admin.setState(id, state));
      if (changed.state === state) return changed;
      throw new GitLabError('gitlab_unreadable', `GitLab took the change, and it is still ${changed.state}`);
    },
  };
}

function orFailure<T>(answer: AdminAnswer<T>): T {
  if (answer.ok) return answer.value;
  const { code, says, remedy } = answer.refusal;
  const isRefused = code === 'unauthorised' || code === 'forbidden';
  const failure = code === 'unavailable' ? 'gitlab_unavailable' : 'gitlab_unreadable';
  throw new GitLabError(isRefused ? 'gitlab_refused' : failure, `${says}; ${remedy}`);
}
