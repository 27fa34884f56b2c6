/** A month of a group as it was closed, its text and its hash. Pure. */
import { createHash } from 'node:crypto';

/** Amounts are millionths of the currency, instants Unix ms. */
export interface ClosedStatement {
  /** 1, 2, 3 … of the instance; none is left out. */
  readonly number: number;
  /** `group/101` or `instance`. */
  readonly subject: string;
  /** Its path on that day. */
  readonly group: string;
  /** `2026-10`; `2026-10@06` begins on the 6th. */
  readonly month: string;
  /** IANA zone of the deployment's accounting, in which the month and its days begin and end. */
  readonly zone: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly closedAtMs: number;
  /** The GitLab, a host. */
  readonly instance: string;
  readonly currency: string;
  /** Versions of the price list that were in force in the month. */
  readonly priceVersions: readonly string[];
  /** Zone of the days where an older version took the month from the zone of a limit. */
  readonly usageZone?: string;
  readonly lines: readonly ClosedLine[];
  /** Late changes of earlier months. */
  readonly adjustments: readonly ClosedAdjustment[];
  readonly totals: ClosedTotals;
  /** The hash of the group's month before; empty: this is its first. */
  readonly previousSha256: string;
}

interface ClosedLine {
  readonly day: string;
  readonly jobs: number;
  readonly seconds: number;
  readonly micros: number;
}

export interface ClosedAdjustment {
  /** Which month it is about, and the number of the statement that did not have it. */
  readonly month: string;
  readonly number: number;
  /** Jobs that are charged beyond those of the closed statement, and corrections of jobs that were on it. */
  readonly jobs: number;
  readonly corrections: number;
  readonly seconds: number;
  readonly micros: number;
}

interface ClosedTotals {
  readonly jobs: number;
  readonly corrections: number;
  readonly seconds: number;
  readonly micros: number;
  readonly adjustmentMicros: number;
  /** The sum of both: what is to be paid. */
  readonly dueMicros: number;
}

/** As it is kept. */
export interface SealedStatement {
  readonly statement: ClosedStatement;
  /** JSON without spaces, names in alphabetical order: what is hashed. */
  readonly text: string;
  /** The hash of `text` as UTF-8, hexadecimal. */
  readonly sha256: string;
}

export function sealed(statement: ClosedStatement): SealedStatement {
  return { statement, ...sealedText(statement) };
}

/** JSON without spaces, names in alphabetical order, and its hash. */
export function sealedText(value: object): { readonly text: string; readonly sha256: string } {
  const text = JSON.stringify(value, inOrder);
  return { text, sha256: textSha256(text) };
}

/** Takes the text as UTF-8; hexadecimal. */
export const textSha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

interface ChainBreak {
  readonly month: string;
  readonly number: number;
  /** `text`: the text is not the one that was hashed. `link`: it does not name the month before, or that one is gone. */
  readonly cause: 'text' | 'link';
}

/** Returns the first statement of a chain that was changed. @param chain - all statements, by month */
export function chainBreak(chain: readonly SealedStatement[]): ChainBreak | undefined {
  let previousSha256 = '';
  for (const { statement, text, sha256 } of chain) {
    const { month, number } = statement;
    if (textSha256(text) !== sha256) return { month, number, cause: 'text' };
    if (statement.previousSha256 !== previousSha256) return { month, number, cause: 'link' };
    previousSha256 = sha256;
  }
  return undefined;
}
