import type {
  CanaryProject,
  CanaryRunner,
  GitLabAdministration,
  GitLabPipelines,
} from '../../../../functions/core/gitlab/index.ts';
import { refused, type SetupLine } from '../setup-line.ts';

/** The tag of the runner that is there for the canary alone, unless another one is said. */
export const CANARY_TAG = 'tollgate-canary';

interface PlaceAsked {
  readonly gitlab: GitLabAdministration;
  readonly pipelines: GitLabPipelines;
  /** Number or path. */
  readonly projectAsked: string;
  readonly runnerId: number | undefined;
  readonly runnerTag: string | undefined;
}

/** A project in which the canary disturbs no other jobs. */
export interface CanaryPlace {
  readonly project: CanaryProject & { readonly default_branch: string };
  readonly runner: CanaryRunner;
  /** The runner's only one. */
  readonly tag: string;
}

type PlaceReading = { readonly place: CanaryPlace } | { readonly line: SetupLine };

const OWN_RUNNER = `the canary needs a runner of the instance of its own: one tag, ${CANARY_TAG}, that no other job has, and none without tags`;
const wrong = (part: SetupLine['part'], says: string, remedy: string): { readonly line: SetupLine } => ({
  line: { part, standing: 'wrong', says, remedy },
});

/** Reads runner and project, and refuses where jobs of others could meet the canary. Changes nothing. */
export async function canaryPlace(asked: PlaceAsked): Promise<PlaceReading> {
  const { gitlab, pipelines } = asked;
  const project = await pipelines.project(asked.projectAsked);
  if (!project.ok) return { line: refused('project', project.refusal) };
  const { path_with_namespace: path, default_branch } = project.value;
  if (default_branch == null)
    return wrong('project', `${path} is empty`, 'push the .gitlab-ci.yml of docs/platform.md to it');
  const runnerId = asked.runnerId ?? (await runnerWithTag(asked));
  if (typeof runnerId !== 'number') return runnerId;
  const read = await pipelines.runner(runnerId);
  if (!read.ok) return { line: refused('runner', read.refusal) };
  const runner = read.value;
  const [tag, ...more] = runner.tag_list;
  if (runner.runner_type !== 'instance_type')
    return wrong(
      'runner',
      `runner ${runnerId} is one of a group or project: it cannot be scoped`,
      OWN_RUNNER,
    );
  if (runner.run_untagged)
    return wrong(
      'runner',
      `runner ${runnerId} takes jobs without tags: those of other projects would meet the canary`,
      OWN_RUNNER,
    );
  if (tag === undefined || more.length > 0)
    return wrong(
      'runner',
      `runner ${runnerId} has ${runner.tag_list.length} tags: jobs of other projects with one of them would meet the canary`,
      OWN_RUNNER,
    );
  if (runner.paused === true)
    return wrong('runner', `runner ${runnerId} is paused`, 'let it run: it takes the two jobs');
  const same = await gitlab.instanceRunners([tag]);
  if (!same.ok) return { line: refused('runner', same.refusal) };
  const others = same.value.filter(({ id }) => id !== runnerId).map(({ id }) => id);
  if (others.length > 0)
    return wrong(
      'runner',
      `runner ${others.join(', ')} has the tag ${tag} as well and may take the canary's jobs unasked`,
      OWN_RUNNER,
    );
  const taken = await pipelines.projectsOf(runnerId);
  if (!taken.ok) return { line: refused('runner', taken.refusal) };
  const strangers = taken.value.filter((each) => each !== path);
  if (strangers.length > 0)
    return wrong(
      'runner',
      `runner ${runnerId} took jobs of ${strangers.slice(0, 3).join(', ')} lately: such jobs would meet the canary`,
      OWN_RUNNER,
    );
  return { place: { project: { ...project.value, default_branch }, runner, tag } };
}

async function runnerWithTag({
  gitlab,
  runnerTag = CANARY_TAG,
}: PlaceAsked): Promise<number | { readonly line: SetupLine }> {
  const found = await gitlab.instanceRunners([runnerTag]);
  if (!found.ok) return { line: refused('runner', found.refusal) };
  const [first, ...others] = found.value;
  if (first === undefined)
    return wrong('runner', `no runner of the instance has the tag ${runnerTag}`, OWN_RUNNER);
  if (others.length > 0)
    return wrong(
      'runner',
      `several runners have the tag ${runnerTag}: ${found.value.map(({ id }) => id).join(', ')}`,
      OWN_RUNNER,
    );
  return first.id;
}
