/** The whole directory, kept between requests: groups change every few minutes at most. Keep one per process. */
import type { Directory } from '../../../policies/place/directory.ts';
import { type DirectoryTable, readWholeDirectory } from '../../core/directory/index.ts';
import { type Places, placesOf } from './scope.ts';

interface PlacesNowDeps {
  readonly table: DirectoryTable;
  /** In force until all groups were listed once. */
  readonly packed: Directory | undefined;
  readonly clock: { nowMs(): number };
}

/** Delay of new groups, in addition to the sync's minutes. */
const AGE_MS_MAX = 30_000;
/** Reading 100 000 projects takes seconds. */
const TIMEOUT_MS = 10_000;

/**
 * @returns undefined until groups were listed once. The function throws {DirectoryError} until a first read
 * succeeds.
 */
export function placesNow({ table, packed, clock }: PlacesNowDeps): () => Promise<Places | undefined> {
  const packedPlaces = packed && placesOf(packed);
  let known: { readonly manifest: string; readonly places: Places } | undefined;
  let lookAgainAtMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const pointer = await table.getPointer({ timeoutMs: TIMEOUT_MS });
    if (pointer?.live === true) {
      if (pointer.manifest === known?.manifest)
        known = { ...known, places: { ...known.places, atMs: pointer.atMs } };
      else {
        const whole = await readWholeDirectory(table, { timeoutMs: TIMEOUT_MS });
        if (whole !== undefined)
          known = {
            manifest: whole.pointer.manifest,
            places: placesOf(whole.directory, whole.pointer.atMs),
          };
      }
    }
    lookAgainAtMs = clock.nowMs() + AGE_MS_MAX;
  }

  return async () => {
    if (clock.nowMs() >= lookAgainAtMs) {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      await looking.catch((error: unknown) => {
        // An old list of groups shows more than none.
        if (known === undefined) throw error;
        lookAgainAtMs = clock.nowMs() + AGE_MS_MAX;
      });
    }
    return known?.places ?? packedPlaces;
  };
}
