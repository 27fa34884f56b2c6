import type { ExpandedJob, LeftOutJob } from './expanded-job.ts';
import type { ExpandedPipeline } from './expanded-pipeline.ts';
import type { Exploration, WorldOutcome } from './explore.ts';
import type { FilePlace } from './includes.ts';
import type { PipelineWorld } from './pipeline-world.ts';
import { stagesOf } from './refusals.ts';

/** One job in all worlds that have a pipeline. */
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
export function mergeWorlds({
  outcomes,
  isCut,
}: Exploration<PipelineWorld>): Omit<ExpandedPipeline, 'problems' | 'warnings'> {
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

/** Jobs of stages that are not known come last. */
function inStageOrder(jobs: readonly ExpandedJob[], stages: readonly string[]): ExpandedJob[] {
  const place = (job: ExpandedJob) =>
    stages.includes(job.stage) ? stages.indexOf(job.stage) : stages.length;
  return [...jobs].sort((one, other) => place(one) - place(other));
}
