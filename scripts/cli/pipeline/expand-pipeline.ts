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
import { explore, expressionReader } from './conditions.ts';
import type { ExpandedJob, ExpandedPipeline, LeftOutJob } from './expanded-pipeline.ts';
import { sourceReader } from './inputs.ts';
import { type KnownRun, runVariables } from './known-run.ts';
import { PipelineError, type WorkBudget, workBudget } from './pipeline-error.ts';
import { type PipelineWorld, pipelineIn, stagesOf } from './pipeline-world.ts';
import { PIPELINE_FILE, repositoryFiles } from './repository-files.ts';

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
    ...{
      folder,
      file: isFolder ? PIPELINE_FILE : basename(path),
      files: repositoryFiles(folder),
      run,
      lookUp,
    },
    ...{ readSource: sourceReader(lookUp, budget), expressions: expressionReader(), problems, budget },
  };
  const { outcomes, isCut } = explore(
    (world) => pipelineOrRefusal(() => pipelineIn(world, files)),
    WORLDS_MAX,
  );
  const worlds: PipelineWorld[] = [];
  const conditions = new Set<string>();
  for (const { value, assumed } of outcomes) {
    if (value instanceof PipelineError) {
      const where = [...assumed].map(([condition, holds]) => `${condition} is ${holds}`).join(', ');
      problems.push(`${value.message}, where ${where}`);
    } else {
      worlds.push(value);
      for (const condition of assumed.keys()) conditions.add(condition);
    }
  }
  const [first] = outcomes;
  if (worlds.length === 0 && first?.value instanceof PipelineError) throw first.value;
  const merged = mergeWorlds(worlds, [...conditions], isCut);
  const cut = `${files.file}: the rules of its includes may end in more than ${WORLDS_MAX} ways, and ${WORLDS_MAX} were checked; narrow it with --project, --ref, --source and --variable`;
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

/** @param conditions - those that decide which of the worlds it is. @param isCut - there may be more worlds. */
function mergeWorlds(
  worlds: readonly PipelineWorld[],
  conditions: readonly string[],
  isCut: boolean,
): Omit<ExpandedPipeline, 'problems'> {
  const created = worlds.filter((world) => world.isCreated !== 'no');
  const jobs: ExpandedJob[] = [];
  const leftOut: LeftOutJob[] = [];
  const byName = Map.groupBy(
    created.flatMap((world) => world.jobs),
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
    const dependsOn = union([...found.map((job) => job.conditions), isSame ? [] : conditions]);
    jobs.push({
      ...form,
      ...(!isCertain && { dependsOn }),
      ...(otherForms.length > 0 && { otherForms }),
    });
  }
  const isEverywhere = worlds.every((world) => world.isCreated === 'yes');
  const isCreated = created.length === 0 ? 'no' : isEverywhere ? 'yes' : 'depends';
  const ofWorkflow = worlds.map((world) => world.workflowDependsOn);
  const ofWorlds = created.length < worlds.length ? conditions : [];
  const stages = stagesOf(created[0]?.stages);
  const rank = ({ stage }: ExpandedJob) => (stages.includes(stage) ? stages.indexOf(stage) : stages.length);
  return {
    jobs: jobs.toSorted((one, other) => rank(one) - rank(other)),
    leftOut,
    isCreated,
    workflowDependsOn: isCreated === 'depends' ? union([...ofWorkflow, ofWorlds]) : [],
    bridges: union(created.map((world) => world.bridges)),
    notRead: union(worlds.map((world) => world.notRead)),
  };
}

const union = (lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())];
