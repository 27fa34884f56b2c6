/**
 * Judges if the schema fits the router, as a state with pure transitions. A rejection fails a job for good, and a schema of another
 * version reads one field as another. So jobs are rejected only under a proven schema.
 */

export type SchemaState =
  /** It has explained too few requests. */
  | 'unproven'
  | 'proven'
  /** Most recent requests contradict it, or the router refused an admission. */
  | 'suspect'
  /** The guesses of this repository, at another router than its local one. Never proven. */
  | 'placeholder';

/**
 * The evidence of one exchange. Only forms and ids count, which GitLab itself writes. If texts of authors counted, any author could
 * switch off rejections.
 */
export type Evidence =
  /** The request was plausible, and the router took the answer. Without a project GitLab sent none. */
  | { readonly kind: 'explained'; readonly jobId: number; readonly project: string | undefined }
  /** A field of another form, an impossible id, a job in two pipelines. */
  | { readonly kind: 'contradicted' }
  /** The router refused the form of `admitted`, or of the shortest rejection. */
  | { readonly kind: 'refused' };

interface ProofState {
  readonly state: SchemaState;
  /** Different jobs explained since the last contradiction, up to {@link JOBS_MIN_ALONE}. */
  readonly jobs: ReadonlySet<number>;
  readonly projects: ReadonlySet<string>;
  readonly recent: readonly Evidence[];
}

/** A moved field may look right for one project by accident, but not for three. */
export const PROJECTS_MIN = 3;
/** Enough jobs of that many projects. Each start of a relay admits up to this many jobs that a limit would reject. */
export const JOBS_MIN = 6;
/** Enough if fewer projects are active, or GitLab names none. */
export const JOBS_MIN_ALONE = 20;
/** Few, so that a changed router does not fail a company's jobs for long. */
const RECENT = 10;
export const SUSPECT_AT = 6;

const start = (state: SchemaState): ProofState => ({
  state,
  jobs: new Set(),
  projects: new Set(),
  recent: [],
});

/** Returns the state that a relay process starts with. No setting can declare the descriptors right. */
export const initialState = (
  schema: { readonly placeholder: boolean },
  routerIsLoopback: boolean,
): SchemaState => (schema.placeholder && !routerIsLoopback ? 'placeholder' : 'unproven');

function noted(state: ProofState, evidence: Evidence): ProofState {
  if (state.state === 'placeholder') return state;
  if (evidence.kind === 'refused') return start('suspect');
  if (state.state !== 'proven') return proving(state, evidence);
  const recent = [...state.recent, evidence].slice(-RECENT);
  const contradicted = recent.filter(({ kind }) => kind === 'contradicted').length;
  return contradicted >= SUSPECT_AT ? start('suspect') : { ...state, recent };
}

function proving(state: ProofState, evidence: Evidence): ProofState {
  if (evidence.kind !== 'explained') return start(state.state);
  const jobs = new Set([...state.jobs, evidence.jobId]);
  const projects =
    evidence.project === undefined || state.projects.size >= PROJECTS_MIN
      ? state.projects
      : new Set([...state.projects, evidence.project]);
  const proven = jobs.size >= (projects.size >= PROJECTS_MIN ? JOBS_MIN : JOBS_MIN_ALONE);
  return proven ? start('proven') : { ...state, jobs, projects };
}

export type SchemaProof = ReturnType<typeof createSchemaProof>;

/** @param initial - `proven` is for a local router that was started with the same schema. */
export function createSchemaProof(initial: SchemaState, changed: (state: SchemaState) => void) {
  let state = start(initial);
  return {
    note: (evidence: Evidence): void => {
      const before = state.state;
      state = noted(state, evidence);
      if (state.state !== before) changed(state.state);
    },
    get state(): SchemaState {
      return state.state;
    },
  };
}
