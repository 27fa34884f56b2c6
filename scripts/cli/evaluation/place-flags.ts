import { type Directory, pathKey } from '../../../policies/directory.ts';
import { PIPELINE_SOURCES } from '../../../policies/document/parse-match.ts';
import { closest } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import type { Policy } from '../../../policies/policy.ts';
import { pricesAt, type RunnerClass } from '../../../policies/price.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { UsageError } from '../../terminal/command.ts';
import { readChoice, readWhole, text, toggle } from '../../terminal/flags.ts';
import { notInDirectory } from './unknown-place.ts';

/** Flags for facts that no file has: user and place. */
export const PLACE_FLAGS = {
  project: text('<id | path>', 'the project, as in the directory; a new one by its path'),
  group: text('<id | path>', 'its group, if the project itself does not matter'),
  ref: text('<name>', 'branch or tag'),
  protected: toggle('the ref is protected'),
  unprotected: toggle('the ref is not protected'),
  source: text('<source>', 'what started the pipeline: push, merge_request_event, schedule, web …'),
  user: text('<id>', "GitLab's id of the user"),
  now: text('<time>', 'the time to check for, 2026-12-31T18:00Z (default: now)'),
};

export interface PlaceFlags {
  readonly project?: string | undefined;
  readonly group?: string | undefined;
  readonly ref?: string | undefined;
  readonly protected: boolean;
  readonly unprotected: boolean;
  readonly source?: string | undefined;
  readonly user?: string | undefined;
}

export type RequestPlace = Pick<
  AdmissionRequest,
  | 'projectId'
  | 'projectPath'
  | 'namespaceId'
  | 'rootNamespaceId'
  | 'ref'
  | 'refProtected'
  | 'pipelineSource'
  | 'userId'
>;

const ID_MAX = 999_999_999_999_999;

/** @throws {UsageError} for a project or group that is not in the directory, and flags that contradict each other. */
export const readPlaceFlags = (flags: PlaceFlags, directory: Directory): RequestPlace => ({
  ...whereabouts(flags, directory),
  ...readRunFlags(flags),
});

/**
 * Returns the project or group of the flags for the API of a ledger. A project that the directory does not know yet is
 * placed by its group.
 *
 * @throws {UsageError} without a project and a group.
 */
export function placeInLedger(flags: PlaceFlags, directory: Directory) {
  const { projectId, namespaceId } = readPlaceFlags(flags, directory);
  if (projectId === undefined && namespaceId === undefined)
    throw new UsageError('whose budget? expected --project or --group');
  return projectId === undefined ? withoutAbsent({ group: namespaceId }) : { project: projectId };
}

/** The ref, the source and the user, without the project. @throws {UsageError} */
export function readRunFlags(flags: PlaceFlags): RequestPlace {
  if (flags.protected && flags.unprotected)
    throw new UsageError('--protected and --unprotected: expected one of them');
  const { ref, source, user } = flags;
  return {
    ...(ref !== undefined && { ref }),
    ...(flags.protected && { refProtected: true }),
    ...(flags.unprotected && { refProtected: false }),
    ...(source !== undefined && { pipelineSource: readChoice('source', source, PIPELINE_SOURCES) }),
    ...(user !== undefined && { userId: readWhole('user', user, 1, ID_MAX) }),
  };
}

/** @throws {UsageError} if `--now` is no time. */
export function readNow(text: string | undefined, nowMs: () => number): number {
  if (text === undefined) return nowMs();
  const atMs = readInstant(text, 'start');
  if (atMs !== undefined) return atMs;
  throw new UsageError(`--now "${text}": expected a day or a time with its offset, e.g. 2026-12-31T18:00Z`);
}

function whereabouts({ project, group }: PlaceFlags, directory: Directory): RequestPlace {
  if (project !== undefined && group !== undefined)
    throw new UsageError('--project and --group: expected one of them, a project names its group');
  if (project !== undefined) return projectPlace(project, directory);
  if (group === undefined) return {};
  const found = groupOf(group, directory);
  if (found === undefined) throw notInDirectory(`--group ${group}`, group, directory.groupByPath.keys());
  return groupPlace(found, directory);
}

function projectPlace(project: string, directory: Directory): RequestPlace {
  const known = isId(project)
    ? directory.projectById.get(Number(project))
    : directory.projectByPath.get(pathKey(project));
  if (known !== undefined)
    return {
      projectId: known.id,
      projectPath: known.path,
      ...groupPlace({ id: known.groupId }, directory),
    };
  // A project of today is not in the directory yet, and a group is enough for its limits.
  const parent = project.slice(0, Math.max(0, project.lastIndexOf('/')));
  const group =
    isId(project) || project.endsWith('/') ? undefined : directory.groupByPath.get(pathKey(parent));
  if (group === undefined)
    throw notInDirectory(`--project ${project}`, project, directory.projectByPath.keys());
  return { projectPath: project, ...groupPlace(group, directory) };
}

const groupOf = (group: string, directory: Directory): { readonly id: number } | undefined =>
  isId(group) ? directory.groupById.get(Number(group)) : directory.groupByPath.get(pathKey(group));

function groupPlace({ id }: { readonly id: number }, directory: Directory): RequestPlace {
  const rootNamespaceId = directory.chainById.get(id)?.[0]?.id;
  return { namespaceId: id, ...(rootNamespaceId !== undefined && { rootNamespaceId }) };
}

const isId = (text: string): boolean => /^\d{1,15}$/.test(text);

interface ChosenClass {
  /** Every job is of the class. */
  readonly policy: Policy;
  readonly runnerClass: RunnerClass;
}

/**
 * The policy as if all runners were of one class, at the prices in force at an instant: ask it about no other.
 *
 * @throws {UsageError} if there is no such class then.
 */
export function withClass(policy: Policy, name: string, nowMs: number): ChosenClass {
  const { version, classes } = pricesAt(policy.prices, nowMs);
  const runnerClass = classes.find((each) => each.name === name);
  if (runnerClass === undefined) {
    const names = classes.map((each) => each.name);
    const like = closest(name, names);
    const hint = like === undefined ? `expected ${names.join(', ')}` : `did you mean ${like}?`;
    throw new UsageError(`--class ${name}: is no runner class of the policy (prices ${version}); ${hint}`);
  }
  return {
    runnerClass,
    policy: {
      ...policy,
      prices: { version, classes: [], defaultClass: runnerClass },
    },
  };
}
