/**
 * Whether the schema fits the router, as a state and pure transitions. A rejection fails a job for good, and a schema of
 * another version reads one field as another: only under a proven schema is a job rejected.
 */

export type SchemaState =
  /** Too few questions were explained by it yet. */
  | 'unproven'
  | 'proven'
  /** Most of the recent questions contradict it, or the router refused an admission: it speaks another version. */
  | 'suspect'
  /** The guesses of this repository, at a router that is not the one of this repository: never proven. */
  | 'placeholder';

/**
 * What one exchange says about the schema. Only forms and ids count, which GitLab's own code writes: nothing that a job's
 * author can write is evidence, or any author could switch rejections off.
 */
export type Evidence =
  /** Read, plausible, and the router took the answer. Absent project: GitLab sent none. */
  | { readonly kind: 'explained'; readonly jobId: number; readonly project: string | undefined }
  /** A field of another form, an id that is none, a job in two pipelines. */
  | { readonly kind: 'contradicted' }
  /** The router refused the form of `admitted`, or of the shortest rejection. */
  | { readonly kind: 'refused' };

interface ProofState {
  readonly standing: SchemaState;
  /** Different jobs explained since the last contradiction, up to {@link JOBS_MIN_ALONE}. */
  readonly jobs: ReadonlySet<number>;
  /** Their projects, up to {@link PROJECTS_MIN}. */
  readonly projects: ReadonlySet<string>;
  /** The last {@link RECENT} questions, oldest first. */
  readonly recent: readonly Evidence[];
}

/** A field that moved looks right for one project by accident, for three it does not. */
export const PROJECTS_MIN = 3;
/** Enough jobs of so many projects. Each start of a relay admits up to so many that a limit would have rejected. */
export const JOBS_MIN = 6;
/** Enough where fewer projects are active, or where GitLab names none. */
export const JOBS_MIN_ALONE = 20;
/** Few enough that a company's CI is not failed for long by a router that changed. */
export const RECENT = 10;
/** More than half of the recent ones. */
export const SUSPECT_AT = 6;

const start = (standing: SchemaState): ProofState => ({
  standing,
  jobs: new Set(),
  projects: new Set(),
  recent: [],
});

/** What a relay is told of its schema before the first question. */
export type SchemaTrust = 'earned' | 'given' | 'placeholder';

export const INITIAL: Readonly<Record<SchemaTrust, ProofState>> = {
  earned: start('unproven'),
  /** For a router that certainly speaks this schema, because whoever started it gave it the same. */
  given: start('proven'),
  placeholder: start('placeholder'),
};

/** What a process may believe of its descriptors: that it was given the right ones is for no settings to say. */
export const trustIn = (schema: { readonly placeholder: boolean }, routerIsLoopback: boolean): SchemaTrust =>
  schema.placeholder && !routerIsLoopback ? 'placeholder' : 'earned';

export function noted(state: ProofState, evidence: Evidence): ProofState {
  if (state.standing === 'placeholder') return state;
  if (evidence.kind === 'refused') return start('suspect');
  if (state.standing !== 'proven') return proving(state, evidence);
  const recent = [...state.recent, evidence].slice(-RECENT);
  const contradicted = recent.filter(({ kind }) => kind === 'contradicted').length;
  return contradicted >= SUSPECT_AT ? start('suspect') : { ...state, recent };
}

function proving(state: ProofState, evidence: Evidence): ProofState {
  if (evidence.kind !== 'explained') return start(state.standing);
  const jobs = new Set([...state.jobs, evidence.jobId]);
  const projects =
    evidence.project === undefined || state.projects.size >= PROJECTS_MIN
      ? state.projects
      : new Set([...state.projects, evidence.project]);
  const proven = jobs.size >= (projects.size >= PROJECTS_MIN ? JOBS_MIN : JOBS_MIN_ALONE);
  return proven ? start('proven') : { ...state, jobs, projects };
}

/** The state with whoever wants to hear of its changes. */
export interface SchemaProof {
  note(evidence: Evidence): void;
  readonly standing: SchemaState;
}

export function createSchemaProof(trust: SchemaTrust, changed: (standing: SchemaState) => void): SchemaProof {
  let state = INITIAL[trust];
  return {
    note: (evidence) => {
      const before = state.standing;
      state = noted(state, evidence);
      if (state.standing !== before) changed(state.standing);
    },
    get standing() {
      return state.standing;
    },
  };
}
