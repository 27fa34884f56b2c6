import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ExpandedJob, PipelineJob } from './expanded-pipeline.ts';
import type { FilePlace } from './includes.ts';
import {
  expandParallel,
  type InheritedDefaults,
  jobVariablesOf,
  type ParallelJob,
  type RuledVariables,
  readJob,
  stageOf,
} from './job.ts';
import type { KnownLookup } from './known-run.ts';
import { withSubject } from './pipeline-error.ts';
import { onlyExceptLets, possibleOutcomes } from './rule-outcomes.ts';
import type { Circumstances } from './rules.ts';
import { expandKnown, type Variables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

export interface JobForms {
  readonly name: string;
  readonly definedAs: string;
  readonly forms: readonly ExpandedJob[];
  /** It runs, however the conditions fall out. */
  readonly alwaysRuns: boolean;
  readonly conditions: readonly string[];
}

interface JobEntry {
  readonly name: string;
  readonly entry: YamlMap;
  readonly place: FilePlace | undefined;
}

export interface JobSurroundings {
  readonly inherited: InheritedDefaults;
  readonly given: RuledVariables['given'];
  readonly hasWorkflowRules: boolean;
  readonly about: Circumstances;
  readonly problems: string[];
}

const VALUES_PER_JOB = 100;

export function formsOf(written: JobEntry, around: JobSurroundings): readonly JobForms[] {
  const { name, entry } = written;
  const { about, inherited, given } = around;
  const { budget } = about;
  const onUnread = (what: string): void => about.unread.note(name, what);
  return expandParallel(name, entry.parallel, onUnread).map((parallel) =>
    withSubject(name, () => formsOfCell(parallel)),
  );

  function formsOfCell(parallel: ParallelJob): JobForms {
    budget.spend(VALUES_PER_JOB, name);
    const unruled = jobVariablesOf(entry, parallel, inherited, { ofRules: {}, given });
    const judged: Circumstances = { ...about, lookUp: jobLookUp(unruled, parallel, entry, about) };
    const { outcomes, conditions } = possibleOutcomes(entry.rules, name, judged, (within) =>
      onlyExceptLets(entry, around.hasWorkflowRules, name, within),
    );
    const running = outcomes.filter(({ isNever }) => !isNever);
    return {
      name: parallel.name,
      definedAs: name,
      forms: running.map(({ variables }) => formWith(variables, parallel)),
      alwaysRuns: running.length === outcomes.length,
      conditions: outcomes.length > 1 ? conditions : [],
    };
  }

  function formWith(ofRules: Variables, parallel: ParallelJob): ExpandedJob {
    budget.spend(VALUES_PER_JOB, name);
    const job = readJob(
      name,
      entry,
      parallel,
      inherited,
      { ofRules, given },
      {
        problems: around.problems,
        onUnread,
      },
    );
    const environment = environmentOf(job, entry, inherited.predefined);
    return {
      ...job,
      definedAs: name,
      ...withoutAbsent({ place: written.place, environment }),
    };
  }
}

/** A job's rules see its variables as they are written, before GitLab's own. */
function jobLookUp(
  variables: Variables,
  { name }: ParallelJob,
  entry: YamlMap,
  about: Circumstances,
): KnownLookup {
  const own = new Map([
    ['CI_JOB_NAME', name],
    ['CI_JOB_STAGE', stageOf(entry)],
    ...Object.entries(variables),
  ]);
  return (asked) => {
    const value = own.get(asked);
    return value === undefined ? about.lookUp(asked) : { value };
  };
}

/**
 * Returns the job's environment name as in CI_ENVIRONMENT_NAME: a text, or a mapping with a `name`, for any
 * `action`. Values that only a running pipeline has (a merge request's number) stay as written.
 */
function environmentOf(job: PipelineJob, entry: YamlMap, predefined: Variables): string | undefined {
  const written = isMap(entry.environment) ? entry.environment.name : entry.environment;
  if (typeof written !== 'string' || written === '') return undefined;
  const known = { ...predefined, CI_JOB_NAME: job.name, CI_JOB_STAGE: job.stage, ...job.variables };
  return expandKnown(written, known, new Set(job.rawVariables));
}
