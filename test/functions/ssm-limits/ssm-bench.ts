/** Parameter Store, marks and limits in memory, with a clock of their own. */
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import { MemoryParameters } from '../../../functions/ssm-limits/memory-parameters.ts';
import type { SsmLimitsErrorCode } from '../../../functions/ssm-limits/ssm-limits-error.ts';
import { type SsmSyncDeps, type SsmSyncReport, syncLimits } from '../../../functions/ssm-limits/sync.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import { aPolicy } from '../../policies/documents.ts';
import { type MarksOperation, memoryMarks } from '../../support/tables/memory-marks.ts';
import { DeskInMemory } from './desk-in-memory.ts';

export const PATH = '/tollgate/test/limits';
export const ANNA = 'arn:aws:iam::111122223333:user/anna';
export const BEN = 'arn:aws:sts::111122223333:assumed-role/Finance/ben';
export const nameOf = (group: number | string): string => `${PATH}/${group}`;
export const pathOf = (group: number): string => `acme/team-${group}`;

export class SsmBench {
  readonly clock = new TestClock();
  /** Asked once per call; the call then fails so. */
  parametersFault: (call: 'page' | 'editorOf') => SsmLimitsErrorCode | undefined = () => undefined;
  marksFault: (operation: MarksOperation) => 'lost-before' | 'lost-after' | undefined = () => undefined;
  readonly parameters = new MemoryParameters((call) => this.parametersFault(call));
  readonly marks = memoryMarks((operation) => this.marksFault(operation));
  readonly desk: DeskInMemory;
  readonly #groups: number;

  constructor(document: LimitsDocument = {}, groups = 30) {
    this.desk = new DeskInMemory(document, aPolicy(), () => this.clock.nowMs());
    this.#groups = groups;
  }

  /** Writes a parameter with these limits, or with this text. */
  put(group: number, limits: readonly object[] | string, over: { arn?: string; type?: string } = {}): void {
    this.clock.pass(1_000);
    const value = typeof limits === 'string' ? limits : JSON.stringify({ path: pathOf(group), limits });
    const { arn = ANNA, type = 'String' } = over;
    this.parameters.put(nameOf(group), value, { arn, type, atMs: this.clock.nowMs() });
  }

  delete(group: number): void {
    this.clock.pass(1_000);
    this.parameters.delete(nameOf(group));
  }

  sync(over: Partial<SsmSyncDeps> = {}): Promise<SsmSyncReport> {
    this.clock.pass(1_000);
    const groups = Array.from({ length: this.#groups }, (_, index) => ({
      id: index + 1,
      path: pathOf(index + 1),
      personal: false,
    }));
    return syncLimits({
      path: PATH,
      parameters: this.parameters,
      marks: this.marks,
      desk: this.desk,
      packed: this.desk.inForce,
      policy: aPolicy(),
      directory: async () => directoryOf(groups),
      clock: this.clock,
      random: () => 0.5,
      ...over,
    });
  }
}

/** Time passes when somebody sleeps, and when a test says so. */
export class TestClock {
  #nowMs = Date.parse('2026-11-21T08:00:00Z');
  nowMs = (): number => this.#nowMs;
  monotonicMs = (): number => this.#nowMs;
  sleep = async (ms: number): Promise<void> => {
    this.#nowMs += ms;
  };
  pass(ms: number): void {
    this.#nowMs += ms;
  }
}

export const money = (amount: number | string, over: object = {}) => ({
  money: amount,
  per: 'month',
  ...over,
});
