import { resolve } from 'node:path';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readChoice, text } from '../../terminal/define.ts';
import { type Paint, paintWhen } from '../../terminal/table.ts';
import { writeUserFile } from '../../terminal/user-file.ts';

export const FORMAT_FLAG = (formats: readonly string[]) =>
  text('<format>', `${formats.join(', ')} (default: terminal)`);
export const OUT_FLAG = text('<file>', 'writes it there');

export function readFormat<Format extends string>(
  { format, json }: { readonly format?: string | undefined; readonly json: boolean },
  formats: readonly ['terminal', ...Format[]],
): 'terminal' | Format | 'json' {
  if (format === undefined) return json ? 'json' : 'terminal';
  if (json)
    throw new UsageError(`--format "${format}": expected it without --json, which is a format of its own`);
  return readChoice<'terminal' | Format>('format', format, formats);
}

export const terminalOf = (
  out: string | undefined,
  { colours, columns }: Pick<TerminalIo, 'colours' | 'columns'>,
): readonly [paint: Paint, columns: number] =>
  out === undefined ? [paintWhen(colours), columns] : [paintWhen(false), Number.POSITIVE_INFINITY];

export function deliver(written: string, out: string | undefined, io: TerminalIo): void {
  if (out === undefined) io.out(written);
  else {
    const file = resolve(io.cwd, out);
    writeUserFile(file, written, `--out "${out}"`);
    io.err(`${file} written\n`);
  }
}
