import { type Command, EXIT, type ExitCode, type TerminalIo } from './command.ts';
import { type FlagTable, JSON_FLAG, type Parsed, parseInput, type WordTable } from './flags.ts';
import { wrapped } from './table.ts';

/** A command as a row: what it takes, an example, and what it does. Parser, help and completion are made from it. */
export interface CommandRow<Flags extends FlagTable, Words extends WordTable> {
  /** Words after `tollgate`. Its summary stands in `commands.ts`. */
  readonly name: string;
  /** Description in the help. Lines of a paragraph are joined; those that are indented stay. */
  readonly about: string;
  readonly words?: Words;
  /** The words in error messages: `a group and an amount such as +200`. @default the usage line's words */
  readonly expects?: string;
  readonly flags?: Flags;
  readonly json?: string;
  /** Whole lines, `tollgate …`; a test parses each. */
  readonly examples: readonly [string, ...string[]];
  readonly exits?: Partial<Readonly<Record<ExitCode, string>>>;
  readonly run: (input: Parsed<Flags, Words>, io: TerminalIo) => Promise<ExitCode>;
}

const EXITS: Partial<Readonly<Record<ExitCode, string>>> = {
  [EXIT.ok]: 'done',
  [EXIT.failed]: 'the table or the console does not answer',
  [EXIT.invalid]: 'wrong usage',
};
const COLUMNS = 110;
const LABEL_COLUMNS = 23;

export function command<const Flags extends FlagTable, const Words extends WordTable>(
  row: CommandRow<Flags, Words>,
): Command {
  const { name, examples, flags = {} as Flags, words = {} as Words } = row;
  const shown = Object.values(words).map((word) => word.shown);
  const expects = row.expects ?? (shown.join(' ') || 'no words');
  const read = (args: readonly string[]): Parsed<Flags, Words> => parseInput(args, flags, words, expects);
  return {
    name,
    help: helpOf(row),
    flags,
    examples,
    parse: read,
    run: async (args, io) => row.run(read(args), io),
  };
}

export function print(
  io: Pick<TerminalIo, 'out'>,
  { json }: { readonly json: boolean },
  value: unknown,
  shown: () => string,
): ExitCode {
  io.out(json ? `${JSON.stringify(value)}\n` : shown());
  return EXIT.ok;
}

export function flagLines(flags: FlagTable): string {
  return Object.entries(flags)
    .map(([name, { takes, help }]) => helpLine(`--${name}${takes === '' ? '' : ` ${takes}`}`, help))
    .join('\n');
}

function helpOf<Flags extends FlagTable, Words extends WordTable>(row: CommandRow<Flags, Words>): string {
  const { name, about, examples } = row;
  const [flags, words]: [FlagTable, WordTable] = [row.flags ?? {}, row.words ?? {}];
  const needed = Object.entries(flags).flatMap(([flag, { takes, isRequired }]) =>
    isRequired ? [`--${flag} ${takes}`] : [],
  );
  const shown = Object.values(words).map((word) => word.shown);
  const rows = [
    ...Object.values(words).map((word) => helpLine(word.shown.replace(/^\[(.*)\]$/, '$1'), word.help)),
    flagLines({ ...flags, json: { ...JSON_FLAG.json, help: row.json ?? JSON_FLAG.json.help } }),
  ];
  const exits = Object.entries({ ...EXITS, ...row.exits }).map(([code, means]) => `${code} ${means}`);
  return [
    ['tollgate', name, ...shown, ...needed, '[flags]'].join(' '),
    paragraphs(about),
    rows.join('\n'),
    ['Examples', ...examples.map((example) => `  ${example}`)].join('\n'),
    wrapped(`Exit codes: ${exits.join(', ')}`, COLUMNS),
  ].join('\n\n');
}

function helpLine(label: string, help: string): string {
  const lines = wrapped(help, COLUMNS - LABEL_COLUMNS).split('\n');
  const first = `  ${label}`.padEnd(LABEL_COLUMNS - 2);
  return `${first}  ${lines.join(`\n${' '.repeat(LABEL_COLUMNS)}`)}`;
}

const paragraphs = (text: string): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .map((each) => (/^ {2}/m.test(each) ? each : wrapped(each.replaceAll('\n', ' '), COLUMNS)))
    .join('\n\n');
