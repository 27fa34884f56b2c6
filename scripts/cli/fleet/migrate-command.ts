import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FleetGitLab } from '../../../functions/core/gitlab/runners.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { readWhole, severalWords, toggle } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { systemCause } from '../../terminal/system-failure.ts';
import { agreedTo } from '../truth/confirm.ts';
import { neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { type MannedRunner, openFleet, readFleet, registrationOf } from './ls-command.ts';

const RUNNERS_MAX = 200;
const TIMEOUT_SECONDS_MIN = 600;
const NOTE_CHARACTERS_MAX = 1_024;

const fleetMigrate = command({
  name: 'fleet migrate',
  about: `Runners with a registration token have to be registered again before GitLab removes those tokens. For each it shows the next
step. With --apply it does what REST can do:

  create   makes a runner like it; its token goes into a file of mode 600, once: GitLab shows it only now  (--apply)
  install  that token has to get into the config.toml of every manager                                     (by hand)
  pause    all managers use the new one: the old runner takes no more jobs                                 (--apply)
  delete   the old runner can go when its last job has ended                                               (by hand)

Call it again after each step. It deletes nothing. If GitLab does not report how a runner was registered, name it.`,
  words: {
    runners: severalWords('[<runner id> …]', 'only these runners', [0, RUNNERS_MAX]),
  },
  expects: `at most ${RUNNERS_MAX} runner ids`,
  flags: {
    ...neededGitLab(),
    apply: toggle('makes the steps create and pause; the token then needs the scope api'),
    yes: toggle('does not ask'),
  },
  examples: [
    'tollgate fleet migrate --gitlab https://gitlab.example.com --token-file token',
    'tollgate fleet migrate 17 18 --gitlab https://gitlab.example.com --token-file token --apply',
  ],
  exits: {
    0: 'done or nothing to do',
    1: 'GitLab does not answer',
    2: 'refused, nothing was changed',
  },
  run: async ({ flags, words }, io) => {
    const named = new Set(words.runners.map((given) => readWhole('runner', given, 1, 2 ** 31)));
    const place = readGitLabPlace(flags, io);
    const { runners } = await readFleet(place, progressOf('calls', io));
    const moves = movesOf(runners, named);
    const missing = [...named].filter((id) => !moves.some(({ from }) => from.runner.id === id));
    if (missing.length > 0)
      throw new UsageError(
        `runner ${missing.join(', ')}: GitLab has no such runner, or it has an authentication token already`,
      );
    const wanted = moves.filter(({ step }) => flags.apply && (step === 'create' || step === 'pause'));
    const created = wanted.filter(({ step }) => step === 'create').length;
    const question = `Create ${created} runners and pause ${wanted.length - created}?`;
    const remedy = 'there is no terminal to ask: add --yes if it is meant';
    if (wanted.length > 0 && !flags.yes && !(await agreedTo(io, question, remedy))) return EXIT.wouldReject;
    const fleet = openFleet(place);
    const paint = paintWhen(io.colours);
    const migrations = [];
    for (const move of moves) {
      const { from, step, to } = move;
      const applied = wanted.includes(move) ? await applyStep(move, fleet, io.cwd) : undefined;
      const result = {
        ...{ runner: from.runner.id, step, applied: applied !== undefined },
        ...withoutAbsent({ successor: to?.runner.id }),
        remains: REMAINS[step](move),
        ...applied,
      };
      migrations.push(result);
      const made = step === 'create' && applied ? `made runner ${result.successor}\n        ` : '';
      const name = printable(`${from.runner.id} ${from.runner.description}`);
      const done = applied === undefined ? '      ' : paint.good('done  ');
      if (!flags.json)
        io.out(`${done}${step.padEnd(8)}runner ${name}\n        ${made}${printable(result.remains)}\n`);
    }
    if (flags.json) io.out(`${JSON.stringify({ migrations })}\n`);
    else if (moves.length === 0) io.out('No runner is known to have come by a registration token.\n');
    return EXIT.ok;
  },
});

export const commands = [fleetMigrate];

type MigrationStep = 'create' | 'install' | 'pause' | 'delete';

interface RunnerMove {
  readonly from: MannedRunner;
  readonly step: MigrationStep;
  readonly to: MannedRunner | undefined;
}

async function applyStep(move: RunnerMove, fleet: FleetGitLab, folder: string) {
  const { runner } = move.from;
  if (move.step === 'pause') {
    await fleet.pause(runner.id);
    return { remains: REMAINS.delete(move) };
  }
  // Opened before the runner is made: a token that cannot be kept is lost.
  const tokenFile = join(folder, `runner-in-place-of-${runner.id}.token`);
  const file = openForToken(tokenFile);
  let isKept = false;
  try {
    const { description, type, tags, runUntagged, locked, accessLevel, maximumTimeoutSeconds = 0 } = runner;
    const note = [successorNote(runner.id), runner.maintenanceNote ?? ''].join('\n').trim();
    const { id, token } = await fleet.create({
      ...{ description, type, tags, runUntagged, locked, accessLevel },
      maintenanceNote: note.slice(0, NOTE_CHARACTERS_MAX),
      ...(maximumTimeoutSeconds >= TIMEOUT_SECONDS_MIN && { maximumTimeoutSeconds }),
      ...withoutAbsent({ ownerId: runner.ownerIds[0] }),
    });
    writeSync(file, `${token}\n`);
    isKept = true;
    return { successor: id, tokenFile, remains: REMAINS.install(move, id, tokenFile) };
  } finally {
    closeSync(file);
    if (!isKept) unlinkSync(tokenFile);
  }
}

/** @throws {UsageError} if the file exists: it may be the only copy of a token. */
function openForToken(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw new UsageError(
      isThere
        ? `${path} is there already and may hold the only copy of a token; move it away`
        : `${path}: cannot be written: ${systemCause(error)}`,
    );
  }
}

const REMAINS: Readonly<
  Record<MigrationStep, (move: RunnerMove, successor?: number, tokenFile?: string) => string>
> = {
  create: ({ from: { runner } }) => {
    const untagged = runner.runUntagged ? ', jobs without tags' : '';
    const others = runner.ownerIds.length - 1;
    const assign = others > 0 ? `; then assign the new runner to its ${others} other projects` : '';
    return `POST /user/runners with type ${runner.type}, tags ${runner.tags.join(', ') || 'none'}${untagged}: run this with --apply${assign}`;
  },
  install: (
    move,
    successor = move.to?.runner.id,
    tokenFile = 'the file that was written when it was made',
  ) => {
    const managers = unmoved(move)
      .map(({ systemId }) => systemId)
      .join(', ');
    return `in the config.toml of ${managers || 'its managers'} set id = ${successor} and the token from ${tokenFile}. Policy, limits and scopes of the controller that name runner ${move.from.runner.id} have to name ${successor}. If that file is lost, delete runner ${successor} and start again`;
  },
  pause: ({ from }) => `PUT /runners/${from.runner.id} with paused: run this with --apply`,
  delete: ({ from }) => `delete runner ${from.runner.id} in GitLab when its last job has ended`,
};

/** Managers under the old token: one keeps its system id under the new token. Those not heard for a week do not count. */
function unmoved({ from, to }: Pick<RunnerMove, 'from' | 'to'>): MannedRunner['managers'] {
  const heard = new Set(to?.managers.map(({ systemId }) => systemId));
  return from.managers.filter(({ status, systemId }) => status !== 'stale' && !heard.has(systemId));
}

/** In the new runner's maintenance note: a later call finds by it what an earlier one made. */
const successorNote = (runnerId: number): string => `tollgate: in place of runner ${runnerId}`;

/** Lists runners to register again: those with a registration token, and named ones of unknown origin. */
function movesOf(runners: readonly MannedRunner[], named: ReadonlySet<number>): readonly RunnerMove[] {
  const successors = new Map<string, MannedRunner>();
  for (const each of runners)
    if (registrationOf(each) !== 'registration_token')
      successors.set(each.runner.maintenanceNote?.split('\n')[0] ?? '', each);
  return runners.flatMap((from): readonly RunnerMove[] => {
    const registration = registrationOf(from);
    const isMeant = named.size === 0 ? registration === 'registration_token' : named.has(from.runner.id);
    if (!isMeant || registration === 'authentication_token') return [];
    const to = successors.get(successorNote(from.runner.id));
    return [{ from, to, step: stepOf(from, to) }];
  });
}

function stepOf(from: MannedRunner, to: MannedRunner | undefined): MigrationStep {
  if (to === undefined) return 'create';
  if (from.runner.paused) return 'delete';
  return to.managers.length === 0 || unmoved({ from, to }).length > 0 ? 'install' : 'pause';
}
