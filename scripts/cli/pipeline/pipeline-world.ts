import { type LoadedConfig, loadConfig } from './includes.ts';
import { formsOf, type JobForms, type JobSurroundings } from './job.ts';
import { givenValues, type KnownRun, knownPredefined, lookUpWith } from './known-run.ts';
import { refused, unreadNotes, withSubject } from './pipeline-error.ts';
import { resolveExtends, resolveReferences } from './references.ts';
import { refuseWrongJobs } from './refusals.ts';
import { possibleOutcomes } from './rule-outcomes.ts';
import type { Circumstances, RulesOutcome, World } from './rules.ts';
import { PLACEHOLDERS, rawNames, readPipelineVariables } from './variables.ts';
import { isMap } from './yaml-map.ts';

/** The files as one world has them: which includes were let in, and what the workflow's rules said. */
export type PipelineWorld = ReturnType<typeof jobsIn>;

const KEYWORDS: ReadonlySet<string> = new Set(
  'after_script before_script cache default image include services spec stages types variables workflow'.split(
    ' ',
  ),
);

export function pipelineIn(world: World, files: Omit<Circumstances, 'world' | 'unread'>): PipelineWorld {
  const about = { ...files, world, unread: unreadNotes() };
  const loaded = loadConfig(about);
  const placeOf = (name: string): string | undefined => {
    const place = loaded.places.get(name);
    return place && `${place.file}:${place.line}`;
  };
  return withSubject(placeOf, () => jobsIn(loaded, about));
}

function jobsIn(loaded: LoadedConfig, about: Circumstances) {
  const { run, unread, budget } = about;
  const missing = (entry: string, what: string): void => {
    if (loaded.notRead.length === 0) throw refused(what, entry);
    unread.note(entry, what);
  };
  const resolving = { missing, unread, budget };
  const config = resolveReferences(resolveExtends(loaded.config, resolving), resolving);
  const entries = Object.entries(config).filter(([name]) => !name.startsWith('.') && !KEYWORDS.has(name));
  refuseWrongJobs(entries, config, missing);
  const given = givenValues(run);
  const ofFile = { ...readPipelineVariables(config.variables), ...given };
  const { rules } = isMap(config.workflow) ? config.workflow : { rules: undefined };
  // The workflow's rules see the variables of the file before GitLab's own.
  const lookUp = lookUpWith(ofFile, about.lookUp);
  const { outcomes, conditions } = possibleOutcomes(rules, 'workflow', { ...about, lookUp });
  const created = outcomes.filter(({ isNever }) => !isNever);
  const isUndecided = created.length > 0 && created.length < outcomes.length;
  const ofWorkflow = oneOf(created, about.world)?.variables;
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
    ...{ about, given, hasWorkflowRules: rules !== undefined, ...predefinedIn(run) },
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
  const told = new Set(jobs.filter(({ forms }) => forms.length > 0).map(({ definedAs }) => definedAs));
  const elsewhere = unread
    .entries()
    .filter((entry) => !entry.startsWith('.') && !told.has(entry))
    .flatMap((entry) => unread.of([entry]).map((what) => `${entry}: ${what}`));
  return {
    jobs: jobs.map((job): JobForms => {
      const unreadHere = [...notRead, ...unread.of([job.definedAs, ...KEYWORDS])];
      if (unreadHere.length === 0) return job;
      return { ...job, forms: job.forms.map((form) => ({ ...form, notRead: unreadHere })) };
    }),
    bridges,
    notRead: [...notRead, ...children, ...elsewhere],
    ...rest,
  };
}

/** The workflow's rules may set this or that: each is a world of its own. */
const oneOf = (created: readonly RulesOutcome[], world: World): RulesOutcome | undefined =>
  created
    .slice(0, -1)
    .find(({ variables }) => world.holds(`workflow:rules sets ${JSON.stringify(variables)}`)) ??
  created.at(-1);

/** Variables that GitLab predefines, known for expansion, and the names of those that it does not set. */
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
