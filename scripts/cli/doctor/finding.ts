import { withoutAbsent } from '../../../policies/without-absent.ts';

/** One thing the doctor looked at. `note`: worth knowing, nothing to mend; `skipped`: could not be looked at. */
export interface DoctorFinding {
  readonly check: string;
  readonly outcome: 'ok' | 'problem' | 'note' | 'skipped';
  readonly detail: string;
  readonly remedy?: string;
}

const MARK = { ok: '✓', problem: '✗', note: '•', skipped: '–' } as const;
const CHECK_WIDTH = 13;

/** `✓ token      one line, read from ./token`, the remedy below. */
export function formatFinding({ check, outcome, detail, remedy }: DoctorFinding): string {
  const head = `${MARK[outcome]} ${check.padEnd(CHECK_WIDTH)} ${detail}`;
  return remedy === undefined ? head : `${head}\n${' '.repeat(CHECK_WIDTH + 3)}→ ${remedy}`;
}

const finding =
  (outcome: DoctorFinding['outcome']) =>
  (check: string, detail: string, remedy?: string): DoctorFinding => ({
    ...{ check, outcome, detail, ...withoutAbsent({ remedy }) },
  });
export const ok = finding('ok');
export const note = finding('note');
export const problem = finding('problem');
export const skipped = finding('skipped');
