import { actingUser } from '../../../answers/reading/context.ts';
import {
  baseOfFile,
  type CsvDialect,
  type CsvProblem,
  exportedLimits,
  type LimitEdit,
  PLAIN_CSV,
  readRows,
  type TotalChange,
  totalChanges,
  understoodText,
} from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { importFile, type StaleOutcome, saysWhatIsInForce, staleImport } from '../../import-file.ts';
import type { PagesDeps } from '../pages-deps.ts';
import type { Values } from '../parts/form-field.tsx';

/** As spreadsheets of some countries write it. */
const SEMICOLON_CSV: CsvDialect = { delimiter: ';', decimal: ',' };
export const dialectOf = (text: string | undefined): CsvDialect =>
  text === 'semicolon' ? SEMICOLON_CSV : PLAIN_CSV;

export interface Upload {
  readonly bytes: Uint8Array;
  /** Key of the stored file until it is applied. */
  readonly kept: string;
  readonly name: string;
}

interface Draft {
  readonly edit: LimitEdit;
  /** The set it is an edit of; undefined: the limits packed with the deployment. */
  readonly base: string | undefined;
  readonly totals: readonly TotalChange[];
  readonly unnamed: number;
  /** Interpretations of the file's format, if it varies. */
  readonly notes: readonly string[];
}

type Drafted =
  | { readonly outcome: 'drafted'; readonly draft: Draft }
  | { readonly outcome: 'refused'; readonly problems: readonly CsvProblem[] }
  /** The file comes from a set that is no longer live. */
  | { readonly outcome: 'old'; readonly stale: StaleOutcome };

/** A file's rows → what they would do to the limits that are live. */
export async function drafted(
  deps: PagesDeps,
  { bytes }: Upload,
  values: Values,
  user: User,
): Promise<Drafted> {
  const dialect = dialectOf(values.dialect);
  const read = readRows(bytes, dialect);
  if (!read.ok) return { outcome: 'refused', problems: read.problems };
  const inForce = await exportedLimits(deps.desk);
  const file = {
    ...{ rows: read.rows, dialect, prune: values.prune === 'yes' },
    from: values.from || undefined,
  };
  const base = baseOfFile(read.version, inForce.set);
  // Against another set the rows would undo what others did meanwhile, unless there is nothing left to do.
  if (base !== inForce.set && !(await saysWhatIsInForce(file, inForce, deps)))
    return { outcome: 'old', stale: await staleImport(file, base, actingUser(user), deps) };
  const imported = await importFile(file, inForce, deps);
  if (!imported.ok) return { outcome: 'refused', problems: imported.problems };
  return {
    outcome: 'drafted',
    draft: {
      edit: { kind: 'replace', document: imported.document },
      base: inForce.set,
      totals: totalChanges(inForce.limits, imported.limits, deps.clock.nowMs()),
      unnamed: imported.unnamed.length,
      notes: [...read.notes.map((note) => `file: ${note}`), ...imported.understood.map(understoodText)],
    },
  };
}
