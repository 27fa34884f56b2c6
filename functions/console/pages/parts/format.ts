import { AsyncLocalStorage } from 'node:async_hooks';
import type { User } from '../../../core/signin/model.ts';

export interface Reader extends User {
  /** Requests that wait for them to decide; absent: not known, or they decide none. */
  readonly waiting?: number;
}

export interface PageFormat {
  readonly user: Reader;
  readonly currency: string;
  /** IANA zone of instants that belong to no limit. */
  readonly zone: string;
  readonly nowMs: number;
  /** Outcome of the request before this one. */
  readonly done?: string | undefined;
}

const formats = new AsyncLocalStorage<PageFormat>();

/** Returns the reader of the page that is being made, with the currency, zone and time of its texts. */
export function format(): PageFormat {
  const shown = formats.getStore();
  if (shown === undefined) throw new Error('no page is being made');
  return shown;
}

export const runWithFormat = <Result>(shown: PageFormat, run: () => Result): Result =>
  formats.run(shown, run);
