import type { DescMessage } from '@bufbuild/protobuf';
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
      /** `schema`: what no job can bring about, so the schema is of another version. `job`: too long, too many, too large. */
      readonly blame: 'schema' | 'job';
      /** The project, where at least that could be read. */
      readonly projectId?: number;
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
  const projectId = projectIdReader(schema.question);

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
      // Where the schema is of another version, what stands in the project's place is anything.
      ...(pass.contradicted.length === 0 && projectId(question)),
    });
    // Also of one that is too large the pass finds the project, and within its bounds it costs no more than any other.
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

/** From typed fields only, also of a question that is read in part. */
function projectIdReader(desc: DescMessage): (question: MessageDraft) => { readonly projectId?: number } {
  const alias = ALIASES.find(({ field }) => field === 'projectId');
  const sources = alias === undefined ? [] : aliasSources(desc, alias);
  return (question) => {
    const projectId = readTyped({ sources }, question, []);
    return typeof projectId === 'number' ? { projectId } : {};
  };
}

/** A tag's numbers are whatever somebody sent; a text's own bytes are never in the message. */
function problemOf(error: unknown): string {
  if (error instanceof TypeError) return 'a variable is not valid UTF-8';
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith('illegal tag') ? 'an illegal tag' : message;
}
