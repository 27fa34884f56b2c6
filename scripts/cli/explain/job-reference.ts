import { type JobReference, parseJobReference } from '../../../functions/answers/job/job-reference.ts';
import { UsageError } from '../../terminal/command.ts';

/** @throws {UsageError} for what names no job. */
export function readJobReference(text: string): JobReference {
  const reference = parseJobReference(text);
  if (!reference.ok) throw new UsageError(reference.problems.join('; '));
  return reference.value;
}
