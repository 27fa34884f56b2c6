import type { World } from './conditions.ts';
import { type LoadedConfig, loadConfig } from './includes.ts';
import { expandParallel, formsOf, type JobForms, type JobSurroundings } from './job.ts';
import { givenValues, type KnownRun, knownPredefined, lookUpWith } from './known-run.ts';
import { refused, unreadNotes, withSubject } from './pipeline-error.ts';
import { resolveExtends, resolveReferences } from './references.ts';
import { type PipelineContext, possibleOutcomes, type RulesOutcome } from './rules.ts';
import { PLACEHOLDERS, rawNames, readPipelineVariables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

/** The files as one world has them: which includes were let in, and what the workflow's rules said. */
export type PipelineWorld = ReturnType<typeof jobsIn>;

const KEYWORDS: ReadonlySet<string> = new Set(
  `after_script before_script cache default image include services spec stages types variables
   workflow`.split(/\s+/),
);

export function pipelineIn(world: World, files: Omit<PipelineContext, 'world' | 'unread'>): PipelineWorld {
  const context = { ...files, world, unread: unreadNotes() };
  const loaded = loadConfig(context);
  const placeOf = (name: string): string | undefined => {
    const place = loaded.places.get(name);
    return place && `${place.file}:${place.line}`;
  };
  return withSubject(placeOf, () => jobsIn(loaded, context));
}

function jobsIn(loaded: LoadedConfig, context: PipelineContext) {
  const { run, unread, budget } = context;
  const missing = (entry: string, what: string): void => {
    if (loaded.notRead.length === 0) throw refused(what, entry);
    unread.note(entry, what);
  };
  const options = { missing, unread, budget };
  const config = resolveReferences(resolveExtends(loaded.config, options), options);
  const entries = Object.entries(config).filter(([name]) => !name.startsWith('.') && !KEYWORDS.has(name));
  refuseWrongJobs(entries, config, missing);
  const given = givenValues(run);
  const ofFile = { ...readPipelineVariables(config.variables), ...given };
  const { rules } = isMap(config.workflow) ? config.workflow : { rules: undefined };
  // The workflow's rules see the variables of the file before GitLab's own.
  const lookUp = lookUpWith(ofFile, context.lookUp);
  const { outcomes, conditions } = possibleOutcomes(rules, 'workflow', { ...context, lookUp });
  const created = outcomes.filter(({ isNever }) => !isNever);
  const isUndecided = created.length > 0 && created.length < outcomes.length;
  const ofWorkflow = oneOf(created, context.world)?.variables;
  const decided: 'yes' | 'no' = ofWorkflow === undefined ? 'no' : 'yes';
  const rest = {
    /** Decided by `workflow:rules`; `depends`: on undecidable conditions. */
    isCreated: isUndecided ? ('depends' as const) : decided,
    workflowDependsOn: isUndecided ? conditions : [],
    stages: config.stages,
  };
  const jobs: JobForms[] = [];
  const bridges: string[] = [];
  const { notRead } = loaded;
  if (ofWorkflow === undefined) return { jobs, bridges, notRead, ...rest };
  const { image, services } = config;
  const around: JobSurroundings = {
    ...{ context, given, hasWorkflowRules: rules !== undefined, ...predefinedIn(run) },
    // Two keys may still stand at the top of a file, where GitLab once looked for defaults.
    defaults: { image, services, ...(isMap(config.default) && config.default) },
    variables: { ...ofFile, ...ofWorkflow },
    raw: new Set([...rawNames(config.variables)].filter((name) => !Object.hasOwn(ofWorkflow, name))),
  };
  const children: string[] = [];
  for (const [name, entry] of entries) {
    if (!isMap(entry)) continue;
    const { script, run: steps, trigger } = entry;
    if (script === undefined && steps === undefined && trigger === undefined) continue;
    const forms = formsOf(name, entry, loaded.places.get(name), around);
    if (trigger === undefined) jobs.push(...forms);
    else if (!forms.some((each) => each.forms.length > 0)) continue;
    else if (isMap(trigger) && trigger.include !== undefined)
      children.push(`${name}: the child pipeline that it starts in this project is not read`);
    else bridges.push(name);
  }
  const running = new Set(jobs.filter(({ forms }) => forms.length > 0).map(({ definedAs }) => definedAs));
  const unreadElsewhere = unread
    .entries()
    .filter((entry) => !entry.startsWith('.') && !running.has(entry))
    .flatMap((entry) => unread.of([entry]).map((what) => `${entry}: ${what}`));
  return {
    jobs: jobs.map((job): JobForms => {
      const unreadHere = [...notRead, ...unread.of([job.definedAs, ...KEYWORDS])];
      if (unreadHere.length === 0) return job;
      return { ...job, forms: job.forms.map((form) => ({ ...form, notRead: unreadHere })) };
    }),
    bridges,
    notRead: [...notRead, ...children, ...unreadElsewhere],
    ...rest,
  };
}

/** The workflow's rules may set this or that: each is a world of its own. */
const oneOf = (created: readonly RulesOutcome[], world: World): RulesOutcome | undefined =>
  created
    .slice(0, -1)
    .find(({ variables }) => world.holds(`workflow:rules sets ${JSON.stringify(variables)}`)) ??
  created.at(-1);

/** Variables that GitLab predefines, known for expansion, and names that it does not set. */
function predefinedIn(run: KnownRun): Pick<JobSurroundings, 'predefined' | 'notSet'> {
  const predefined: Record<string, string> = { ...(run.standIns ?? PLACEHOLDERS) };
  const notSet = new Set<string>();
  for (const [name, value] of Object.entries(knownPredefined(run))) {
    if (value !== null) predefined[name] = value;
    else {
      delete predefined[name];
      notSet.add(name);
    }
  }
  return { predefined, notSet };
}

/** Notes that an entry names something that the files do not have. @throws {PipelineError} `refused` if every file was read. */
export type Missing = (entry: string, what: string) => void;

/** Keys of a job, in every version and edition. @see https://docs.gitlab.com/ci/yaml/#job-keywords */
const JOB_KEYS: ReadonlySet<string> = new Set(
  `after_script allow_failure artifacts before_script cache coverage dast_configuration
   dependencies environment except extends hooks id_tokens identity image inherit inputs
   interruptible manual_confirmation needs only pages parallel publish release resource_group
   retry rules run script secrets services stage start_in tags timeout trigger type variables
   when`.split(/\s+/),
);

const DEFAULT_STAGES = ['build', 'test', 'deploy'];

export function stagesOf(written: unknown): readonly string[] {
  const named = Array.isArray(written) && written.length > 0 ? written.flat().map(String) : DEFAULT_STAGES;
  return ['.pre', ...named.filter((stage) => stage !== '.pre' && stage !== '.post'), '.post'];
}

/** Judges jobs as GitLab does before it looks at any rule. Says less than GitLab does, and never more. */
function refuseWrongJobs(
  jobs: readonly (readonly [name: string, entry: unknown])[],
  { stages: written, types }: YamlMap,
  missing: Missing,
): void {
  const stages = stagesOf(written);
  const names = new Set(jobs.map(([name]) => name));
  let cells: ReadonlySet<string> | undefined;
  for (const [name, entry] of jobs) {
    if (!isMap(entry) || !['script', 'run', 'trigger'].some((key) => entry[key] !== undefined)) {
      missing(name, 'has no script, run or trigger');
      continue;
    }
    const stray = Object.keys(entry).find((key) => !JOB_KEYS.has(key));
    if (stray !== undefined) throw refused(`"${stray}" is not a key of a job`, name);
    if (Array.isArray(entry.image)) {
      const list = JSON.stringify(entry.image);
      throw refused(`image is the list ${list}; expected a name or a mapping with a name`, name);
    }
    const { stage } = entry;
    if (typeof stage === 'string' && types === undefined && !stages.includes(stage))
      missing(name, `stage "${stage}" is not among the stages ${stages.join(', ')}`);
    for (const needed of [...namedJobs(entry.needs), ...namedJobs(entry.dependencies)])
      if (!names.has(needed)) {
        cells ??= cellNames(jobs);
        if (!cells.has(needed)) missing(name, `needs "${needed}", which is not a job of this pipeline`);
      }
  }
}

const namedJobs = (needs: unknown): readonly string[] =>
  [needs].flat(Number.POSITIVE_INFINITY).flatMap((each) => {
    if (typeof each === 'string') return each.includes('$[[') ? [] : [each];
    const isOther = !isMap(each) || each.optional === true || each.pipeline !== undefined;
    return isOther || each.project !== undefined || typeof each.job !== 'string' ? [] : [each.job];
  });

/** A need may name one cell of a matrix. */
const cellNames = (jobs: readonly (readonly [name: string, entry: unknown])[]): ReadonlySet<string> =>
  new Set(
    jobs.flatMap(([name, entry]) =>
      isMap(entry) ? expandParallel(name, entry.parallel, () => {}).map((cell) => cell.name) : [],
    ),
  );
