import type { DescMessage } from '@bufbuild/protobuf';
import { Pass } from './pass.ts';
import { explainingPlan } from './plan.ts';
import { ReadingBudget } from './reading-budget.ts';

interface Explanation {
  /** Fields without a name in the schema, see {@link Pass.unknown}. */
  readonly unknown: readonly string[];
  /** Fields that arrive in another form than the schema says, see {@link Pass.contradicted}. */
  readonly contradicted: readonly string[];
  /** Bytes of known fields, tags included, and of all. */
  readonly knownBytes: number;
  readonly totalBytes: number;
}

/**
 * Which bytes of a message the schema knows, which it does not, and which contradict it, in all parts of it and not only in
 * those that are read. Shows nothing of what is inside.
 *
 * @throws when the bytes are no protobuf message at all, or more than a question may hold.
 */
export function explain(desc: DescMessage, bytes: Uint8Array): Explanation {
  const pass = new Pass(bytes, new ReadingBudget());
  pass.read(explainingPlan(desc), {});
  return {
    unknown: pass.unknown,
    contradicted: pass.contradicted,
    knownBytes: bytes.length - pass.unknownBytes,
    totalBytes: bytes.length,
  };
}
