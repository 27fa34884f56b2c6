import type { Message } from '../../functions/core/notify/message.ts';
import type { AnsweredEvent } from './decision-line.ts';
import type { Figures } from './figures.ts';
import type { ExhaustedLimit } from './running-out.ts';
import type { Summary } from './summary.ts';

/** What the run tells whoever watches. */
export interface Screen {
  /** How often it wants figures. */
  readonly figuresEveryMs: number;
  /** The days of a made-up past that are written; without numbers they all are. Before `started`. */
  loading(done?: number, total?: number): void;
  /** What was started, once. */
  started(facts: Readonly<Record<string, string>>): void;
  answered(answered: AnsweredEvent, count: number, total: number | undefined): void;
  /** A limit rejected for the first time. */
  ranOut(ranOut: ExhaustedLimit): void;
  figures(figures: Figures): void;
  /** Something that is not a decision and worth a line, e.g. that the router cannot be reached. */
  trouble(text: string): void;
  finished(summary: Summary): void;
  /** A message to an owner; on this machine it goes nowhere else. */
  mailed(message: Message): void;
  /** The jobs are through, and the console stays. */
  stays(url: string): void;
  /** The jobs are through, and the console was there only while they ran. */
  closed(): void;
}
