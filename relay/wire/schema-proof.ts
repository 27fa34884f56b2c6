/**
 * Whether the schema fits the router, as a state and pure transitions. A rejection fails a job for good, and a schema of
 * another version reads one field as another: only under a proven schema is a job rejected.
 */

export type SchemaState =
  /** Too few questions were explained by it yet. */
  | 'unproven'
  | 'proven'
  /** Most of the recent questions contradict it, or an answer was refused: the router speaks another version. */
  | 'suspect'
  /** The guesses of this repository, at a router that is not the one of this repository: never proven. */
  | 'placeholder';

/** What one exchange says about the schema. */
export type Evidence =
  /** Read, and nothing in it is implausible. Absent project: GitLab sent none. */
  | { readonly kind: 'explained'; readonly jobId: number; readonly project: string | undefined }
  /** The schema's doing: users decide no field's form and no id. */
  | { readonly kind: 'contradicted' }
  /** The job's doing, as far as one question tells, e.g. a text that is too long; the schema's if many projects do it. */
  | { readonly kind: 'broken'; readonly project: string }
  /** The router refused the form of our answer: the arms are not what the descriptors say, and nothing proves them again. */
  | { readonly kind: 'answer_refused' };

interface ProofState {
  readonly standing: SchemaState;
  /** Different jobs explained since the last contradiction, up to {@link JOBS_MIN_ALONE}. */
  readonly jobs: ReadonlySet<number>;
  /** Their projects, up to {@link PROJECTS_MIN}. */
  readonly projects: ReadonlySet<string>;
  /** The last {@link RECENT} questions, oldest first. */
  readonly recent: readonly Evidence[];
  /** For the rest of this process. */
  readonly disproved?: true;
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
  if (state.disproved) return state;
  if (evidence.kind === 'answer_refused' && state.standing !== 'placeholder')
    return { ...start('suspect'), disproved: true };
  switch (state.standing) {
    case 'placeholder':
      return state;
    case 'proven': {
      const recent = [...state.recent, evidence].slice(-RECENT);
      return isContradicted(recent) ? start('suspect') : { ...state, recent };
    }
    case 'unproven':
    case 'suspect':
      return proving(state, evidence);
  }
}

/** Most of the recent questions, and no single project could have made them so. */
function isContradicted(recent: readonly Evidence[]): boolean {
  const contradicted = recent.filter(({ kind }) => kind === 'contradicted').length;
  if (contradicted >= SUSPECT_AT) return true;
  const broken = recent.flatMap((each) => (each.kind === 'broken' ? [each.project] : []));
  return contradicted + broken.length >= SUSPECT_AT && new Set(broken).size >= PROJECTS_MIN;
}

function proving(state: ProofState, evidence: Evidence): ProofState {
  switch (evidence.kind) {
    case 'broken':
    case 'answer_refused':
      return state;
    case 'contradicted':
      return start(state.standing);
    case 'explained': {
      const jobs = new Set([...state.jobs, evidence.jobId]);
      const projects =
        evidence.project === undefined || state.projects.size >= PROJECTS_MIN
          ? state.projects
          : new Set([...state.projects, evidence.project]);
      const proven = jobs.size >= (projects.size >= PROJECTS_MIN ? JOBS_MIN : JOBS_MIN_ALONE);
      return proven ? start('proven') : { ...state, jobs, projects };
    }
  }
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
