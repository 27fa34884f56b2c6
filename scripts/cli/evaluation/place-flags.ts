import { type Directory, findGroup, findProject } from '../../../policies/directory.ts';
import { PIPELINE_SOURCES } from '../../../policies/document/parse-match.ts';
import { closest } from '../../../policies/document/reading.ts';
import { readInstant } from '../../../policies/document/values.ts';
import type { Policy } from '../../../policies/policy.ts';
import { pricesAt, type RunnerClass } from '../../../policies/price.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { UsageError } from '../../terminal/command.ts';
import { readChoice, text, toggle, type ValuesOf, whole } from '../../terminal/define.ts';
import { parseDuration } from '../pipeline/durations.ts';
import { notInDirectory } from './unknown-place.ts';

const ID_MAX = 999_999_999_999_999;

export const PLACE_FLAGS = {
  project: text('<id | path>', 'the project, as in the directory; a new one by its path'),
  group: text('<id | path>', 'its group, if the project itself does not matter'),
  ref: text('<name>', 'branch or tag'),
  protected: toggle('the ref is protected'),
  unprotected: toggle('the ref is not protected'),
  source: text(
    '<source>',
    'source of the pipeline: push, merge_request_event, schedule, web …',
    (given, flag) => readChoice(flag, given, PIPELINE_SOURCES),
  ),
  user: text('<id>', "GitLab's id of the user", whole(1, ID_MAX)),
  now: text('<time>', 'the time to check for, 2026-12-31T18:00Z (default: now)', (given) => {
    const atMs = readInstant(given, 'start');
    if (atMs !== undefined) return atMs;
    throw new UsageError(
      `--now "${given}": expected a day or a time with its offset, e.g. 2026-12-31T18:00Z`,
    );
  }),
};

export type PlaceFlags = Omit<ValuesOf<typeof PLACE_FLAGS>, 'now'>;

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

export function readTimeout(given: string): number {
  const seconds = parseDuration(given);
  if (seconds !== undefined && seconds > 0) return seconds;
  throw new UsageError(`--timeout "${given}": expected a duration such as 1h or 90m`);
}

/** @throws {UsageError} for a project or group that is not in the directory, and flags that contradict each other. */
export const readPlaceFlags = (flags: PlaceFlags, directory: Directory): RequestPlace => ({
  ...whereabouts(flags, directory),
  ...readRunFlags(flags),
});

export function placeInLedger(flags: PlaceFlags, directory: Directory) {
  const { projectId, namespaceId } = readPlaceFlags(flags, directory);
  if (projectId === undefined && namespaceId === undefined)
    throw new UsageError('no group is given: expected --project or --group');
  return projectId === undefined ? withoutAbsent({ group: namespaceId }) : { project: projectId };
}

export function readRunFlags({ ref, source, user, ...flags }: PlaceFlags): RequestPlace {
  if (flags.protected && flags.unprotected)
    throw new UsageError('--protected and --unprotected: expected one');
  const refProtected = flags.protected || flags.unprotected ? flags.protected : undefined;
  return withoutAbsent({ ref, refProtected, pipelineSource: source, userId: user });
}

function whereabouts({ project, group }: PlaceFlags, directory: Directory): RequestPlace {
  if (project !== undefined && group !== undefined)
    throw new UsageError('--project and --group: expected one; a project names its group');
  if (group !== undefined) {
    const found = findGroup(group, directory);
    if (found === undefined) throw notInDirectory(`--group ${group}`, group, directory.groupByPath.keys());
    return groupPlace(found.id, directory);
  }
  if (project === undefined) return {};
  const known = findProject(project, directory);
  if (known !== undefined)
    return { projectId: known.id, projectPath: known.path, ...groupPlace(known.groupId, directory) };
  // A project of today is not in the directory yet, and a group is enough for its limits.
  const [, parent] = /^(.+)\/[^/]+$/.exec(project) ?? [];
  const its = parent === undefined ? undefined : findGroup(parent, directory);
  if (its === undefined)
    throw notInDirectory(`--project ${project}`, project, directory.projectByPath.keys());
  return { projectPath: project, ...groupPlace(its.id, directory) };
}

export const groupPlace = (
  namespaceId: number,
  { chainById }: Directory,
): Pick<RequestPlace, 'namespaceId' | 'rootNamespaceId'> =>
  withoutAbsent({ namespaceId, rootNamespaceId: chainById.get(namespaceId)?.[0]?.id });

export function classNamed(name: string, policy: Policy, nowMs: number): RunnerClass {
  const { version, classes } = pricesAt(policy.prices, nowMs);
  const runnerClass = classes.find((each) => each.name === name);
  if (runnerClass !== undefined) return runnerClass;
  const names = classes.map((each) => each.name);
  const like = closest(name, names);
  const hint = like === undefined ? `expected ${names.join(', ')}` : `did you mean ${like}?`;
  throw new UsageError(`--class ${name}: is no runner class of the policy (prices ${version}); ${hint}`);
}
