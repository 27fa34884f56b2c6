import type { DescMessage } from '@bufbuild/protobuf';
import { keepLatest } from '../../policies/keep-latest.ts';
import { type Directory, pathKey } from '../../policies/place/directory.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { type MessageDraft, Pass } from '../wire/pass.ts';
import { readingPlan, type WantedField } from '../wire/plan.ts';
import { ReadingBudget } from '../wire/reading-budget.ts';
import type { WireSchema } from '../wire/schema.ts';
import { aliasSources } from './alias-sources.ts';
import { ALIASES } from './aliases.ts';
import { compileTranslator, readTyped, type TranslatorOptions } from './translator.ts';
import { findVariables } from './variables.ts';

export type QuestionResult = {
  /** Fields without a name in the schema, as {@link Pass} writes them, in order. */
  readonly unknown: readonly string[];
} & (
  | {
      readonly ok: true;
      readonly request: AdmissionRequest;
      /** Fields about which GitLab and a variable disagree: names, never values. */
      readonly suspicious: readonly string[];
    }
  | {
      readonly ok: false;
      readonly cause: 'unreadable' | 'oversized';
      /** What is wrong, without a value from the question; few distinct texts, whatever it holds. */
      readonly problem: string;
      /** `schema`: what no job can bring about, so the schema is of another version. `job`: too many, too large. */
      readonly blame: 'schema' | 'job';
      /** The ids of typed fields, where at least those could be read. */
      readonly ids?: AdmissionRequest;
    }
);

type Blame = Extract<QuestionResult, { readonly ok: false }>['blame'];

export type ReadQuestion = (bytes: Uint8Array) => QuestionResult;

interface ReaderOptions extends TranslatorOptions {
  /** What one question may take. @default what the relay gives any */
  readonly newBudget?: () => ReadingBudget;
}

/**
 * Compiles the way from a question's bytes to our request: one pass, which decodes what translation looks at and nothing
 * else. What it returns never throws: bytes that are no message, fields whose form contradicts the schema (a decoder would
 * read garbage), texts that are no UTF-8 where they are read, and more than a question may hold are problems of this
 * question alone.
 */
export function compileReader(
  schema: Pick<WireSchema, 'question' | 'source'>,
  options: ReaderOptions,
): ReadQuestion {
  const { newBudget = () => new ReadingBudget() } = options;
  const translate = compileTranslator(schema.question, options);
  const plan = readingPlan(schema.question, wantedOf(schema.question));
  const idsOf = idsReader(schema.question);

  return (bytes) => {
    const budget = newBudget();
    const question: MessageDraft = {};
    const pass = new Pass(bytes, budget);
    const unread = (cause: 'unreadable' | 'oversized', problem: string, blame: Blame): QuestionResult => ({
      ok: false,
      cause,
      problem,
      blame,
      unknown: pass.unknown.toSorted(),
      // Where the schema is of another version, what stands in the place of an id is anything.
      ...(pass.contradicted.length === 0 && idsOf(question)),
    });
    // Also of one that is too large the pass finds the ids, and within its bounds it costs no more than any other.
    const large = bytes.length > budget.bounds.bytes;
    try {
      pass.read(plan, question);
      if (!large) return translated();
    } catch (error) {
      if (!large && budget.spent === undefined) return unread('unreadable', problemOf(error), 'schema');
    }
    return unread('oversized', budget.spent ?? `more than ${budget.bounds.bytes} bytes`, 'job');

    function translated(): QuestionResult {
      const [contradiction] = pass.contradicted.toSorted();
      if (contradiction !== undefined)
        return unread(
          'unreadable',
          `${contradiction}; the schema (${schema.source}) is of another version`,
          'schema',
        );
      if (pass.invalidText !== undefined)
        return unread('unreadable', `${pass.invalidText} is not valid UTF-8`, 'schema');
      const translation = translate(question);
      return translation.ok
        ? { ...translation, unknown: pass.unknown.toSorted() }
        : unread('unreadable', translation.problem, translation.blame);
    }
  };
}

/** All that translation looks at. */
function wantedOf(desc: DescMessage): readonly WantedField[] {
  const variables = findVariables(desc);
  return [
    ...ALIASES.flatMap((alias) => aliasSources(desc, alias).map(({ wanted }) => wanted)),
    ...(variables === undefined ? [] : [variables.wanted]),
  ];
}

/** From typed fields only, also of a question that is read in part; nothing without the id of the job. */
function idsReader(desc: DescMessage): (question: MessageDraft) => { readonly ids?: AdmissionRequest } {
  const fields = ALIASES.filter(({ kind }) => kind === 'id').map((alias) => ({
    field: alias.field,
    sources: aliasSources(desc, alias),
  }));
  return (question) => {
    const ids = Object.fromEntries(
      fields.flatMap(({ field, sources }) => {
        const id = readTyped({ sources }, question, []);
        return typeof id === 'number' ? [[field, id]] : [];
      }),
    );
    return 'jobId' in ids ? { ids: ids as unknown as AdmissionRequest } : {};
  };
}

/** A tag's numbers are whatever somebody sent; a text's own bytes are never in the message. */
function problemOf(error: unknown): string {
  if (error instanceof TypeError) return 'a variable is not valid UTF-8';
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith('illegal tag') ? 'an illegal tag' : message;
}

// A question may decode and yet be read wrongly: another field stands where one is looked for. What cannot be true of any
// job tells that. Two texts that changed places, e.g. image and job name, do not: nothing tells them apart.

/** Jobs remembered: an id that is asked about again within so many is the same job's. */
export const JOBS_REMEMBERED = 1_000;
/** `group/project`: no space, no empty part. */
const PROJECT_PATH = /^[^\s/]+(?:\/[^\s/]+)+$/;

type Plausibility =
  | 'plausible'
  /** True of no job. */
  | 'impossible'
  /** Against the directory, which is some minutes old. It speaks neither for the schema nor against: authors rename. */
  | 'against_directory';

export type JudgePlausibility = (request: AdmissionRequest) => Plausibility;

/** @param current - the directory of now; undefined: none, or too old to judge by. */
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

/** A job belongs to one pipeline of one project for ever. The oldest are forgotten. */
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

/** The directory knows both, the project by its id and the path, and they are two projects. */
function contradicts(directory: Directory, { projectId, projectPath }: AdmissionRequest): boolean {
  if (projectId === undefined || projectPath === undefined) return false;
  const byPath = directory.projectByPath.get(pathKey(projectPath));
  return byPath !== undefined && byPath.id !== projectId && directory.projectById.has(projectId);
}
