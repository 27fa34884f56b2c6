import type { DescMessage } from '@bufbuild/protobuf';
import { type Directory, pathKey } from '../../policies/directory.ts';
import { keepLatest } from '../../policies/keep-latest.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { type MessageDraft, Pass, ReadingBudget } from '../wire/pass.ts';
import { readingPlan, type WantedField } from '../wire/plan.ts';
import type { WireSchema } from '../wire/schema.ts';
import { aliasSources } from './alias-sources.ts';
import { ALIASES } from './aliases.ts';
import { compileTranslator, readTyped, type TranslatorOptions } from './translator.ts';
import { findVariables } from './variables.ts';

export type RequestReading = { readonly unknown: readonly string[] } & (
  | { readonly ok: true; readonly request: AdmissionRequest; readonly suspicious: readonly string[] }
  | {
      readonly ok: false;
      readonly cause: 'unreadable' | 'oversized';
      /** The problem, without a value from the request. There are few distinct texts. */
      readonly problem: string;
      /** `schema`: no job can cause it, so the schema is of another version. `job`: too many or too large. */
      readonly blame: 'schema' | 'job';
      readonly ids?: AdmissionRequest;
    }
);

type Blame = Extract<RequestReading, { readonly ok: false }>['blame'];

export type ReadRequest = (bytes: Uint8Array) => RequestReading;

/**
 * Compiles a function that reads the router's bytes into an `AdmissionRequest`, in one pass that decodes only the fields it needs. It never
 * throws. Malformed bytes, fields that contradict the schema, texts that are not UTF-8 and oversized requests are results.
 */
export function compileReader(
  schema: Pick<WireSchema, 'request' | 'source'>,
  options: TranslatorOptions & { readonly newBudget?: () => ReadingBudget },
): ReadRequest {
  const { newBudget = () => new ReadingBudget() } = options;
  const translate = compileTranslator(schema.request, options);
  const plan = readingPlan(schema.request, wantedOf(schema.request));
  const idsOf = idsReader(schema.request);

  return (bytes) => {
    const budget = newBudget();
    const message: MessageDraft = {};
    const pass = new Pass(bytes, budget);
    const unread = (cause: 'unreadable' | 'oversized', problem: string, blame: Blame): RequestReading => ({
      ok: false,
      cause,
      problem,
      blame,
      unknown: pass.unknown.toSorted(),
      // Under a schema of another version an id may be any other value.
      ...(pass.contradicted.length === 0 && idsOf(message)),
    });
    // The pass reads ids from an oversized request too. Its bounds limit the cost.
    const large = bytes.length > budget.bounds.bytes;
    try {
      pass.read(plan, message);
      if (!large) return translated();
    } catch (error) {
      if (!large && budget.spent === undefined) return unread('unreadable', problemOf(error), 'schema');
    }
    return unread('oversized', budget.spent ?? `more than ${budget.bounds.bytes} bytes`, 'job');

    function translated(): RequestReading {
      const [contradiction] = pass.contradicted.toSorted();
      if (contradiction !== undefined) {
        const problem = `${contradiction}; the schema (${schema.source}) is of another version`;
        return unread('unreadable', problem, 'schema');
      }
      if (pass.invalidText !== undefined)
        return unread('unreadable', `${pass.invalidText} is not valid UTF-8`, 'schema');
      const translation = translate(message);
      return translation.ok
        ? { ...translation, unknown: pass.unknown.toSorted() }
        : unread('unreadable', translation.problem, translation.blame);
    }
  };
}

function wantedOf(desc: DescMessage): readonly WantedField[] {
  const variables = findVariables(desc);
  return [
    ...ALIASES.flatMap((alias) => aliasSources(desc, alias).map(({ wanted }) => wanted)),
    ...(variables === undefined ? [] : [variables.wanted]),
  ];
}

/** Reads ids from typed fields, even of a request that was read in part. Returns none without a job id. */
function idsReader(desc: DescMessage): (message: MessageDraft) => { readonly ids?: AdmissionRequest } {
  const fields = ALIASES.filter(({ kind }) => kind === 'id').map((alias) => ({
    field: alias.field,
    sources: aliasSources(desc, alias),
  }));
  return (message) => {
    const ids = Object.fromEntries(
      fields.flatMap(({ field, sources }) => {
        const id = readTyped({ sources }, message, []);
        return typeof id === 'number' ? [[field, id]] : [];
      }),
    );
    return 'jobId' in ids ? { ids: ids as unknown as AdmissionRequest } : {};
  };
}

/** Removes the numbers of an illegal tag, which come from the sender. Errors never quote a text. */
function problemOf(error: unknown): string {
  if (error instanceof TypeError) return 'a variable is not valid UTF-8';
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith('illegal tag') ? 'an illegal tag' : message;
}

// A schema of another version may decode a request into wrong fields. Values that are impossible for any job show it. Two
// swapped texts, e.g. image and job name, do not.

const JOBS_REMEMBERED = 1_000;
/** `group/project`: no space, no empty part. */
const PROJECT_PATH = /^[^\s/]+(?:\/[^\s/]+)+$/;

type Plausibility =
  | 'plausible'
  | 'impossible'
  /** It contradicts the directory, which is some minutes old. Authors rename projects, so this is no evidence. */
  | 'against_directory';

export type JudgePlausibility = (request: AdmissionRequest) => Plausibility;

export function plausibilityJudge(current: () => Directory | undefined): JudgePlausibility {
  const ownerByJob = new Map<number, string>();
  return (request) => {
    if (!isPossible(request) || isAnotherJob(request, ownerByJob)) return 'impossible';
    const directory = current();
    return directory !== undefined && contradicts(directory, request) ? 'against_directory' : 'plausible';
  };
}

const isPossible = ({ projectPath }: AdmissionRequest): boolean =>
  projectPath === undefined || PROJECT_PATH.test(projectPath);

/** A job never changes its pipeline or project. The oldest jobs are forgotten. */
function isAnotherJob(
  { jobId, pipelineId, projectId }: AdmissionRequest,
  ownerByJob: Map<number, string>,
): boolean {
  const owner = `${projectId} ${pipelineId}`;
  const known = ownerByJob.get(jobId);
  if (known !== undefined) return known !== owner;
  keepLatest(ownerByJob, jobId, owner, JOBS_REMEMBERED);
  return false;
}

function contradicts(directory: Directory, { projectId, projectPath }: AdmissionRequest): boolean {
  if (projectId === undefined || projectPath === undefined) return false;
  const byPath = directory.projectByPath.get(pathKey(projectPath));
  return byPath !== undefined && byPath.id !== projectId && directory.projectById.has(projectId);
}
