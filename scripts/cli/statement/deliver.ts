import { resolve } from 'node:path';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { choice, text } from '../../terminal/define.ts';
import { type Screen, screenOf } from '../../terminal/table.ts';
import { writeUserFile } from '../../terminal/user-file.ts';

type Formats<Result> = Readonly<Record<string, (result: Result, screen: Screen) => string>>;

export const deliveryFlags = (formats: Formats<never>) => ({
  format: {
    ...choice('<format>', '', Object.keys(formats)),
    help: `${Object.keys(formats).join(', ')} (default: terminal)`,
  },
  out: text('<file>', 'writes it there'),
});

/** Reads a result and writes it in the format of the flags. A file gets no colours, and lines of any width. */
export async function deliverAs<Result>(
  formats: Formats<Result>,
  { format, out, json }: Readonly<Record<'format' | 'out', string | undefined>> & { readonly json: boolean },
  io: TerminalIo,
  read: () => Promise<Result>,
): Promise<ExitCode> {
  if (json && format !== undefined)
    throw new UsageError(`--format "${format}": expected it without --json, which is a format of its own`);
  const print = json ? undefined : formats[format ?? 'terminal'];
  const result = await read();
  const screen = screenOf(out === undefined ? io : { colours: false, columns: Number.POSITIVE_INFINITY });
  deliver(print === undefined ? `${JSON.stringify(result)}\n` : print(result, screen), out, io);
  return EXIT.ok;
}

export function deliver(written: string, out: string | undefined, io: TerminalIo): void {
  if (out === undefined) io.out(written);
  else {
    const file = resolve(io.cwd, out);
    writeUserFile(file, written, `--out "${out}"`);
    io.err(`${file} written\n`);
  }
}
