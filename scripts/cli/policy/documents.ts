import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import {
  DocumentError,
  type LocatedDocument,
  locateLimits,
  policyIn,
  readDirectory,
} from '../../policy/read-documents.ts';
import { readYaml, type YamlDocument } from '../../policy/yaml-document.ts';
import type { RulesFiles } from '../rules-flags.ts';

export interface Documents {
  readonly policy: LocatedDocument<Policy>;
  readonly limits: LocatedDocument<LimitSet>;
  readonly directory: Directory;
}

/**
 * Reads all three documents and reports all problems together.
 *
 * @throws {DocumentError} with the problems of all documents.
 */
export function readDocuments(files: RulesFiles): Documents {
  const problems: string[] = [];
  const yaml = collect(problems, () => readYaml(files.policy));
  const policy = yaml && collect(problems, () => policyIn(yaml));
  const directory = collect(problems, () => readDirectory(files.directory));
  const priced = policy?.model ?? (yaml && pricesAlone(yaml));
  const limits = priced && collect(problems, () => locateLimits(files.limits, priced, directory));
  if (priced === undefined)
    problems.push(`${files.limits}: was not checked, since the runner classes are not known`);
  if (policy === undefined || limits === undefined || directory === undefined)
    throw new DocumentError(problems);
  return { policy, limits, directory };
}

function collect<Model>(problems: string[], read: () => Model): Model | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

/** Limits name runner classes: where only rules are wrong, they can be checked all the same. */
function pricesAlone({ value }: YamlDocument): Policy | undefined {
  if (!isRecord(value)) return undefined;
  const { currency, prices, estimate } = value;
  const parsed = parsePolicy({ currency, prices, estimate, rules: [] }, '');
  return parsed.ok ? parsed.value : undefined;
}
