import type { Reading } from '../document/reading.ts';

/** Reads `required`: whether a container that names nothing is refused. Left out, it passes. */
export function readRequired(reading: Reading): boolean {
  const required = reading.at('required');
  return required.isThere && required.boolean() === true;
}
