/**
 * Expands a `.gitlab-ci.yml` into jobs, offline, as GitLab does: local includes with inputs, `extends`,
 * `default`, `!reference`, variables, `parallel`, and `rules:`, `only:` and `except:` as far as the run is
 * known. A job with an undecided condition names it and has every possible form.
 *
 * `when:` is not evaluated: a manual job counts as running.
 */
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ExpandedJob, ExpandedPipeline, LeftOutJob } from './expanded-pipeline.ts';
import type { FilePlace } from './includes.ts';
import { type KnownRun, runVariables } from './known-run.ts';
import { PipelineError, type WorkBudget, workBudget } from './pipeline-error.ts';
import { sourceReader } from './pipeline-source.ts';
import { type PipelineWorld, pipelineIn } from './pipeline-world.ts';
import { stagesOf } from './refusals.ts';
import { repositoryFiles } from './repository-files.ts';
import { type Exploration, explore, expressionReader, type WorldOutcome } from './rules.ts';

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
  const notes = { problems: [] as string[], budget };
  const lookUp = runVariables(run);
  const files = {
    folder,
    file: isFolder ? FILE : basename(path),
    repository: repositoryFiles(folder),
    run,
    lookUp,
    readSource: sourceReader(lookUp, notes),
    expressions: expressionReader(),
    notes,
  };
  const { outcomes, isCut } = explore(
    (world) => pipelineOrRefusal(() => pipelineIn(world, files)),
    WORLDS_MAX,
  );
  const created: WorldOutcome<PipelineWorld>[] = [];
  for (const { value, assumed } of outcomes) {
    if (!(value instanceof PipelineError)) created.push({ value, assumed });
    else notes.problems.push(`${value.message}, where ${assumedText(assumed)}`);
  }
  const [first] = outcomes;
  if (created.length === 0 && first?.value instanceof PipelineError) throw first.value;
  const merged = mergeWorlds({ outcomes: created, isCut });
  const cut = `${files.file}: the rules of its includes may end in more than ${WORLDS_MAX} ways, of which ${WORLDS_MAX} were looked at; tell more with --project, --ref, --source and --variable`;
  return {
    ...merged,
    notRead: isCut ? [...merged.notRead, cut] : merged.notRead,
    problems: [...new Set(notes.problems)],
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

const assumedText = (assumed: ReadonlyMap<string, boolean>): string =>
  [...assumed].map(([condition, holds]) => `${condition} is ${holds}`).join(', ');

interface JobAnywhere {
  readonly name: string;
  readonly definedAs: string;
  readonly place: FilePlace | undefined;
  readonly forms: Map<string, ExpandedJob>;
  readonly conditions: Set<string>;
  /** In how many worlds it is in the files, and in how many it runs for certain. */
  found: number;
  certain: number;
  /** Its forms of each world, to see whether the worlds differ. */
  readonly kinds: Set<string>;
}

/** Combines all possible worlds. If some were not explored, nothing is certain. */
function mergeWorlds({ outcomes, isCut }: Exploration<PipelineWorld>): Omit<ExpandedPipeline, 'problems'> {
  const created = outcomes.filter(({ value }) => value.isCreated !== 'no');
  const asked = [...new Set(outcomes.flatMap(({ assumed }) => [...assumed.keys()]))];
  const jobs: ExpandedJob[] = [];
  const leftOut: LeftOutJob[] = [];
  for (const job of jobsAnywhere(created).values()) {
    const [form, ...otherForms] = job.forms.values();
    const { name, definedAs, place } = job;
    if (form === undefined) {
      leftOut.push({ name, definedAs, ...(place !== undefined && { place }) });
      continue;
    }
    // The surrounding files also decide, if it differs between worlds.
    const isSame = !isCut && job.found === created.length && job.kinds.size === 1;
    const dependsOn = [...job.conditions, ...(isSame ? [] : asked)];
    const isCertain = !isCut && job.certain === created.length && otherForms.length === 0;
    jobs.push({
      ...form,
      ...(!isCertain && { dependsOn: [...new Set(dependsOn)] }),
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

function jobsAnywhere(created: readonly WorldOutcome<PipelineWorld>[]): ReadonlyMap<string, JobAnywhere> {
  const jobs = new Map<string, JobAnywhere>();
  for (const { value } of created) {
    for (const { name, definedAs, place, forms, alwaysRuns, conditions } of value.jobs) {
      const job = jobs.get(name) ?? {
        name,
        definedAs,
        place,
        forms: new Map(),
        conditions: new Set(),
        found: 0,
        certain: 0,
        kinds: new Set(),
      };
      jobs.set(name, job);
      const keys = forms.map((form) => JSON.stringify(form));
      for (const [index, form] of forms.entries()) {
        const key = keys[index] ?? '';
        if (!job.forms.has(key)) job.forms.set(key, form);
      }
      for (const condition of conditions) job.conditions.add(condition);
      job.kinds.add(keys.join());
      job.found += 1;
      job.certain += alwaysRuns ? 1 : 0;
    }
  }
  return jobs;
}

const union = (lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())];

function inStageOrder(jobs: readonly ExpandedJob[], stages: readonly string[]): ExpandedJob[] {
  const place = (job: ExpandedJob) =>
    stages.includes(job.stage) ? stages.indexOf(job.stage) : stages.length;
  return [...jobs].sort((one, other) => place(one) - place(other));
}
