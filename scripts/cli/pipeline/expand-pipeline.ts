/**
 * Expands a `.gitlab-ci.yml` into jobs, offline, as GitLab does: local includes with inputs, `extends`,
 * `default`, `!reference`, variables, `parallel`, and `rules:`, `only:` and `except:` as far as the run is
 * known. A job with an undecided condition names it and has every possible form.
 *
 * `when:` is not evaluated: a manual job counts as running.
 */
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Exploration, explore, expressionReader } from './conditions.ts';
import type { ExpandedJob, ExpandedPipeline, LeftOutJob } from './expanded-pipeline.ts';
import { sourceReader } from './inputs.ts';
import { type KnownRun, runVariables } from './known-run.ts';
import { PipelineError, type WorkBudget, workBudget } from './pipeline-error.ts';
import { type PipelineWorld, pipelineIn, stagesOf } from './pipeline-world.ts';
import { repositoryFiles } from './repository-files.ts';

const FILE = '.gitlab-ci.yml';
/** Includes and workflow rules of real pipelines leave two or three ways open. */
const WORLDS_MAX = 16;

/**
 * @param path - a folder with a `.gitlab-ci.yml`, or such a file; includes are relative to its folder.
 * @param budget - bounds the work; tests read the rest.
 * @throws {PipelineError} for files without a pipeline under any unknown condition, or with too much work.
 */
export function expandPipeline(
  path: string,
  run: KnownRun = {},
  budget: WorkBudget = workBudget(),
): ExpandedPipeline {
  const isFolder = statSync(path).isDirectory();
  const folder = isFolder ? path : dirname(path);
  const problems: string[] = [];
  const lookUp = runVariables(run);
  const files = {
    ...{ folder, file: isFolder ? FILE : basename(path), files: repositoryFiles(folder), run, lookUp },
    ...{ readSource: sourceReader(lookUp, budget), expressions: expressionReader(), problems, budget },
  };
  const { outcomes, isCut } = explore(
    (world) => pipelineOrRefusal(() => pipelineIn(world, files)),
    WORLDS_MAX,
  );
  const created: { value: PipelineWorld; assumed: ReadonlyMap<string, boolean> }[] = [];
  for (const { value, assumed } of outcomes) {
    if (!(value instanceof PipelineError)) created.push({ value, assumed });
    else {
      const where = [...assumed].map(([condition, holds]) => `${condition} is ${holds}`).join(', ');
      problems.push(`${value.message}, where ${where}`);
    }
  }
  const [first] = outcomes;
  if (created.length === 0 && first?.value instanceof PipelineError) throw first.value;
  const merged = mergeWorlds({ outcomes: created, isCut });
  const cut = `${files.file}: the rules of its includes may end in more than ${WORLDS_MAX} ways, of which ${WORLDS_MAX} were looked at; tell more with --project, --ref, --source and --variable`;
  return {
    ...merged,
    notRead: isCut ? [...merged.notRead, cut] : merged.notRead,
    problems: union([problems]),
  };
}

/** A refusal in one world leaves the others: the include or the template that is wrong may not be in them. */
function pipelineOrRefusal(make: () => PipelineWorld): PipelineWorld | PipelineError {
  try {
    return make();
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'refused') return error;
    throw error;
  }
}

function mergeWorlds({ outcomes, isCut }: Exploration<PipelineWorld>): Omit<ExpandedPipeline, 'problems'> {
  const created = outcomes.filter(({ value }) => value.isCreated !== 'no');
  const asked = [...new Set(outcomes.flatMap(({ assumed }) => [...assumed.keys()]))];
  const jobs: ExpandedJob[] = [];
  const leftOut: LeftOutJob[] = [];
  const byName = Map.groupBy(
    created.flatMap(({ value }) => value.jobs),
    ({ name }) => name,
  );
  for (const [name, found] of byName) {
    const byText = new Map(found.flatMap(({ forms }) => forms.map((form) => [JSON.stringify(form), form])));
    const [form, ...otherForms] = byText.values();
    if (form === undefined) {
      const { definedAs = name, place } = found[0] ?? {};
      leftOut.push({ name, definedAs, ...withoutAbsent({ place }) });
      continue;
    }
    // The surrounding files also decide, if it differs between worlds.
    const kinds = new Set(found.map(({ forms }) => JSON.stringify(forms)));
    const isSame = !isCut && found.length === created.length && kinds.size === 1;
    const certain = found.filter(({ alwaysRuns }) => alwaysRuns).length;
    const isCertain = !isCut && certain === created.length && otherForms.length === 0;
    const dependsOn = union([...found.map(({ conditions }) => conditions), isSame ? [] : asked]);
    jobs.push({
      ...form,
      ...(!isCertain && { dependsOn }),
      ...(otherForms.length > 0 && { otherForms }),
    });
  }
  const isEverywhere = outcomes.every(({ value }) => value.isCreated === 'yes');
  const isCreated = created.length === 0 ? 'no' : isEverywhere ? 'yes' : 'depends';
  const ofWorkflow = outcomes.flatMap(({ value }) => value.workflowDependsOn);
  return {
    jobs: inStageOrder(jobs, stagesOf(created[0]?.value.stages)),
    leftOut,
    isCreated,
    workflowDependsOn:
      isCreated === 'depends' ? union([ofWorkflow, created.length < outcomes.length ? asked : []]) : [],
    bridges: union(created.map(({ value }) => value.bridges)),
    notRead: union(outcomes.map(({ value }) => value.notRead)),
  };
}

const union = (lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())];

function inStageOrder(jobs: readonly ExpandedJob[], stages: readonly string[]): ExpandedJob[] {
  const place = (job: ExpandedJob) =>
    stages.includes(job.stage) ? stages.indexOf(job.stage) : stages.length;
  return [...jobs].sort((one, other) => place(one) - place(other));
}
