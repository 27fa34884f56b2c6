/** One setting that cannot be used. */
export interface Mistake {
  /** Its path: `relay.memoryMiB`. */
  readonly setting: string;
  /** As it was given; undefined: it was not. */
  readonly value: unknown;
  /** Its place: `tollgate.config.ts, stage "prod"`, `-c relayMemoryMiB`. */
  readonly place: string;
  /** The correction. */
  readonly remedy: string;
}

/** Lists every mistake of all deployments in one error. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const lines = mistakes.map((mistake, index) => `  ${index + 1}. ${mistakeText(mistake)}`);
    const count = mistakes.length === 1 ? '1 setting is' : `${mistakes.length} settings are`;
    super(`[settings_invalid] ${count} wrong:\n${lines.join('\n')}`);
    this.mistakes = mistakes;
  }
}

const SHOWN_CHARS_MAX = 80;

function mistakeText({ setting, value, place, remedy }: Mistake): string {
  if (value === undefined) return `${setting} is missing (${place}): ${remedy}`;
  const shown = JSON.stringify(value) ?? String(value);
  const cut = shown.length > SHOWN_CHARS_MAX ? `${shown.slice(0, SHOWN_CHARS_MAX)}…` : shown;
  return `${setting} is ${cut} (${place}): ${remedy}`;
}
