import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FleetGitLab } from '../../../functions/core/gitlab/runners.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { readWhole, severalWords, text, toggle } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { confirmed } from '../truth/confirm.ts';
import { neededGitLab, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { type FleetListing, type MannedRunner, openFleet, readFleet } from './read-fleet.ts';
import { registrationOf } from './runner-findings.ts';

/** One runner in `--json`. */
interface MigrationJson {
  readonly runner: number;
  readonly step: MigrationStep;
  /** Was made by this call. */
  readonly applied: boolean;
  readonly successor?: number;
  readonly tokenFile?: string;
  /** Manual steps. */
  readonly remains: string;
}

const RUNNERS_MAX = 200;
const ID_MAX = 2 ** 31;
const TIMEOUT_SECONDS_MIN = 600;
/** Steps that REST can make. */
const APPLIED: readonly MigrationStep[] = ['create', 'pause'];

const fleetMigrate = command({
  name: 'fleet migrate',
  about: `Runners with a registration token have to be registered again before GitLab removes those tokens. For each it shows the next
step. With --apply it does what REST can do:

  create   makes a runner like it; its token goes into a file of mode 600, once: GitLab shows it only now  (--apply)
  install  that token has to get into the config.toml of every manager                                     (by hand)
  finish   some managers still use the old token                                                           (by hand)
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
    'token-dir': text(
      '<folder>',
      "where the new runners' tokens go, one file each (default: the current folder)",
    ),
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
  run: async ({ flags: values, words }, io) => {
    const named = new Set(words.runners.map((given) => readId(given)));
    const place = readGitLabPlace(values, io);
    const listing = await readFleet(place, progressOf('calls', io));
    const migrations = migrationsOf(listing, named);
    const missing = [...named].filter((id) => !migrations.some(({ from }) => from.runner.id === id));
    if (missing.length > 0)
      throw new UsageError(
        `runner ${missing.join(', ')}: GitLab has no such runner, or it has an authentication token already`,
      );
    const wanted = values.apply ? migrations.filter(({ step }) => APPLIED.includes(step)) : [];
    if (wanted.length > 0 && !(await agreed(wanted, values.yes, io))) {
      io.err('Nothing was changed.\n');
      return EXIT.wouldReject;
    }
    const folder = resolve(io.cwd, values['token-dir'] ?? '.');
    const fleet = openFleet(place);
    const told: MigrationJson[] = [];
    for (const migration of migrations) {
      const applied = wanted.includes(migration) ? await applyStep(migration, fleet, folder) : undefined;
      told.push({ ...toldOf(migration, applied !== undefined), ...applied });
      if (!values.json) io.out(migrationText(migration, told.at(-1), io));
    }
    if (values.json) io.out(`${JSON.stringify({ migrations: told })}\n`);
    else if (told.length === 0) io.out('No runner is known to have come by a registration token.\n');
    return EXIT.ok;
  },
});

export const commands = [fleetMigrate];

function readId(word: string): number {
  if (!/^\d+$/.test(word)) throw new UsageError(`"${word}": expected the id of a runner`);
  return readWhole('runner', word, 1, ID_MAX);
}

async function agreed(wanted: readonly RunnerMove[], yes: boolean, io: TerminalIo): Promise<boolean> {
  if (yes) return true;
  const count = (step: MigrationStep): number => wanted.filter((each) => each.step === step).length;
  const answer = await confirmed(io, `Create ${count('create')} runners and pause ${count('pause')}?`);
  if (answer === undefined) throw new UsageError('there is nobody to ask: add --yes if it is meant');
  return answer;
}

async function applyStep(
  { from, step }: RunnerMove,
  fleet: FleetGitLab,
  folder: string,
): Promise<Partial<MigrationJson>> {
  if (step === 'pause') {
    await fleet.pause(from.runner.id);
    return { remains: REMAINS.delete({ from, step: 'delete' }) };
  }
  const { runner } = from;
  // Opened before the runner is made: a token that cannot be kept is lost.
  const tokenFile = join(folder, `runner-in-place-of-${runner.id}.token`);
  const file = openForToken(tokenFile);
  let isKept = false;
  try {
    const { maximumTimeoutSeconds: seconds = 0, ownerIds } = runner;
    const [ownerId] = ownerIds;
    const created = await fleet.create({
      description: runner.description,
      type: runner.type,
      tags: runner.tags,
      runUntagged: runner.runUntagged,
      locked: runner.locked,
      accessLevel: runner.accessLevel,
      ...(seconds >= TIMEOUT_SECONDS_MIN && { maximumTimeoutSeconds: seconds }),
      maintenanceNote: noteFor(from),
      ...(ownerId !== undefined && { ownerId }),
    });
    writeSync(file, `${created.token}\n`);
    isKept = true;
    return {
      successor: created.id,
      tokenFile,
      remains: REMAINS.install({ from, step: 'install' }, created.id, tokenFile),
    };
  } finally {
    closeSync(file);
    if (!isKept) unlinkSync(tokenFile);
  }
}

const NOTE_CHARACTERS_MAX = 1_024;

const noteFor = ({ runner }: RunnerMove['from']): string =>
  [successorNote(runner.id), ...(runner.maintenanceNote === undefined ? [] : [runner.maintenanceNote])]
    .join('\n')
    .slice(0, NOTE_CHARACTERS_MAX);

/** @throws {UsageError} where the file is there already: it may be the only copy of a token. */
function openForToken(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new UsageError(`${path} is there already and may hold the only copy of a token; move it away`);
    throw new UsageError(
      `${path}: cannot be written (${code ?? 'unknown error'}); expected --token-dir to be a folder`,
    );
  }
}

type RemainsText = (migration: RunnerMove, successor?: number, tokenFile?: string) => string;

const REMAINS: Readonly<Record<MigrationStep, RemainsText>> = {
  create: ({ from: { runner } }) =>
    `POST /user/runners with type ${runner.type}, tags ${runner.tags.join(', ') || 'none'}${runner.runUntagged ? ', jobs without tags' : ''}: run this with --apply${runner.ownerIds.length > 1 ? `; then assign the new runner to its ${runner.ownerIds.length - 1} other projects` : ''}`,
  install: (
    { from, to },
    successor = to?.runner.id,
    tokenFile = 'the file that was written when it was made',
  ) =>
    `in the config.toml of ${managersText(from)} set id = ${successor} and the token from ${tokenFile}. Policy, limits and scopes of the controller that name runner ${from.runner.id} have to name ${successor}. If that file is lost, delete runner ${successor} and start again`,
  finish: ({ from, to }) => {
    const heard = new Set(to?.managers.map(({ systemId }) => systemId));
    const left = from.managers.filter(({ status, systemId }) => status !== 'stale' && !heard.has(systemId));
    return `${left.map(({ systemId }) => systemId).join(', ')} still use the old token: set the new one there, too`;
  },
  pause: ({ from }) => `PUT /runners/${from.runner.id} with paused: run this with --apply`,
  delete: ({ from }) => `delete runner ${from.runner.id} in GitLab when its last job has ended`,
};

const managersText = ({ managers }: RunnerMove['from']): string =>
  managers.length === 0 ? 'its managers' : managers.map(({ systemId }) => systemId).join(', ');

const toldOf = (migration: RunnerMove, applied: boolean): MigrationJson => ({
  runner: migration.from.runner.id,
  step: migration.step,
  applied,
  ...(migration.to !== undefined && { successor: migration.to.runner.id }),
  remains: REMAINS[migration.step](migration),
});

function migrationText({ from, step }: RunnerMove, told: MigrationJson | undefined, io: TerminalIo): string {
  if (told === undefined) return '';
  const paint = paintWhen(io.colours);
  const done = told.applied ? paint.good('done  ') : '      ';
  const name = printable(`${from.runner.id} ${from.runner.description}`);
  const made = told.applied && told.successor !== undefined ? `made runner ${told.successor}\n        ` : '';
  return `${done}${step.padEnd(8)}runner ${name}\n        ${made}${printable(told.remains)}\n`;
}

/** Steps of one runner's migration; each requires the previous. */
export type MigrationStep =
  /** GitLab makes a runner like it, with an authentication token. */
  | 'create'
  /** The new token has to get into the configuration of every manager, by hand. */
  | 'install'
  /** Some managers still work under the old token: the new runner was heard, and fewer managers use it. */
  | 'finish'
  /** Everything works under the new token: the old runner takes no more jobs. */
  | 'pause'
  /** Nothing uses the old one any more; deleting it is left to people. */
  | 'delete';

export interface RunnerMove {
  readonly from: MannedRunner;
  readonly step: MigrationStep;
  /** Absent: it is not made yet. */
  readonly to?: MannedRunner;
}

/** In the new runner's maintenance note: a later call finds by it what an earlier one made. */
export const successorNote = (runnerId: number): string => `tollgate: in place of runner ${runnerId}`;

/**
 * Lists runners to register again: those with a registration token, and `named` ones of unknown origin.
 *
 * @param named - runner ids; empty: all.
 */
export function migrationsOf({ runners }: FleetListing, named: ReadonlySet<number>): readonly RunnerMove[] {
  const successors = new Map<string, MannedRunner>();
  for (const each of runners)
    if (registrationOf(each) !== 'registration_token')
      successors.set(each.runner.maintenanceNote?.split('\n')[0] ?? '', each);
  return runners.flatMap((from): readonly RunnerMove[] => {
    const isNamed = named.has(from.runner.id);
    const isMeant = named.size === 0 ? registrationOf(from) === 'registration_token' : isNamed;
    if (!isMeant || registrationOf(from) === 'authentication_token') return [];
    const to = successors.get(successorNote(from.runner.id));
    return [{ from, step: stepOf(from, to), ...(to !== undefined && { to }) }];
  });
}

function stepOf(from: MannedRunner, to: MannedRunner | undefined): MigrationStep {
  if (to === undefined) return 'create';
  if (from.runner.paused) return 'delete';
  const heard = new Set(to.managers.map(({ systemId }) => systemId));
  if (heard.size === 0) return 'install';
  // A manager keeps its system id under the new token. Those that were not heard for a week do not count.
  const left = from.managers.filter(({ status, systemId }) => status !== 'stale' && !heard.has(systemId));
  return left.length > 0 ? 'finish' : 'pause';
}
