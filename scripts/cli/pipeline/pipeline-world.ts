import { type FilePlace, type LoadedConfig, loadConfig } from './includes.ts';
import type { InheritedDefaults } from './job.ts';
import { formsOf, type JobForms, type JobSurroundings } from './job-forms.ts';
import { givenValues, type KnownLookup, type KnownRun, knownPredefined } from './known-run.ts';
import { PipelineError, type UnreadNotes, unreadNotes, withPlace } from './pipeline-error.ts';
import type { ReadSource } from './pipeline-source.ts';
import { resolveExtends, resolveReferences } from './references.ts';
import { NO_PIPELINE, refuseWrongJobs } from './refusals.ts';
import type { RepositoryFiles } from './repository-files.ts';
import { possibleOutcomes } from './rule-outcomes.ts';
import type { Circumstances, ReadExpression, RulesOutcome, World } from './rules.ts';
import { PLACEHOLDERS, rawNames, readPipelineVariables, type Variables } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';
import type { ReadingNotes } from './yaml-source.ts';

/** The files as one world has them: which includes were let in, and what the workflow's rules said. */
export interface PipelineWorld {
  /** Decided by `workflow:rules`; `depends`: on undecidable conditions. */
  readonly isCreated: 'yes' | 'no' | 'depends';
  readonly workflowDependsOn: readonly string[];
  readonly jobs: readonly (JobForms & { readonly place: FilePlace | undefined })[];
  readonly bridges: readonly string[];
  readonly notRead: readonly string[];
  readonly stages: unknown;
}

interface PipelineFiles {
  readonly folder: string;
  readonly file: string;
  readonly repository: RepositoryFiles;
  readonly run: KnownRun;
  readonly lookUp: KnownLookup;
  readonly readSource: ReadSource;
  readonly expressions: ReadExpression;
  readonly notes: ReadingNotes;
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'after_script before_script cache default image include services spec stages types variables workflow'.split(
    ' ',
  ),
);

/** Keys that may still stand at the top of a file, where GitLab once looked for defaults. */
const OLD_DEFAULTS = ['image', 'services'];

export function pipelineIn(world: World, files: PipelineFiles): PipelineWorld {
  const { run, notes } = files;
  const { budget } = notes;
  const about: Circumstances = {
    run,
    lookUp: files.lookUp,
    world,
    files: files.repository,
    expressions: files.expressions,
    unread: unreadNotes(),
    budget,
  };
  const typed = { values: run.inputs ?? {}, areTyped: true };
  const loaded = loadConfig(files.folder, files.file, typed, about, notes, files.readSource);
  const placeOf = (name: string): string | undefined => {
    const place = loaded.places.get(name);
    return place && `${place.file}:${place.line}`;
  };
  return withPlace(placeOf, () => jobsIn(loaded, world, files, about));
}

function jobsIn(
  loaded: LoadedConfig,
  world: World,
  { run, notes: { problems, budget } }: PipelineFiles,
  about: Circumstances,
): PipelineWorld {
  const { unread } = about;
  const missing = (entry: string, what: string): void => {
    if (loaded.notRead.length === 0) throw new PipelineError('refused', `${what}; ${NO_PIPELINE}`, entry);
    unread.note(entry, what);
  };
  const resolving = { missing, unread, budget };
  const config = resolveReferences(resolveExtends(loaded.config, resolving), resolving);
  const entries = Object.entries(config).filter(([name]) => !name.startsWith('.') && !KEYWORDS.has(name));
  refuseWrongJobs(entries, config, missing);
  const given = givenValues(run);
  const ofFile = { ...readPipelineVariables(config.variables), ...given };
  const workflow = isMap(config.workflow) ? config.workflow : {};
  const possible = possibleOutcomes(workflow.rules, 'workflow', withVariables(about, ofFile));
  const created = possible.outcomes.filter(({ isNever }) => !isNever);
  const isCreated =
    created.length === 0 ? 'no' : created.length < possible.outcomes.length ? 'depends' : 'yes';
  const workflowDependsOn = isCreated === 'depends' ? possible.conditions : [];
  const rest = {
    isCreated,
    workflowDependsOn,
    stages: config.stages,
  } as const;
  const variables = oneOf(created, world)?.variables;
  if (variables === undefined) return { jobs: [], bridges: [], notRead: loaded.notRead, ...rest };
  const inherited = inheritedFrom(config, ofFile, variables, run);
  const around: JobSurroundings = {
    inherited,
    given,
    hasWorkflowRules: workflow.rules !== undefined,
    about,
    problems,
  };
  const jobs: PipelineWorld['jobs'][number][] = [];
  const bridges: string[] = [];
  const children: string[] = [];
  for (const [name, entry] of entries) {
    const place = loaded.places.get(name);
    if (!isMap(entry)) continue;
    if (entry.trigger !== undefined) {
      const runs = formsOf({ name, entry, place }, around).some(({ forms }) => forms.length > 0);
      const isChild = isMap(entry.trigger) && entry.trigger.include !== undefined;
      if (runs && isChild)
        children.push(`${name}: the child pipeline that it starts in this project is not read`);
      else if (runs) bridges.push(name);
    } else if (entry.script !== undefined || entry.run !== undefined)
      jobs.push(...formsOf({ name, entry, place }, around).map((each) => ({ ...each, place })));
  }
  const notRead = [...loaded.notRead, ...children, ...notesElsewhere(unread, jobs)];
  return {
    jobs: jobs.map((job) => withNotRead(job, [...loaded.notRead, ...restsOn(job, unread)])),
    bridges,
    notRead,
    ...rest,
  };
}

const restsOn = ({ definedAs }: JobForms, unread: UnreadNotes): readonly string[] =>
  unread.of([definedAs, ...KEYWORDS]);

function notesElsewhere(unread: UnreadNotes, jobs: readonly JobForms[]): readonly string[] {
  const told = new Set(jobs.filter(({ forms }) => forms.length > 0).map(({ definedAs }) => definedAs));
  return unread
    .entries()
    .filter((entry) => !entry.startsWith('.') && !told.has(entry))
    .flatMap((entry) => unread.of([entry]).map((what) => `${entry}: ${what}`));
}

const withNotRead = <T extends JobForms>(job: T, notRead: readonly string[]): T =>
  notRead.length === 0 ? job : { ...job, forms: job.forms.map((form) => ({ ...form, notRead })) };

/** The workflow's rules may set this or that: each is a world of its own. */
function oneOf(created: readonly RulesOutcome[], world: World): RulesOutcome | undefined {
  const [last] = created.slice(-1);
  return (
    created
      .slice(0, -1)
      .find(({ variables }) => world.holds(`workflow:rules sets ${JSON.stringify(variables)}`)) ?? last
  );
}

function inheritedFrom(
  config: YamlMap,
  ofFile: Variables,
  ofWorkflow: Variables,
  run: KnownRun,
): InheritedDefaults {
  const known: Record<string, string> = { ...(run.standIns ?? PLACEHOLDERS) };
  const notSet = new Set<string>();
  for (const [name, value] of Object.entries(knownPredefined(run))) {
    if (value !== null) known[name] = value;
    else {
      delete known[name];
      notSet.add(name);
    }
  }
  return {
    defaults: { ...pick(config, OLD_DEFAULTS), ...(isMap(config.default) && config.default) },
    variables: { ...ofFile, ...ofWorkflow },
    raw: new Set([...rawNames(config.variables)].filter((name) => !Object.hasOwn(ofWorkflow, name))),
    predefined: known,
    notSet,
  };
}

/** The workflow's rules see the variables of the file before GitLab's own. */
function withVariables(about: Circumstances, variables: Variables): Circumstances {
  const lookUp: KnownLookup = (name) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return value === undefined ? about.lookUp(name) : { value };
  };
  return { ...about, lookUp };
}

const pick = (config: YamlMap, keys: readonly string[]): YamlMap =>
  Object.fromEntries(keys.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]]])));
