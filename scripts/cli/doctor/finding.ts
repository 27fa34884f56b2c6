/** One thing the doctor looked at. `note`: worth knowing, nothing to mend; `skipped`: could not be looked at. */
export interface DoctorFinding {
  readonly check: string;
  readonly outcome: 'ok' | 'problem' | 'note' | 'skipped';
  readonly detail: string;
  /** The remedy. */
  readonly remedy?: string;
}

const MARK = { ok: '✓', problem: '✗', note: '•', skipped: '–' } as const;

/** `✓ token      one line, read from ./token`, the remedy below. */
export function formatFinding({ check, outcome, detail, remedy }: DoctorFinding): string {
  const head = `${MARK[outcome]} ${check.padEnd(CHECK_WIDTH)} ${detail}`;
  return remedy === undefined ? head : `${head}\n${' '.repeat(CHECK_WIDTH + 3)}→ ${remedy}`;
}

const CHECK_WIDTH = 13;

export const ok = (check: string, detail: string): DoctorFinding => ({ check, outcome: 'ok', detail });
export const note = (check: string, detail: string, remedy?: string): DoctorFinding => ({
  check,
  outcome: 'note',
  detail,
  ...(remedy !== undefined && { remedy }),
});
export const problem = (check: string, detail: string, remedy?: string): DoctorFinding => ({
  check,
  outcome: 'problem',
  detail,
  ...(remedy !== undefined && { remedy }),
});
export const skipped = (check: string, detail: string): DoctorFinding => ({
  check,
  outcome: 'skipped',
  detail,
});
