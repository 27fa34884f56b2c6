/** Current limits and groups, kept between requests. Keep one of each per process. */
import type { Directory } from '../../../policies/directory.ts';
import { readWholeDirectory } from '../../core/directory/directory-part.ts';
import type { DirectoryTable } from '../../core/directory/directory-table.ts';
import { type PreviousCounters, withOpenings } from '../../core/limits/limit-store.ts';
import type { OpeningEntry } from '../../core/limits/limit-table.ts';
import type { CurrentLimits, ReadingDeps } from './context.ts';
import { type Places, placesOf } from './scope.ts';

type LimitSources = Pick<ReadingDeps, 'limitTable' | 'packedLimits' | 'clock'> & {
  readonly limitEdits: Pick<ReadingDeps['limitEdits'], 'live'>;
};

interface KnownLimits extends CurrentLimits {
  /** Carried amounts are valid until then, Unix ms. */
  readonly untilMs: number;
}

const TIMEOUT_MS = 3_000;

/** Reads the pointer consistently on each call, so that authors see their edits. The function throws {LimitsError}. */
export function limitsNow(
  { limitEdits, limitTable: table, packedLimits, clock }: LimitSources,
  previous: PreviousCounters,
): () => Promise<CurrentLimits> {
  const openings = new Map<string, OpeningEntry>();
  let known: KnownLimits | undefined;
  let written: CurrentLimits | undefined;
  let reading: Promise<KnownLimits> | undefined;

  async function read(set: string | undefined): Promise<KnownLimits> {
    if (written === undefined || written.set !== set) {
      const live = await limitEdits.live();
      written = { set: live?.pointer.set, limits: live?.limits ?? packedLimits };
    }
    const deps = { table, previous, timeoutMs: TIMEOUT_MS };
    const { limits, untilMs } = await withOpenings(written.limits, clock.nowMs(), openings, deps);
    return { set: written.set, limits, untilMs };
  }

  return async () => {
    const pointer = await table.getPointer({ timeoutMs: TIMEOUT_MS });
    if (known === undefined || known.set !== pointer?.set || clock.nowMs() >= known.untilMs) {
      reading ??= read(pointer?.set).finally(() => {
        reading = undefined;
      });
      known = await reading;
    }
    return known;
  };
}

interface PlacesNowDeps {
  readonly table: DirectoryTable;
  /** In force until all groups were listed once. */
  readonly packed: Directory | undefined;
  readonly clock: { nowMs(): number };
}

/** Delay of new groups, in addition to the minutes of the sync. */
const PLACES_AGE_MS_MAX = 30_000;
const DIRECTORY_TIMEOUT_MS = 10_000;

/**
 * @returns undefined until groups were listed once. The function throws {DirectoryError} until a first read succeeds;
 * later it returns the last list it read.
 */
export function placesNow({ table, packed, clock }: PlacesNowDeps): () => Promise<Places | undefined> {
  const packedPlaces = packed && placesOf(packed);
  let known: { readonly manifest: string; readonly places: Places } | undefined;
  let staleAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const pointer = await table.getPointer({ timeoutMs: DIRECTORY_TIMEOUT_MS });
    if (pointer?.live !== true) return;
    if (pointer.manifest === known?.manifest) {
      known = { ...known, places: { ...known.places, atMs: pointer.atMs } };
      return;
    }
    const whole = await readWholeDirectory(table, { timeoutMs: DIRECTORY_TIMEOUT_MS });
    if (whole === undefined) return;
    const { manifest, atMs } = whole.pointer;
    known = { manifest, places: placesOf(whole.directory, atMs) };
  }

  async function refresh(): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (known === undefined) throw error;
    }
    staleAtMs = clock.nowMs() + PLACES_AGE_MS_MAX;
  }

  return async () => {
    if (clock.nowMs() >= staleAtMs) {
      reading ??= refresh().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    return known?.places ?? packedPlaces;
  };
}
