import { createHash } from 'node:crypto';
import type { Directory } from '../../policies/directory.ts';
import { parseDirectory } from '../../policies/document/parse-directory.ts';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import type { DocumentProblem, ParseResult } from '../../policies/document/reading.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { Policy } from '../../policies/policy.ts';
import { DocumentError } from '../terminal/command.ts';
import { readYaml, type YamlDocument } from './yaml-document.ts';

/** A document that was understood, with its text, so that remarks about the model can name the line. */
export interface LocatedDocument<Model> {
  readonly model: Model;
  readonly document: YamlDocument;
}

// Each throws {DocumentError}, listing every problem as `file:line:col path: message`.

export const readPolicy = (file: string): Policy => policyIn(readYaml(file)).model;

export const policyIn = (document: YamlDocument): LocatedDocument<Policy> =>
  compiled(document, (value) => parsePolicy(value, contentHash(value)));

export const readLimits = (file: string, policy: Policy, directory?: Directory): LimitSet =>
  limitsIn(readYaml(file), policy, directory).model;

/** @param directory - lets the check of counters per job know which groups are above which. */
export const limitsIn = (
  document: YamlDocument,
  policy: Policy,
  directory?: Directory,
): LocatedDocument<LimitSet> =>
  compiled(document, (value) => parseLimits(value, contentHash(value), policy, directory));

export const readDirectory = (file: string): Directory => compiled(readYaml(file), parseDirectory).model;

function compiled<Model>(
  document: YamlDocument,
  parse: (value: unknown) => ParseResult<Model, DocumentProblem>,
): LocatedDocument<Model> {
  const parsed = parse(document.value);
  if (!parsed.ok) throw new DocumentError(parsed.problems.map(document.locate));
  return { model: parsed.value, document };
}

const HASH_CHARACTERS = 12;

/** A short name for what a document says: comments, order of keys and layout do not change it. */
const contentHash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, HASH_CHARACTERS);

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
