import type { Mistake } from './mistake.ts';

/** Format of a text setting. */
export interface TextShape {
  readonly fits: (text: string) => boolean;
  /** Ends the sentence "expected …". */
  readonly expected: string;
}

/** Collects mistakes with the place of each setting. */
export interface SettingsReading {
  readonly note: (mistake: Mistake) => void;
  readonly placeOf: (setting: string) => string;
}

/** Reads the settings of one object, and notes what is wrong instead of throwing. What is wrong reads as its fallback. */
export class Section {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #reading: SettingsReading;
  readonly #known = new Set<string>();

  constructor(value: unknown, path: string, reading: SettingsReading) {
    this.#path = path;
    this.#reading = reading;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    this.#fields = isObject ? (value as Readonly<Record<string, unknown>>) : {};
    if (!isObject && value !== undefined) this.#note(path, value, 'expected an object of settings');
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined;
  }

  section(name: string): Section {
    return new Section(this.#take(name), this.#settingOf(name), this.#reading);
  }

  required(name: string, shape: TextShape): string {
    const value = this.#take(name);
    if (typeof value === 'string' && shape.fits(value)) return value;
    this.mistake(name, `expected ${shape.expected}`);
    return '';
  }

  optional(name: string, shape: TextShape): string | undefined {
    return this.#take(name) === undefined ? undefined : this.required(name, shape);
  }

  list(name: string, shape: TextShape): readonly string[] {
    const value = this.#take(name) ?? [];
    if (!Array.isArray(value)) {
      this.mistake(name, `expected a list, each ${shape.expected}`);
      return [];
    }
    return value.flatMap((each: unknown, index) => {
      if (typeof each === 'string' && shape.fits(each)) return [each];
      this.#note(`${this.#settingOf(name)}[${index}]`, each, `expected ${shape.expected}`);
      return [];
    });
  }

  integer(name: string, range: { readonly min: number; readonly max: number; readonly fallback: number }) {
    const value = this.#take(name) ?? range.fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value >= range.min && value <= range.max)
      return value;
    this.mistake(name, `expected a whole number from ${range.min} to ${range.max}`);
    return range.fallback;
  }

  choice<T extends string | number>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.#take(name) ?? fallback;
    const chosen = choices.find((each) => each === value);
    if (chosen === undefined) this.mistake(name, `expected one of ${choices.join(', ')}`);
    return chosen ?? fallback;
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.#take(name) ?? fallback;
    if (typeof value === 'boolean') return value;
    this.mistake(name, 'expected true or false');
    return fallback;
  }

  /** A rule that looks at more than one setting found `name` wrong. */
  mistake(name: string, remedy: string): void {
    this.#note(this.#settingOf(name), this.#fields[name], remedy);
  }

  /** Reports unknown settings. Call it after all reads. */
  refuseUnknown(): void {
    for (const name of Object.keys(this.#fields)) {
      if (this.#known.has(name) || !this.has(name)) continue;
      this.mistake(name, `there is no such setting; here are ${[...this.#known].join(', ')}`);
    }
  }

  #take(name: string): unknown {
    this.#known.add(name);
    return this.#fields[name];
  }

  #settingOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  #note(setting: string, value: unknown, remedy: string): void {
    this.#reading.note({ setting, value, place: this.#reading.placeOf(setting), remedy });
  }
}
