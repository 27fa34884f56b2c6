import { readWrittenDay } from '../../../policies/document/written.ts';
import { UsageError } from '../../terminal/command.ts';

/** A day of a flag, as people write it, in the text of limits.yaml. @throws {UsageError} where it could be two days. */
export function readDayFlag(flag: string, text: string): string {
  const read = readWrittenDay(text);
  if (read.ok) return read.text;
  throw new UsageError(`--${flag}: ${read.message}`);
}
