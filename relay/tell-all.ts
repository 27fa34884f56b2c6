import type { RelayObserver } from './events.ts';

/**
 * One observer that tells several. Whoever watches must not be able to stop an answer: what one of them throws is
 * given to `failed` and the others are told all the same.
 */
export function tellAll(
  observers: readonly RelayObserver[],
  failed: (error: unknown) => void,
): RelayObserver {
  return (event) => {
    for (const observe of observers) {
      try {
        observe(event);
      } catch (error) {
        failed(error);
      }
    }
  };
}
